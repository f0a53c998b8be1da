#include "tests/fuzz/fields.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  return fuzz_text({data, size}, [](std::string_view text) {
    yaml_to_json(text, "README.md");
    EveryField config;
    from_yaml(text, config, "recipe.yaml");
    check_round_trip(config);
  });
}
