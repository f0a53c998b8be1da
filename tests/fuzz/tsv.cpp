#include "fovea/data/datasets/files.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  return fuzz_file({data, size}, [](const std::string& path) {
    for (const ExampleKind kind : {ExampleKind::labelled, ExampleKind::pairs, ExampleKind::label_sets}) {
      for (const char delimiter : {'\0', ',', ';'}) {
        Dataset data;
        Columns columns;
        columns.delimiter = delimiter;
        read_table(path, kind, data, columns);
      }
    }
  });
}
