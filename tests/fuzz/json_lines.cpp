#include "fovea/data/datasets/files.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  return fuzz_file({data, size}, [](const std::string& path) {
    for (const ExampleKind kind : {ExampleKind::labelled, ExampleKind::label_sets, ExampleKind::tagged}) {
      Dataset data;
      read_json(path, kind, data);
    }
  });
}
