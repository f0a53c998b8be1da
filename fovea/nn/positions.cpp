#include "fovea/nn/positions.h"

#include <cmath>

#include "fovea/base/threads.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/gradient.h"
#include "fovea/tensor/map.h"

namespace fovea {
namespace {

void check_tokens(const char* where, const Tensor& x, int64_t width, int64_t offset) {
  require(x.rank() >= 2 && x.size(-1) == width, "{}: found x {}, expected [..., tokens, {}]", where, x.shape(), width);
  require(offset >= 0, "{}: found offset {}, expected 0 or more", where, offset);
}

}  // namespace

SinusoidalPositions::SinusoidalPositions(const Config& c) : config_(c) {
  require(c.width > 0 && c.width % 2 == 0 && c.base > 1,
          "SinusoidalPositions: found width {} and base {}, expected an even width and a base above 1", c.width,
          c.base);
}

Tensor SinusoidalPositions::table(int64_t tokens, int64_t offset) const {
  const int64_t width = config_.width, half = width / 2;
  Tensor p({tokens, width}, DType::f64);
  double* out = p.data<double>();
  for (int64_t i = 0; i < half; ++i) {
    const double frequency = std::pow(config_.base, -2.0 * static_cast<double>(i) / static_cast<double>(width));
    const int64_t sine = config_.halves ? i : 2 * i, cosine = config_.halves ? half + i : 2 * i + 1;
    for (int64_t t = 0; t < tokens; ++t) {
      const double angle = static_cast<double>(offset + t) * frequency;
      out[t * width + sine] = std::sin(angle);
      out[t * width + cosine] = std::cos(angle);
    }
  }
  return p;
}

Tensor SinusoidalPositions::operator()(const Tensor& x, int64_t offset) const {
  check_tokens("SinusoidalPositions", x, config_.width, offset);
  return x + table(x.size(-2), offset).to(x.dtype());
}

LearnedPositions::LearnedPositions(const Config& c) {
  require(c.positions > 0 && c.width > 0,
          "LearnedPositions: found {} positions of width {}, expected at least 1 of each", c.positions, c.width);
  weight_ = Weight({c.positions, c.width});
}

Tensor LearnedPositions::operator()(const Tensor& x, int64_t offset) const {
  check_tokens("LearnedPositions", x, weight_.size(1), offset);
  const int64_t end = offset + x.size(-2);
  require(end <= weight_.size(0), "LearnedPositions: found a token at position {}, expected at most {} tokens", end - 1,
          weight_.size(0));
  return x + weight_->slice(0, offset, end);
}

namespace {

constexpr int64_t block = 64;  // tokens

}  // namespace

RotaryPositions::RotaryPositions(const Config& c) : config_(c) {
  require(c.width > 0 && c.width % 2 == 0 && c.base > 1,
          "RotaryPositions: found width {} and base {}, expected an even width and a base above 1", c.width, c.base);
  for (int64_t i = 0; i < c.width / 2; ++i)
    frequencies_.push_back(std::pow(c.base, -2.0 * static_cast<double>(i) / static_cast<double>(c.width)));
  for (int64_t t = 0; t < block; ++t) {
    for (double frequency : frequencies_) {
      near_.cosines.push_back(std::cos(static_cast<double>(t) * frequency));
      near_.sines.push_back(std::sin(static_cast<double>(t) * frequency));
    }
  }
}

// A position is a block's first one plus a near one, so cos(α + β) = cos α cos β − sin α sin β saves nearly all calls of
// cos and sin. The numbers depend on the position alone, whatever the offset.
RotaryPositions::Turns RotaryPositions::turns(int64_t tokens, int64_t offset) const {
  const int64_t pairs = config_.width / 2;
  Turns result = {std::vector<double>(static_cast<size_t>(tokens * pairs)),
                  std::vector<double>(static_cast<size_t>(tokens * pairs))};
  std::vector<double> cosine(static_cast<size_t>(pairs)), sine(static_cast<size_t>(pairs));
  for (int64_t t = 0, current = -1; t < tokens; ++t) {
    const int64_t first = (offset + t) / block * block;
    if (first != current) {
      for (size_t i = 0; i < cosine.size(); ++i) {
        cosine[i] = std::cos(static_cast<double>(first) * frequencies_[i]);
        sine[i] = std::sin(static_cast<double>(first) * frequencies_[i]);
      }
      current = first;
    }
    const size_t near = static_cast<size_t>((offset + t - first) * pairs), at = static_cast<size_t>(t * pairs);
    for (size_t i = 0; i < cosine.size(); ++i) {
      result.cosines[at + i] = cosine[i] * near_.cosines[near + i] - sine[i] * near_.sines[near + i];
      result.sines[at + i] = sine[i] * near_.cosines[near + i] + cosine[i] * near_.sines[near + i];
    }
  }
  return result;
}

Tensor RotaryPositions::turned(const Tensor& given, const Turns& turns, double direction) const {
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
          cosines[i] = static_cast<T>(turns.cosines[at + i]);
          sines[i] = static_cast<T>(direction * turns.sines[at + i]);
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

Tensor RotaryPositions::operator()(const Tensor& x, int64_t offset) const {
  require(x.rank() == 4 && x.size(3) >= config_.width,
          "RotaryPositions: found x {}, expected [batch, tokens, heads, {} or more]", x.shape(), config_.width);
  require(offset >= 0, "RotaryPositions: found offset {}, expected 0 or more", offset);
  const Turns t = turns(x.size(1), offset);
  Tensor y = turned(x, t, 1);
  if (!x.needs_gradient()) return y;
  return with_gradient("rotary", y, {x},
                       [self = *this, t](const Tensor& dy) { return Gradients{self.turned(dy, t, -1)}; });
}

}  // namespace fovea
