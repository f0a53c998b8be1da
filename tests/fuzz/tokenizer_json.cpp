#include "fovea/data/text/pretrained/tokenizer_json.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  return fuzz_text({data, size}, [](std::string_view text) {
    const Pipeline tokenizer(read_tokenizer_json(text, "fuzz"));
    for (const char* input :
         {"", "a", "The  cook's ﬁnd １９\r\n", "<s>aaaa</s> bbbb [MASK]", "👩‍👩‍👧 ok\t漢 e\u0301"}) {
      const Tokens tokens = tokenizer.encode(input);
      tokenizer.decode(tokens.ids);
      tokenizer.frame(tokens);
    }
  });
}
