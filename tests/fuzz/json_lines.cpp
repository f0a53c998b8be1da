#include "fovea/data/datasets/dataset.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  return fuzz_file({data, size}, [](const std::string& path) {
    for (const JsonKeys& keys :
         {JsonKeys{.source = "text", .label = "label"}, JsonKeys{.tokens = "tokens", .tags = "tags"}}) {
      Dataset data;
      read_json_lines(path, data, keys);
    }
  });
}
