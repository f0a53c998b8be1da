#include "fovea/data/text/words.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  return fuzz_file({data, size}, [](const std::string& path) {
    const Words words{std::filesystem::path(path)};
    for (int64_t id = 0; id < words.size(); ++id) words.characters(words.piece(id));
    words.decode(words.encode("The cook saw a cat.").ids);
  });
}
