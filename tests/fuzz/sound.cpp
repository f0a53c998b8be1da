#include "fovea/data/audio/sound.h"
#include "fovea/data/audio/log_mel.h"
#include "tests/fuzz/fuzz.h"

// What libsndfile and its codecs forget to free of a damaged file is theirs.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libsndfile\nleak:libvorbis\nleak:libmpg123\nleak:libFLAC\nleak:libopus\n";
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  return fuzz_text({data, size}, [](std::string_view text) {
    const Sound sound = parse_sound(std::as_bytes(std::span(text)), 16000, "input");
    LogMel({.bands = 8})({sound.samples.data(), std::min<size_t>(sound.samples.size(), 4000)});
  });
}
