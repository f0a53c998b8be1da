#include "fovea/kernels/attention_plan.h"

#include <cstdlib>

#include "fovea/base/error.h"
#include "fovea/base/random.h"

namespace fovea::kernels {
namespace {

constexpr int64_t most_shift = int64_t{1} << 40;  // positions and distances stay far from overflowing

}  // namespace

std::vector<SequenceSpan> sequences_of(const Attention& a) {
  if (!a.sequences.empty()) return {a.sequences.begin(), a.sequences.end()};
  std::vector<SequenceSpan> all;
  for (int64_t b = 0; b < a.shape.batch; ++b) all.push_back({b, 0, a.shape.queries, 0, a.shape.keys});
  return all;
}

void check(const Attention& a, const char* where) {
  const AttentionShape& s = a.shape;
  require(s.batch >= 0 && s.queries >= 0 && s.keys >= 0 && s.width >= 0 && s.value_width >= 0,
          "{}: found a negative size, expected sizes of 0 or more", where);
  require(s.key_heads > 0 && s.heads > 0 && s.heads % s.key_heads == 0,
          "{}: found {} heads and {} key heads, expected a multiple", where, s.heads, s.key_heads);
  require(a.softcap >= 0, "{}: found softcap {}, expected 0 (none) or more", where, a.softcap);
  require(a.dropout.probability >= 0 && a.dropout.probability < 1,
          "{}: found dropout probability {}, expected one in [0, 1)", where, a.dropout.probability);
  require(a.score != ScoreKind::additive || a.vector, "{}: additive scores need their vector", where);
  require(!a.pages.tables || (a.pages.tokens >= 16 && a.pages.tokens % 16 == 0 && 256 % a.pages.tokens == 0),
          "{}: found pages of {} tokens, expected 16, 32, 64, 128 or 256", where, a.pages.tokens);
  for (const SequenceSpan& q : a.sequences) {
    require(q.batch >= 0 && q.batch < s.batch && q.query_begin >= 0 && q.queries >= 0 &&
                q.query_begin + q.queries <= s.queries,
            "{}: found a sequence of queries [{}, {}) in batch row {}, expected it inside {} queries and {} rows",
            where, q.query_begin, q.query_begin + q.queries, q.batch, s.queries, s.batch);
    require(q.key_begin >= 0 && q.keys >= 0 && q.key_begin + q.keys <= s.keys,
            "{}: found a sequence of keys [{}, {}), expected it inside {} keys", where, q.key_begin,
            q.key_begin + q.keys, s.keys);
    require(std::abs(q.shift()) <= most_shift, "{}: found a sequence's offset of {}, expected at most {} either way",
            where, q.offset, most_shift);
    require(!a.pages.tables || q.key_begin == 0, "{}: found a sequence that begins at key {}, expected 0 with pages",
            where, q.key_begin);
  }
}

bool dropped(const WeightDropout& dropout, int64_t sequence, int64_t head, int64_t query, int64_t key) {
  auto word = [](auto n) { return static_cast<uint32_t>(n); };
  auto block =
      philox({word(key / 4), word(query), word(head), word(sequence)}, {word(dropout.key), word(dropout.key >> 32)});
  return unit_interval(block[key % 4]) < dropout.probability;
}

}  // namespace fovea::kernels
