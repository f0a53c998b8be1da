#include "fovea/formats/npy.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  return fuzz_file({data, size}, [](const std::string& path) {
    for (const auto& [name, tensor] : read_npz(path)) tensor.values<double>();
  });
}
