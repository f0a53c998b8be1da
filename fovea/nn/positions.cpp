#include "fovea/nn/positions.h"

#include <cmath>
#include <numeric>

#include "fovea/base/threads.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/gradient.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/map.h"

namespace fovea {
namespace {

constexpr int64_t block = 64;  // tokens

std::vector<double> powers_of(double base, int64_t width) {
  std::vector<double> frequencies;
  for (int64_t i = 0; i < width / 2; ++i)
    frequencies.push_back(std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(width)));
  return frequencies;
}

Angles angles(const char* where, int64_t width, double base) {
  require(width > 0 && width % 2 == 0 && width <= 1 << 16 && base > 1,
          "{}: found width {} and base {}, expected an even width of at most 65536 and a base above 1", where, width,
          base);
  return Angles(width, base);
}

void check_tokens(const char* where, const Tensor& x, int64_t width, std::span<const int64_t> positions) {
  require(x.rank() >= 2 && x.size(-1) == width && x.size(-2) == static_cast<int64_t>(positions.size()),
          "{}: found x {} at {} positions, expected [..., tokens, {}] and as many", where, x.shape(), positions.size(),
          width);
}

}  // namespace

std::vector<int64_t> positions_from(int64_t offset, int64_t tokens) {
  require(offset >= 0, "positions: found offset {}, expected 0 or more", offset);
  std::vector<int64_t> positions(static_cast<size_t>(tokens));
  std::iota(positions.begin(), positions.end(), offset);
  return positions;
}

Angles::Angles(int64_t width, double base) : Angles(powers_of(base, width)) {}

Angles::Angles(std::vector<double> frequencies) : frequencies_(std::move(frequencies)) {
  for (int64_t t = 0; t < block; ++t) {
    for (double frequency : frequencies_) {
      near_.cosines.push_back(std::cos(static_cast<double>(t) * frequency));
      near_.sines.push_back(std::sin(static_cast<double>(t) * frequency));
    }
  }
}

// A position is a block's first one plus a near one, so cos(α + β) = cos α cos β − sin α sin β saves nearly all calls of
// cos and sin.
Angles::Turns Angles::operator()(std::span<const int64_t> positions) const {
  const size_t pairs = frequencies_.size();
  Turns result = {std::vector<double>(positions.size() * pairs), std::vector<double>(positions.size() * pairs)};
  std::vector<double> cosine(pairs), sine(pairs);
  int64_t current = -1;
  for (size_t t = 0; t < positions.size(); ++t) {
    require(positions[t] >= 0, "positions: found {}, expected 0 or more", positions[t]);
    const int64_t first = positions[t] / block * block;
    for (size_t i = 0; i < pairs && first != current; ++i) {
      cosine[i] = std::cos(static_cast<double>(first) * frequencies_[i]);
      sine[i] = std::sin(static_cast<double>(first) * frequencies_[i]);
    }
    current = first;
    const size_t near = static_cast<size_t>(positions[t] - first) * pairs, at = t * pairs;
    for (size_t i = 0; i < pairs; ++i) {
      result.cosines[at + i] = cosine[i] * near_.cosines[near + i] - sine[i] * near_.sines[near + i];
      result.sines[at + i] = sine[i] * near_.cosines[near + i] + cosine[i] * near_.sines[near + i];
    }
  }
  return result;
}

SinusoidalPositions::SinusoidalPositions(const Config& c)
    : config_(c), angles_(angles("SinusoidalPositions", c.width, c.base)) {}

Tensor SinusoidalPositions::table(std::span<const int64_t> positions) const {
  const int64_t tokens = static_cast<int64_t>(positions.size()), width = config_.width, half = width / 2;
  const Angles::Turns turns = angles_(positions);
  Tensor p({tokens, width}, DType::f64);
  double* out = p.data<double>();
  for (int64_t t = 0; t < tokens; ++t) {
    for (int64_t i = 0; i < half; ++i) {
      out[t * width + (config_.halves ? i : 2 * i)] = turns.sines[static_cast<size_t>(t * half + i)];
      out[t * width + (config_.halves ? half + i : 2 * i + 1)] = turns.cosines[static_cast<size_t>(t * half + i)];
    }
  }
  return p;
}

Tensor SinusoidalPositions::operator()(const Tensor& x, std::span<const int64_t> positions) const {
  check_tokens("SinusoidalPositions", x, config_.width, positions);
  return x + table(positions).to(x.dtype());
}

Tensor SinusoidalPositions::operator()(const Tensor& x, int64_t offset) const {
  return (*this)(x, positions_from(offset, x.size(-2)));
}

LearnedPositions::LearnedPositions(const Config& c) {
  require(c.positions > 0 && c.width > 0,
          "LearnedPositions: found {} positions of width {}, expected at least 1 of each", c.positions, c.width);
  weight_ = Weight({c.positions, c.width});
}

Tensor LearnedPositions::operator()(const Tensor& x, std::span<const int64_t> positions) const {
  check_tokens("LearnedPositions", x, weight_.size(1), positions);
  for (int64_t position : positions)
    require(0 <= position && position < weight_.size(0),
            "LearnedPositions: found a token at position {}, expected at most {} tokens", position, weight_.size(0));
  return x + rows(*weight_, tensor({x.size(-2)}, std::vector<int64_t>(positions.begin(), positions.end())));
}

Tensor LearnedPositions::operator()(const Tensor& x, int64_t offset) const {
  return (*this)(x, positions_from(offset, x.size(-2)));
}

RotaryPositions::RotaryPositions(const Config& c)
    : config_(c), angles_(c.frequencies.empty() ? angles("RotaryPositions", c.width, c.base) : Angles(c.frequencies)) {
  require(c.frequencies.empty() || 2 * static_cast<int64_t>(c.frequencies.size()) == c.width,
          "RotaryPositions: found {} frequencies for a width of {}, expected half as many", c.frequencies.size(),
          c.width);
}

Tensor RotaryPositions::turned(const Tensor& given, const Angles::Turns& turns, double direction) const {
  const Tensor x = given.detach().contiguous();
  Tensor y(x.shape(), x.dtype());
  if (x.elements() == 0) return y;
  const int64_t tokens = x.size(1), heads = x.size(2), width = x.size(3), pairs = config_.width / 2;
  const int64_t other = config_.interleaved ? 1 : pairs, step = config_.interleaved ? 2 : 1;
  with_number("RotaryPositions", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    parallel_ranges(x.size(0) * tokens, 1 + 16384 / (heads * width), [&](int64_t begin, int64_t end) {
      std::vector<T> cosines(static_cast<size_t>(pairs)), sines(static_cast<size_t>(pairs));
      for (int64_t row = begin; row < end; ++row) {
        const size_t at = static_cast<size_t>(row % tokens * pairs);
        for (size_t i = 0; i < cosines.size(); ++i) {
          cosines[i] = static_cast<T>(config_.factor * turns.cosines[at + i]);
          sines[i] = static_cast<T>(config_.factor * direction * turns.sines[at + i]);
        }
        for (int64_t head = 0; head < heads; ++head) {
          const T* in = x.data<T>() + (row * heads + head) * width;
          T* out = y.data<T>() + (row * heads + head) * width;
          for (int64_t i = 0; i < pairs; ++i) {
            const T a = in[i * step], b = in[i * step + other], c = cosines[static_cast<size_t>(i)],
                    s = sines[static_cast<size_t>(i)];
            out[i * step] = a * c - b * s;
            out[i * step + other] = b * c + a * s;
          }
          std::copy(in + 2 * pairs, in + width, out + 2 * pairs);
        }
      }
    });
  });
  return y;
}

Tensor RotaryPositions::operator()(const Tensor& x, std::span<const int64_t> positions) const {
  require(x.rank() == 4 && x.size(3) >= config_.width && x.size(1) == static_cast<int64_t>(positions.size()),
          "RotaryPositions: found x {} at {} positions, expected [batch, tokens, heads, {} or more] and as many",
          x.shape(), positions.size(), config_.width);
  const Angles::Turns t = angles_(positions);
  Tensor y = turned(x, t, 1);
  if (!x.needs_gradient()) return y;
  return with_gradient("rotary", y, {x},
                       [self = *this, t](const Tensor& dy) { return Gradients{self.turned(dy, t, -1)}; });
}

Tensor RotaryPositions::operator()(const Tensor& x, int64_t offset) const {
  require(x.rank() == 4, "RotaryPositions: found x {}, expected [batch, tokens, heads, width]", x.shape());
  return (*this)(x, positions_from(offset, x.size(1)));
}

}  // namespace fovea
