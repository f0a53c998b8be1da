// Attention itself, over numbers that are the caller's own: scores, weights and context of queries over keys and values.
//
//   fovea::Attention attend({.form = "dot"});
//   auto r = attend({queries, 1}, {keys, 3}, {values, 3});   // r.scores, r.weights, r.context; r.weight(head, query, key)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fovea {

class Attention final {
 public:
  struct Options {
    std::string form = "scaled-dot";   // or dot, general, additive, concat
    int64_t heads = 1;                 // the rows' widths are cut into so many
    std::optional<double> scale = {};  // of the scores; the form's own if not given
    bool causal = false;               // a query sees no key after its own position
    int64_t window = 0;                // a query sees keys at a distance below this; 0: all
    double softcap = 0;                // scores become softcap · tanh(scores / softcap); 0: not
    bool hard = false;                 // the value of the key with the largest weight instead of the weighted mean
    // What the form has learned, the same for each head. additive: W [hidden, width], U [hidden, key width], v [hidden];
    // general: W [width, key width]; concat: W [hidden, width + key width], v [hidden].
    std::vector<float> query_weight = {}, key_weight = {}, vector = {};
  };

  // So many rows of one width, row by row. The numbers are looked at, not kept.
  struct Rows {
    std::span<const float> numbers;
    int64_t count = 0;
  };

  struct Answer {
    int64_t heads = 0, queries = 0, keys = 0, width = 0;
    std::vector<float> scores, weights;  // [heads, queries, keys]; scores are those before mask and softcap
    std::vector<float> context;          // [queries, width]

    float score(int64_t head, int64_t query, int64_t key) const { return scores[at(head, query, key)]; }
    float weight(int64_t head, int64_t query, int64_t key) const { return weights[at(head, query, key)]; }

   private:
    size_t at(int64_t head, int64_t query, int64_t key) const {
      return static_cast<size_t>((head * queries + query) * keys + key);
    }
  };

  Attention();
  explicit Attention(const Options&);

  Answer operator()(const Rows& queries, const Rows& keys, const Rows& values) const;

 private:
  Options options_;
};

}  // namespace fovea
