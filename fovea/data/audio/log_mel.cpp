#include "fovea/data/audio/log_mel.h"

#include <kissfft/kissfft.hh>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "fovea/base/error.h"
#include "fovea/base/threads.h"

namespace fovea {
namespace {

// Slaney's scale of pitch: even up to 1,000 Hz, 15 mels there, and logarithmic above, 27 for a factor of 6.4.
constexpr double edge_hertz = 1000, hertz_per_mel = 200.0 / 3, edge_mels = edge_hertz / hertz_per_mel;
const double log_step = std::log(6.4) / 27;

double mels(double hertz) {
  return hertz < edge_hertz ? hertz / hertz_per_mel : edge_mels + std::log(hertz / edge_hertz) / log_step;
}
double hertz(double mels) {
  return mels < edge_mels ? mels * hertz_per_mel : edge_hertz * std::exp((mels - edge_mels) * log_step);
}

// Place i of samples that go on mirrored at both ends, the ends themselves once.
int64_t mirrored_place(int64_t i, int64_t samples) {
  if (samples == 1) return 0;
  const int64_t period = 2 * (samples - 1);
  i = ((i % period) + period) % period;
  return i < samples ? i : period - i;
}

}  // namespace

LogMel::LogMel(const Config& c) : config_(c) {
  require(
      c.bands > 0 && c.bands <= 1024 && c.rate > 0 && c.window > 1 && c.window <= 65536 && c.window % 2 == 0 &&
          c.step > 0,
      "log-mel: found {} bands of windows of {} samples every {}, expected 1 to 1,024, an even number, and at least 1",
      c.bands, c.window, c.step);
  for (int64_t i = 0; i < c.window; ++i)
    hann_.push_back(0.5 -
                    0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(c.window)));
  const double highest = mels(static_cast<double>(c.rate) / 2);
  auto corner = [&](int64_t i) { return hertz(highest * static_cast<double>(i) / static_cast<double>(c.bands + 1)); };
  for (int64_t b = 0; b < c.bands; ++b) {
    const double left = corner(b), top = corner(b + 1), right = corner(b + 2);
    Band band;
    for (int64_t f = 0; f <= c.window / 2; ++f) {
      const double at = static_cast<double>(f * c.rate) / static_cast<double>(c.window);
      const double height = std::min((at - left) / (top - left), (right - at) / (right - top)) * 2 / (right - left);
      if (height <= 0) continue;
      if (band.weights.empty()) band.first = f;
      band.weights.push_back(height);
    }
    bands_.push_back(std::move(band));
  }
}

Tensor LogMel::operator()(std::span<const float> samples) const {
  const auto count = static_cast<int64_t>(samples.size()), all = frames(count), window = config_.window;
  Tensor result({config_.bands, all}, DType::f32);
  if (all == 0) return result;
  float* to = result.data<float>();
  parallel_ranges(all, 64, [&](int64_t begin, int64_t end) {
    kissfft<double> transform(static_cast<size_t>(window / 2), false);
    std::vector<double> piece(static_cast<size_t>(window)), power(static_cast<size_t>(window / 2 + 1));
    std::vector<std::complex<double>> spectrum(static_cast<size_t>(window / 2));
    for (int64_t frame = begin; frame < end; ++frame) {
      for (int64_t i = 0; i < window; ++i)
        piece[static_cast<size_t>(i)] =
            hann_[static_cast<size_t>(i)] *
            samples[static_cast<size_t>(mirrored_place(frame * config_.step - window / 2 + i, count))];
      transform.transform_real(piece.data(), spectrum.data());
      // The last frequency is the imaginary part of the first, which has none of its own.
      for (int64_t f = 1; f < window / 2; ++f)
        power[static_cast<size_t>(f)] = std::norm(spectrum[static_cast<size_t>(f)]);
      power.front() = spectrum[0].real() * spectrum[0].real(), power.back() = spectrum[0].imag() * spectrum[0].imag();
      for (size_t b = 0; b < bands_.size(); ++b) {
        double sum = 0;
        for (size_t i = 0; i < bands_[b].weights.size(); ++i)
          sum += bands_[b].weights[i] * power[static_cast<size_t>(bands_[b].first) + i];
        to[static_cast<int64_t>(b) * all + frame] = static_cast<float>(std::log10(std::max(sum, 1e-10)));
      }
    }
  });
  const float floor = *std::max_element(to, to + config_.bands * all) - 8;
  for (int64_t i = 0; i < config_.bands * all; ++i) to[i] = (std::max(to[i], floor) + 4) / 4;
  return result;
}

}  // namespace fovea
