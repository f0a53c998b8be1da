// Captions and boxes, as data sets and the outputs of captioners have them.
#include "fovea/train/metrics/captions.h"

#include "fovea/base/text.h"
#include "fovea/formats/matrix_text.h"
#include "fovea/train/metrics/coco.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  return fuzz_text({data, size}, [](std::string_view text) {
    check_utf8(text, "text");
    for (const std::string& line : split_text(std::string(text), '\n')) {
      const GivenCaption given = parse_given_caption(line, "text");
      const WantedCaption wanted = parse_wanted_caption(line, "text");
      score_captions({wanted}, {given});
      coco_scores({coco_words(given.caption)}, {{coco_words(line)}});
    }
  });
}
