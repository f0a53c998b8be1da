#include "fovea/formats/gguf.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  return fuzz_file({data, size}, [](const std::string& path) {
    const Gguf file(path);
    for (const auto& [name, tensor] : file.tensors()) tensor.values<double>();
    for (const auto& [name, blocks] : file.blocks()) blocks.numbers();
    for (const auto& [key, value] : file.metadata()) {
      if (value.type == GgufType::text)
        file.texts(key);
      else if (value.type != GgufType::flag)
        file.numbers(key);
    }
  });
}
