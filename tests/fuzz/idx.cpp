#include "fovea/data/datasets/pictures.h"
#include "tests/fuzz/fuzz.h"

// The first two bytes say how many of the rest are the pictures' file; what comes after it is the labels'.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  if (size < 2) return 0;
  const std::span<const uint8_t> input(data + 2, size - 2);
  const size_t pictures = std::min<size_t>(data[0] * 256u + data[1], input.size());
  return fuzz_file(input.first(pictures), [&](const std::string& first) {
    fuzz_file(input.subspan(pictures), [&](const std::string& second) {
      Dataset into;
      read_idx(first, second, into);
    });
  });
}
