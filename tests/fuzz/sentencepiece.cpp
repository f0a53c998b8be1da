#include "fovea/data/text/sentencepiece.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  return fuzz_file({data, size}, [](const std::string& path) {
    const SentencePiece tokenizer{std::filesystem::path(path)};
    for (const char* text : {"", "a", "The  cook ﬁnd １９", "aaaa bbbb", "👩‍👩‍👧 ok\\t漢"})
      tokenizer.decode(tokenizer.encode(text).ids);
  });
}
