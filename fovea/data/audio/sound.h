// Recordings: WAV, FLAC, Ogg and MP3 of any rate and number of channels, as one channel of the rate that a model hears.
//
//   const Sound speech = read_sound("speech.flac", 16000);
//   speech.seconds();
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace fovea {

struct Sound {
  int64_t rate = 16000;
  std::vector<float> samples = {};  // −1 to 1

  double seconds() const { return static_cast<double>(samples.size()) / static_cast<double>(rate); }
};

// The longest recording that is read; a longer one is an Error, so that memory is bounded by 4 · rate bytes a second of it.
inline constexpr int64_t most_seconds = 6 * 3600;

// Channels are averaged, other rates resampled. An Error if the file is no sound, is damaged, or holds samples that are no numbers.
Sound read_sound(const std::filesystem::path& path, int64_t rate = 16000);
Sound parse_sound(std::span<const std::byte> bytes, int64_t rate, std::string_view where);
bool is_sound(std::span<const std::byte> bytes);  // by its first bytes

}  // namespace fovea
