// Plain, .gz and .zip.
#include "fovea/data/text/lines.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  return fuzz_file({data, size}, [](const std::string& path) {
    Lines lines(path);
    for (std::string line; lines.next(line);) lines.where();
  });
}
