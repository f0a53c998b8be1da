#include "fovea/data/image/picture_input.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  return fuzz_text({data, size}, [](std::string_view text) {
    const Image image = parse_image(std::as_bytes(std::span(text)), "input");
    if (image.width * image.height < 100'000) PictureInput{.height = 8, .width = 8}(image);
  });
}
