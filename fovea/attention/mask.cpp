#include "fovea/attention/mask.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "fovea/attention/sequences.h"

namespace fovea {
namespace {

std::vector<int64_t> lengths(const Tensor& given, int64_t batch, int64_t whole, const char* what) {
  if (!given) return std::vector<int64_t>(static_cast<size_t>(batch), whole);
  std::vector<int64_t> values = given.values<int64_t>();
  require(given.dtype() == DType::i64 && given.shape() == Shape{batch}, "mask: found {} {} {}, expected I64 [{}]", what,
          name(given.dtype()), given.shape().text(), batch);
  for (int64_t n : values)
    require(0 <= n && n <= whole, "mask: found a length of {} in {}, expected 0 to {}", n, what, whole);
  return values;
}

std::vector<int64_t> starts(const Tensor& given, int64_t tokens, const char* what) {
  require(given.dtype() == DType::i64 && given.rank() == 1 && given.size(0) >= 2,
          "mask: found {} {} {}, expected I64 [sequences + 1] of one or more sequences", what, name(given.dtype()),
          given.shape().text());
  std::vector<int64_t> values = given.values<int64_t>();
  for (size_t i = 0; i < values.size(); ++i) {
    require((i == 0 ? 0 : values[i - 1]) <= values[i] && values[i] <= tokens,
            "mask: {} has {} at place {}, expected rising numbers from 0 to {}", what, values[i], i, tokens);
  }
  return values;
}

// f(sequence, its number, i, j) for every pair that lies in one sequence, i and j counted within it.
template <class F>
void for_each_pair(const Mask& mask, int64_t batch, int64_t queries, int64_t keys, F&& f) {
  int64_t number = 0;
  for (const kernels::SequenceSpan& s : all_sequences_of(mask, batch, queries, keys)) {
    for (int64_t i = 0; i < s.queries; ++i) {
      for (int64_t j = 0; j < s.keys; ++j) f(s, number, i, j);
    }
    ++number;
  }
}

int64_t distance(const kernels::SequenceSpan& s, int64_t i, int64_t j) { return j - (i + s.shift()); }

// Gives the sequences their offsets.
void place(std::vector<kernels::SequenceSpan>& sequences, const Tensor& offsets, int64_t queries, int64_t keys) {
  if (!offsets) return;
  const int64_t count = static_cast<int64_t>(sequences.size());
  require(offsets.dtype() == DType::i64 && offsets.shape() == Shape{count},
          "mask: found query_offsets {} {}, expected I64 [{}]", name(offsets.dtype()), offsets.shape().text(), count);
  const std::vector<int64_t> values = offsets.values<int64_t>();
  for (size_t s = 0; s < values.size(); ++s) {
    require(-queries <= values[s] && values[s] <= keys, "mask: found {} in query_offsets, expected {} to {}", values[s],
            -queries, keys);
    sequences[s].offset = values[s];
  }
}

std::vector<kernels::SequenceSpan> packed_sequences(const Mask& mask, int64_t batch, int64_t queries, int64_t keys) {
  require(batch == 1, "mask: found a batch of {} with packed sequences, expected 1", batch);
  require(!mask.key_lengths && !mask.query_lengths,
          "mask: found lengths beside packed sequences, expected one of them");
  const std::vector<int64_t> q = starts(mask.query_starts, queries, "query_starts");
  const std::vector<int64_t> k = starts(mask.key_starts ? mask.key_starts : mask.query_starts, keys, "key_starts");
  require(q.size() == k.size(), "mask: found {} query_starts and {} key_starts, expected as many", q.size(), k.size());
  std::vector<kernels::SequenceSpan> result;
  for (size_t s = 0; s + 1 < q.size(); ++s) result.push_back({0, q[s], q[s + 1] - q[s], k[s], k[s + 1] - k[s]});
  return result;
}

}  // namespace

std::vector<kernels::SequenceSpan> all_sequences_of(const Mask& mask, int64_t batch, int64_t queries, int64_t keys) {
  std::vector<kernels::SequenceSpan> result;
  if (mask.query_starts) {
    result = packed_sequences(mask, batch, queries, keys);
  } else {
    const std::vector<int64_t> q = lengths(mask.query_lengths, batch, queries, "query_lengths");
    const std::vector<int64_t> k = lengths(mask.key_lengths, batch, keys, "key_lengths");
    for (int64_t b = 0; b < batch; ++b)
      result.push_back({b, 0, q[static_cast<size_t>(b)], 0, k[static_cast<size_t>(b)], keys - queries});
  }
  place(result, mask.query_offsets, queries, keys);
  return result;
}

std::vector<kernels::SequenceSpan> sequences_of(const Mask& mask, int64_t batch, int64_t queries, int64_t keys) {
  const bool whole = !mask.query_starts && !mask.query_offsets && !mask.key_lengths && !mask.query_lengths;
  return whole ? std::vector<kernels::SequenceSpan>() : all_sequences_of(mask, batch, queries, keys);
}

std::vector<int64_t> positions_of(const Mask& mask, int64_t tokens) {
  std::vector<int64_t> positions(static_cast<size_t>(tokens));
  std::iota(positions.begin(), positions.end(), int64_t{0});
  if (!mask.query_starts) return positions;
  const std::vector<int64_t> begins = starts(mask.query_starts, tokens, "query_starts");
  for (size_t s = 0; s + 1 < begins.size(); ++s)
    for (int64_t t = begins[s]; t < begins[s + 1]; ++t) positions[static_cast<size_t>(t)] = t - begins[s];
  return positions;
}

Distances distances_of(const Mask& mask, int64_t queries, int64_t keys) {
  if (!mask.query_offsets) return {1 - keys, std::max<int64_t>(0, keys + queries - 1)};
  return {1 - keys - queries, std::max<int64_t>(0, 2 * (keys + queries) - 1)};
}

Tensor expanded_mask(const Mask& mask, int64_t batch, int64_t queries, int64_t keys) {
  Tensor given = mask.visible;
  require(given.dtype() == DType::i8 && given.rank() <= 4,
          "mask: found visible {} {}, expected I8 [batch, heads, queries, keys]", name(given.dtype()),
          given.shape().text());
  while (given.rank() < 4) given = given.unsqueeze(0);
  const int64_t rows = mask.query_starts ? mask.query_starts.size(0) - 1 : batch;
  return given.expand({rows, given.size(1), queries, keys});
}

Tensor dense_mask(const Mask& mask, int64_t batch, int64_t queries, int64_t keys) {
  const Tensor given = mask.visible ? expanded_mask(mask, batch, queries, keys) : Tensor();
  const int64_t heads = given ? given.size(1) : 1;
  Tensor result = zeros({batch, heads, queries, keys}, DType::i8);
  int8_t* out = result.data<int8_t>();
  for_each_pair(mask, batch, queries, keys, [&](const kernels::SequenceSpan& s, int64_t number, int64_t i, int64_t j) {
    const int64_t d = distance(s, i, j);
    if ((mask.causal && d > 0) || (mask.window > 0 && std::abs(d) >= mask.window)) return;
    for (int64_t h = 0; h < heads; ++h) {
      const int64_t at =
          given ? number * given.stride(0) + h * given.stride(1) + i * given.stride(2) + j * given.stride(3) : 0;
      const bool seen = !given || given.data<int8_t>()[at] != 0;
      out[((s.batch * heads + h) * queries + s.query_begin + i) * keys + s.key_begin + j] = seen;
    }
  });
  return result;
}

Tensor distance_places(const Mask& mask, int64_t batch, int64_t queries, int64_t keys) {
  Tensor result = zeros({batch, queries, keys}, DType::i64);
  int64_t* out = result.data<int64_t>();
  const int64_t first = distances_of(mask, queries, keys).first;
  for_each_pair(mask, batch, queries, keys, [&](const kernels::SequenceSpan& s, int64_t, int64_t i, int64_t j) {
    out[(s.batch * queries + s.query_begin + i) * keys + s.key_begin + j] = distance(s, i, j) - first;
  });
  return result;
}

}  // namespace fovea
