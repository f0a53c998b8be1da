// Looking at attention while it runs: a Probe says what is wanted, a Trace collects it place by place.
//
//   Trace trace({.heads = {0, 3}, .weights = true});
//   model(x, {.trace = &trace});
//   trace["encoder.0.self"].weights;                   // [batch, 2, queries, keys], exact, from the fused kernel itself
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea {

struct Range {
  int64_t begin = 0, end = -1;  // −1: to the end
};

// An attention that was kept as it ran, so that any part of its weights can be computed later, with the same bits, by the same
// kernel; in memory proportional to queries + keys.
class KeptAttention {
 public:
  virtual ~KeptAttention() = default;
  virtual int64_t rows() const = 0, heads() const = 0, queries() const = 0, keys() const = 0;
  // [rows of the range, keys of the range], f32, of one row of the batch and one head.
  virtual Tensor weights(int64_t row, int64_t head, Range queries, Range keys) const = 0;

  // What the weights of one head are made of, where they are w = exp(scale · q·k − lse) and nothing else (behind the causal mask,
  // if there is one): q [queries, width], k [keys, width], lse [queries]. No tensors where a bias, a cap or the like comes in.
  struct Parts {
    Tensor q, k, lse;
    double scale = 1;
    bool causal = false;
  };
  virtual Parts parts(int64_t row, int64_t head) const = 0;

  // What each key brings at a weight of 1, f(v) = v Wᴼ with the head's part of the output's projection, or v where there is none:
  // [keys of the range, width].
  virtual Tensor brought(int64_t row, int64_t head, Range keys) const = 0;
  // The gradient of the weights of one query, [keys], once it has gone back through the attention; no tensor before that.
  virtual Tensor gradient(int64_t row, int64_t head, int64_t query) const = 0;
};

// What to return of the weights [batch, heads, queries, keys]; memory is proportional to what is asked for.
struct Probe {
  std::vector<int64_t> heads = {};  // empty: all
  std::vector<int64_t> rows = {};   // chosen queries in rising order; empty: those of row_range
  Range row_range = {};
  Range key_range = {};  // for weights and mass
  bool weights = false;  // the weights themselves
  bool mass = false;     // per key, summed over the chosen rows
  bool argmax = false;   // the key with the largest weight
  bool entropy = false;  // −Σ w ln w of each row
  int64_t top = 0;       // the so many largest weights of each row and their keys
  bool keep = false;     // the attention itself; where a cache holds the keys, the weights instead
};

// Tensors that were not asked for are empty. Indices are i64, −1 where a row sees no key.
struct ProbeResult {
  Tensor weights;                // [batch, heads, rows, keys]
  Tensor mass;                   // [batch, heads, keys]
  Tensor argmax, entropy;        // [batch, heads, rows]
  Tensor top_weights, top_keys;  // [batch, heads, rows, top], largest first
  std::shared_ptr<const KeptAttention> kept = {};
};

class Trace final {
 public:
  explicit Trace(Probe probe = {.weights = true}) : probe_(std::move(probe)) {}

  // Only these places (or places below them) are looked at; empty: all.
  std::vector<std::string> places = {};

  const Probe& probe() const { return probe_; }
  const Probe* probe_for(const std::string& place) const;
  void add(const std::string& place, ProbeResult result) { results_[place].push_back(std::move(result)); }

  // What was seen at a place, one result for each time it ran (each step of a generation).
  const std::map<std::string, std::vector<ProbeResult>>& results() const { return results_; }
  const ProbeResult& operator[](const std::string& place) const;  // the last one; an Error if the place never ran

 private:
  Probe probe_;
  std::map<std::string, std::vector<ProbeResult>> results_;
};

// The weights that a place had in all its runs, one behind the other (the steps of a recurrent decoder), [batch, heads, rows, keys].
Tensor joined_weights(const std::vector<ProbeResult>& runs);

}  // namespace fovea
