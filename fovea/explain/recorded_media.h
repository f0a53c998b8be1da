// What a recording keeps of a picture that was seen or a sound that was heard, beside its attentions: enough to show it again.
//
//   seen.picture->parts_down;   seen.picture->rollout;   seen.sound->words[0].start;
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/data/image/image.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

struct RecordedPicture {
  Image picture = {};  // what the model saw, in few enough pixels to be sent
  int64_t parts_down = 0, parts_across = 0;
  int64_t extra = 0;  // tokens that stand before the parts
  // Through all layers in which the parts look at each other (attention rollout, Abnar and Zuidema 2020): Π (½ A + ½ I), A the mean
  // over a layer's heads; [tokens, tokens], none without such layers.
  Tensor rollout = {};

  int64_t parts() const { return parts_down * parts_across; }
};

struct RecordedSound {
  struct Word {
    std::string text = {};
    double start = 0, end = 0;  // seconds
    double probability = 0;
    std::vector<int64_t> rows = {};  // of "target": its tokens, without times between them
  };

  static constexpr int64_t most_frames = 1500, most_bands = 80;

  double seconds = 0;                     // of what is kept
  int64_t frames = 0, bands = 0;          // of equal length and of rising pitch
  std::vector<uint8_t> spectrogram = {};  // [bands, frames]: from the quietest to the loudest
  std::vector<uint8_t> loudness = {};     // [frames]: the largest sample of each, 255 for a sample of 1
  std::vector<Word> words = {};           // as they were said
  double state_seconds = 0.02;            // of each state that the words listened to
  Tensor heard = {};                      // [words, states], by the heads that go along with what is said
};

}  // namespace fovea
