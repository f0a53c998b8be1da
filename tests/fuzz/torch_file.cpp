#include "fovea/formats/torch_file.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  return fuzz_file({data, size}, [](const std::string& path) {
    const TorchFile file(path);
    for (const auto& [name, entry] : file.tensors()) file.numbers(name).values<double>();
  });
}
