#include "fovea/formats/whisper_file.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  return fuzz_file({data, size}, [](const std::string& path) {
    const auto file = open_whisper_file(path);
    file->words();
    for (const std::string& name : file->names()) file->numbers(name).values<double>();
  });
}
