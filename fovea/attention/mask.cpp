#include "fovea/attention/mask.h"

#include <cstdlib>

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
  require(given.dtype() == DType::i64 && given.rank() == 1 && given.size(0) >= 1,
          "mask: found {} {} {}, expected I64 [sequences + 1]", what, name(given.dtype()), given.shape().text());
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
  std::vector<kernels::Sequence> sequences = sequences_of(mask, batch, queries, keys);
  if (sequences.empty() && !mask.query_starts) {
    for (int64_t b = 0; b < batch; ++b) sequences.push_back({b, 0, queries, 0, keys});
  }
  for (size_t number = 0; number < sequences.size(); ++number) {
    const kernels::Sequence& s = sequences[number];
    for (int64_t i = 0; i < s.queries; ++i) {
      for (int64_t j = 0; j < s.keys; ++j) f(s, static_cast<int64_t>(number), i, j);
    }
  }
}

int64_t distance(const kernels::Sequence& s, int64_t i, int64_t j) { return j - (i + s.keys - s.queries); }

}  // namespace

std::vector<kernels::Sequence> sequences_of(const Mask& mask, int64_t batch, int64_t queries, int64_t keys) {
  std::vector<kernels::Sequence> result;
  if (mask.query_starts) {
    require(batch == 1, "mask: found a batch of {} with packed sequences, expected 1", batch);
    require(!mask.key_lengths && !mask.query_lengths,
            "mask: found lengths beside packed sequences, expected one of them");
    std::vector<int64_t> q = starts(mask.query_starts, queries, "query_starts");
    std::vector<int64_t> k =
        mask.key_starts ? starts(mask.key_starts, keys, "key_starts") : starts(mask.query_starts, keys, "key_starts");
    require(q.size() == k.size(), "mask: found {} query_starts and {} key_starts, expected as many", q.size(),
            k.size());
    for (size_t s = 0; s + 1 < q.size(); ++s) result.push_back({0, q[s], q[s + 1] - q[s], k[s], k[s + 1] - k[s]});
    return result;
  }
  if (!mask.key_lengths && !mask.query_lengths) return result;
  std::vector<int64_t> q = lengths(mask.query_lengths, batch, queries, "query_lengths");
  std::vector<int64_t> k = lengths(mask.key_lengths, batch, keys, "key_lengths");
  for (int64_t b = 0; b < batch; ++b) result.push_back({b, 0, q[static_cast<size_t>(b)], 0, k[static_cast<size_t>(b)]});
  return result;
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
  for_each_pair(mask, batch, queries, keys, [&](const kernels::Sequence& s, int64_t number, int64_t i, int64_t j) {
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
  for_each_pair(mask, batch, queries, keys, [&](const kernels::Sequence& s, int64_t, int64_t i, int64_t j) {
    out[(s.batch * queries + s.query_begin + i) * keys + s.key_begin + j] = distance(s, i, j) + keys - 1;
  });
  return result;
}

}  // namespace fovea
