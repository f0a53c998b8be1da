// Where a token stands: sinusoids or learned vectors that are added to it, or a rotation of its queries and keys.
// (ALiBi and relative buckets act on the scores: attention/bias.h.)
//
//   SinusoidalPositions add_positions({.width = 512});   Tensor y = add_positions(x);
//   RotaryPositions rotate({.width = 64});               Tensor q = rotate(q, cache.positions());
//
// Tokens stand at the positions given, one for each, or one after another from an offset on. The numbers depend on the
// position alone, whatever the company.
#pragma once

#include <span>
#include <vector>

#include "fovea/nn/weights.h"

namespace fovea {

std::vector<int64_t> positions_from(int64_t offset, int64_t tokens);

// cos θ and sin θ of θ = position · base^(−2i / width).
class Angles final {
 public:
  Angles(int64_t width, double base);
  explicit Angles(std::vector<double> frequencies);  // θ = position · frequency

  struct Turns {  // [positions, width / 2]
    std::vector<double> cosines, sines;
  };
  Turns operator()(std::span<const int64_t> positions) const;

 private:
  std::vector<double> frequencies_;
  Turns near_;  // of the positions below a block's length
};

// p[2i] = sin(t / 10000^(2i / width)), p[2i + 1] = cos of the same            (Vaswani et al. 2017)
class SinusoidalPositions final {
 public:
  struct Config {
    int64_t width = 0;
    bool halves = false;  // all sines, then all cosines, as Marian and fairseq have it
    double base = 10000;
  };
  explicit SinusoidalPositions(const Config&);

  // x [..., tokens, width] + p
  Tensor operator()(const Tensor& x, std::span<const int64_t> positions) const;
  Tensor operator()(const Tensor& x, int64_t offset = 0) const;
  Tensor table(std::span<const int64_t> positions) const;  // p itself, [tokens, width]

 private:
  Config config_;
  Angles angles_;
};

// x + W[position] with a W that is learned, for at most so many positions.
class LearnedPositions final {
 public:
  struct Config {
    int64_t positions = 0, width = 0;
  };
  explicit LearnedPositions(const Config&);

  Tensor operator()(const Tensor& x, std::span<const int64_t> positions) const;
  Tensor operator()(const Tensor& x, int64_t offset = 0) const;
  void weights(Weights& w) { w("weight", weight_, {Init::normal, 0.02}); }

 private:
  Weight weight_;
};

// Each pair (a, b) of elements turns by the angle θ = position · base^(−2i / width)          (Su et al. 2021)
//
//   a' = a cos θ − b sin θ,   b' = b cos θ + a sin θ
//
// Pair i is elements i and i + width / 2, as Llama and GPT-NeoX have it, or 2i and 2i + 1 (interleaved), as GPT-J has it.
// Elements from `width` on stay as they are. Models for longer texts than they were first trained with have frequencies of their
// own instead of the powers of a base, and a factor by which the turned elements become longer.
class RotaryPositions final {
 public:
  struct Config {
    int64_t width = 0;
    double base = 10000;
    bool interleaved = false;
    std::vector<double> frequencies = {};  // width / 2 of them; by the base if there are none
    double factor = 1;
  };
  explicit RotaryPositions(const Config&);

  // x [batch, tokens, heads, width or more]
  Tensor operator()(const Tensor& x, std::span<const int64_t> positions) const;
  Tensor operator()(const Tensor& x, int64_t offset = 0) const;

 private:
  Tensor turned(const Tensor& x, const Angles::Turns&, double direction) const;

  Config config_;
  Angles angles_;
};

}  // namespace fovea
