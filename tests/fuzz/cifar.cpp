#include "fovea/data/datasets/pictures.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  return fuzz_file({data, size}, [](const std::string& path) {
    Dataset into;
    read_cifar(path, {"plane", "car"}, into);
  });
}
