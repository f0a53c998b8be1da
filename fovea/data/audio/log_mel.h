// What Whisper hears (Radford et al. 2022): how loud each of 80 or 128 bands of pitch is, a hundred times a second.
//
//   LogMel log_mel({.bands = 80});
//   Tensor heard = log_mel(window);                    // [bands, frames]: 480,000 samples → 3,000 frames
#pragma once

#include <span>
#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea {

class LogMel final {
 public:
  struct Config {
    int64_t bands = 80, rate = 16000;
    int64_t window = 400, step = 160;  // samples of a Fourier transform, and from one to the next
  };
  explicit LogMel(const Config&);

  // log₁₀ of the power in each band, at most eight decades below the loudest, (x + 4) / 4. The samples are mirrored at both ends.
  Tensor operator()(std::span<const float> samples) const;

  int64_t frames(int64_t samples) const { return samples / config_.step; }
  const Config& config() const { return config_; }

 private:
  // A triangle over the frequencies from `first` on, on Slaney's scale, of area 1.
  struct Band {
    int64_t first = 0;
    std::vector<double> weights;
  };
  Config config_;
  std::vector<double> hann_;
  std::vector<Band> bands_;
};

}  // namespace fovea
