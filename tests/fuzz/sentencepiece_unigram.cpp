#include "fovea/data/text/pretrained/sentencepiece_unigram.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  return fuzz_text({data, size}, [](std::string_view bytes) {
    const auto model = SentencePieceUnigram::make(bytes, "fuzz");
    if (!model) return;
    for (const char* text : {"", "a", "The  cook ﬁnd １９", "aaaa bbbb", "👩‍👩‍👧 ok\t漢"})
      model->each_piece(text, [](int64_t, Span, std::string_view) {});
  });
}
