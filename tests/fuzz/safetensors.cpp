#include "fovea/formats/safetensors.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  return fuzz_file({data, size}, [](const std::string& path) {
    const SafeTensors file(path);
    for (const auto& [name, tensor] : file.tensors()) tensor.values<double>();
  });
}
