// Files of sentences with what their answers must have in them; each demand is tried on the file itself.
#include "fovea/train/metrics/demands.h"

#include "fovea/base/text.h"
#include "fovea/formats/matrix_text.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  return fuzz_text({data, size}, [](std::string_view text) {
    check_utf8(text, "text");
    const auto sentences = parse_demands(split_text(std::string(text), '\n'), "text");
    score_demands(sentences, std::vector<std::string>(sentences.size(), std::string(text)));
  });
}
