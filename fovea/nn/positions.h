// Where a token stands: sinusoids or learned vectors that are added to it, or a rotation of its queries and keys.
// (ALiBi and relative buckets act on the scores: attention/bias.h.)
//
//   SinusoidalPositions add_positions({.width = 512});   Tensor y = add_positions(x, cache_length);
//   RotaryPositions rotate({.width = 64});               Tensor q = rotate(q, cache_length);
#pragma once

#include <vector>

#include "fovea/nn/weights.h"

namespace fovea {

// p[2i] = sin(t / 10000^(2i / width)), p[2i + 1] = cos of the same            (Vaswani et al. 2017)
class SinusoidalPositions final {
 public:
  struct Config {
    int64_t width = 0;
    bool halves = false;  // all sines, then all cosines, as Marian and fairseq have it
    double base = 10000;
  };
  explicit SinusoidalPositions(const Config&);

  // x [..., tokens, width] + p, the first token at position `offset`.
  Tensor operator()(const Tensor& x, int64_t offset = 0) const;
  Tensor table(int64_t tokens, int64_t offset = 0) const;  // p itself, [tokens, width]

 private:
  Config config_;
};

// x + W[position] with a W that is learned, for at most so many positions.
class LearnedPositions final {
 public:
  struct Config {
    int64_t positions = 0, width = 0;
  };
  explicit LearnedPositions(const Config&);

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
// Elements from `width` on stay as they are.
class RotaryPositions final {
 public:
  struct Config {
    int64_t width = 0;
    double base = 10000;
    bool interleaved = false;
  };
  explicit RotaryPositions(const Config&);

  // x [batch, tokens, heads, width or more], the first token at position `offset`.
  Tensor operator()(const Tensor& x, int64_t offset = 0) const;

 private:
  struct Turns {  // cos θ and sin θ, [tokens, pairs]
    std::vector<double> cosines, sines;
  };
  Turns turns(int64_t tokens, int64_t offset) const;
  Tensor turned(const Tensor& x, const Turns&, double direction) const;

  Config config_;
  std::vector<double> frequencies_;
  Turns near_;  // of the positions below a block's length
};

}  // namespace fovea
