// The first byte says which: BERT's vocab.txt, a tiktoken table, or GPT-2's vocab.json and merges.txt with a NUL between them.
#include "fovea/data/text/pretrained/vocabulary_files.h"

#include "tests/fuzz/fuzz.h"

namespace fovea {
namespace {

void use(const Tokenizer& tokenizer) {
  for (const char* text :
       {"", "a", "The  cook's ﬁnd １９\r\n", "<|endoftext|>aa [MASK]", "👩‍👩‍👧 ok\t漢 e\u0301"}) {
    const Tokens tokens = tokenizer.encode(text);
    tokenizer.decode(tokens.ids);
    tokenizer.frame(tokens);
  }
}

std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

void use_pair(std::string_view both) {
  const size_t cut = std::min(both.find('\0'), both.size());
  fuzz_file(bytes_of(both.substr(0, cut)), [&](const std::string& vocab) {
    fuzz_file(bytes_of(both.substr(std::min(cut + 1, both.size()))),
              [&](const std::string& merges) { use(*load_vocab_and_merges(vocab, merges)); });
  });
}

}  // namespace
}  // namespace fovea

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 'b':
      return fuzz_file(bytes_of(rest), [](const std::string& path) { use(*load_vocab_txt(path)); });
    case 't':
      return fuzz_file(bytes_of(rest), [](const std::string& path) { use(*load_tiktoken(path)); });
    default:
      use_pair(rest);
      return 0;
  }
}
