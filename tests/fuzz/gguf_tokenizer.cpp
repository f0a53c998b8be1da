#include "fovea/data/text/gguf_tokenizer.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  return fuzz_file({data, size}, [](const std::string& path) {
    const std::unique_ptr<Tokenizer> tokenizer = gguf_tokenizer(Gguf(path));
    for (const char* text :
         {"", "a", "The  cook's ﬁnd １９\r\n", "<s>aaaa</s> bbbb [MASK]", "👩‍👩‍👧 ok\t漢 e\u0301"}) {
      const Tokens tokens = tokenizer->encode(text);
      tokenizer->decode(tokens.ids);
      tokenizer->frame(tokens);
    }
  });
}
