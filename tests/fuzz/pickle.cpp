#include "fovea/formats/pickle.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  return fuzz_text({data, size}, [](std::string_view bytes) { Pickle(bytes, "fuzz"); });
}
