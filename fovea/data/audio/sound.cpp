#include "fovea/data/audio/sound.h"

#include <samplerate.h>
#include <sndfile.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "fovea/base/error.h"
#include "fovea/base/file.h"

namespace fovea {
namespace {

// A file in memory, as libsndfile reads it.
struct Memory {
  std::span<const std::byte> bytes;
  sf_count_t place = 0;

  sf_count_t size() const { return static_cast<sf_count_t>(bytes.size()); }
};

sf_count_t seek(sf_count_t offset, int whence, void* data) {
  auto* m = static_cast<Memory*>(data);
  const sf_count_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? m->place : m->size();
  if (offset < -from || offset > m->size() - from) return -1;
  return m->place = from + offset;
}

sf_count_t read(void* to, sf_count_t count, void* data) {
  auto* m = static_cast<Memory*>(data);
  count = std::clamp<sf_count_t>(m->size() - m->place, 0, count);
  std::memcpy(to, m->bytes.data() + m->place, static_cast<size_t>(count));
  m->place += count;
  return count;
}

class SoundFile final {
 public:
  SoundFile(std::span<const std::byte> bytes, std::string_view where) : memory_{bytes} {
    SF_VIRTUAL_IO calls = {[](void* m) { return static_cast<Memory*>(m)->size(); }, seek, read,
                           [](const void*, sf_count_t, void*) -> sf_count_t { return 0; },
                           [](void* m) { return static_cast<Memory*>(m)->place; }};
    file_ = sf_open_virtual(&calls, SFM_READ, &info_, &memory_);
    if (!file_)
      throw Error(Error::corrupt, "{}: found no sound that can be read ({}), expected WAV, FLAC, Ogg or MP3", where,
                  sf_strerror(nullptr));
  }
  ~SoundFile() { sf_close(file_); }
  SoundFile(const SoundFile&) = delete;
  SoundFile& operator=(const SoundFile&) = delete;

  int64_t rate() const { return info_.samplerate; }
  int64_t channels() const { return info_.channels; }
  // The next frames, channel after channel; fewer at the end.
  int64_t read_frames(std::vector<float>& frames) {
    return sf_readf_float(file_, frames.data(), static_cast<sf_count_t>(frames.size()) / info_.channels);
  }
  bool failed() const { return sf_error(file_) != SF_ERR_NO_ERROR; }
  const char* failure() const { return sf_strerror(file_); }

 private:
  Memory memory_;
  SF_INFO info_ = {};
  SNDFILE* file_ = nullptr;
};

// From one rate to another, piece by piece.
class Resampler final {
 public:
  Resampler(int64_t from, int64_t to) : ratio_(static_cast<double>(to) / static_cast<double>(from)) {
    int error = 0;
    state_ = src_new(SRC_SINC_MEDIUM_QUALITY, 1, &error);
    if (!state_) throw std::bad_alloc();
  }
  ~Resampler() { src_delete(state_); }
  Resampler(const Resampler&) = delete;
  Resampler& operator=(const Resampler&) = delete;

  void add(std::span<const float> samples, bool last, std::vector<float>& to) {
    std::vector<float> room(static_cast<size_t>(static_cast<double>(samples.size()) * ratio_) + 4096);
    SRC_DATA data = {};
    data.src_ratio = ratio_;
    data.end_of_input = last;
    for (;;) {
      data.data_in = samples.data(), data.input_frames = static_cast<long>(samples.size());
      data.data_out = room.data(), data.output_frames = static_cast<long>(room.size());
      require(src_process(state_, &data) == 0, "sound: found samples that cannot be resampled by {}", ratio_);
      to.insert(to.end(), room.begin(), room.begin() + data.output_frames_gen);
      samples = samples.subspan(static_cast<size_t>(data.input_frames_used));
      if (samples.empty() && data.output_frames_gen == 0) return;
      if (data.input_frames_used == 0 && data.output_frames_gen == 0) return;
    }
  }

 private:
  SRC_STATE* state_;
  double ratio_;
};

}  // namespace

bool is_sound(std::span<const std::byte> bytes) {
  auto begins = [&](std::string_view name) {
    return bytes.size() > 12 && std::memcmp(bytes.data(), name.data(), name.size()) == 0;
  };
  const bool mpeg_frame = bytes.size() > 12 && bytes[0] == std::byte{0xFF} &&
                          (bytes[1] & std::byte{0xE0}) == std::byte{0xE0} &&
                          (bytes[1] & std::byte{0x06}) != std::byte{0};
  return begins("RIFF") || begins("RF64") || begins("fLaC") || begins("OggS") || begins("ID3") || begins("FORM") ||
         mpeg_frame;
}

Sound parse_sound(std::span<const std::byte> bytes, int64_t rate, std::string_view where) {
  SoundFile file(bytes, where);
  if (file.rate() < 1000 || file.rate() > 768000 || file.channels() < 1 || file.channels() > 64)
    throw Error(Error::unsupported,
                "{}: found {} samples a second in {} channels, expected 1,000 to 768,000 in 1 to 64", where,
                file.rate(), file.channels());
  Sound sound = {rate, {}};
  Resampler resampler(file.rate(), rate);
  std::vector<float> frames(static_cast<size_t>(65536 / file.channels() * file.channels())), mono;
  for (int64_t count = 1; count > 0;) {
    count = file.read_frames(frames);
    mono.clear();
    for (int64_t i = 0; i < count; ++i) {
      float sum = 0;
      for (int64_t c = 0; c < file.channels(); ++c) sum += frames[static_cast<size_t>(i * file.channels() + c)];
      if (!std::isfinite(sum))
        throw Error(Error::corrupt, "{}: found a sample that is no number, expected -1 to 1", where);
      mono.push_back(sum / static_cast<float>(file.channels()));
    }
    if (file.rate() == rate)
      sound.samples.insert(sound.samples.end(), mono.begin(), mono.end());
    else
      resampler.add(mono, count <= 0, sound.samples);
    if (static_cast<int64_t>(sound.samples.size()) > most_seconds * rate)
      throw Error(Error::unsupported, "{}: found more than {} hours of sound, expected less; cut it into parts", where,
                  most_seconds / 3600);
  }
  if (file.failed())
    throw Error(Error::corrupt, "{}: found sound that cannot be read beyond {:.1f} s ({})", where, sound.seconds(),
                file.failure());
  if (sound.samples.empty()) throw Error(Error::corrupt, "{}: found no samples, expected a sound", where);
  return sound;
}

Sound read_sound(const std::filesystem::path& path, int64_t rate) {
  const MappedFile file(path);
  return parse_sound(file.bytes(), rate, path.string());
}

}  // namespace fovea
