#include "fovea/explain/steps.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/explain/window.h"

namespace fovea {
namespace {

std::vector<double> first_numbers(const Tensor& matrix, int64_t row, size_t most) {
  std::vector<double> all = matrix.slice(0, row, row + 1).values<double>();
  all.resize(std::min(all.size(), most));
  return all;
}

constexpr int64_t most_brought = 8192;  // keys: what they bring is as wide as the model

// What the keys bring, or no tensor where the recording has no values, or too many.
Tensor brought(const RecordedPlace& p, size_t number) {
  if (p.columns() > most_brought) return {};
  try {
    return p.kept->brought(0, p.heads[number], {}).detach();
  } catch (const Error& e) {
    if (e.kind() == Error::not_found) return {};
    throw;
  }
}

}  // namespace

WorkedRow worked_row(const RecordedPlace& p, size_t number, int64_t row, const WorkedRowOptions& options) {
  require(0 <= row && row < p.rows(), "{}: found row {}, expected less than {}", p.place.path, row, p.rows());
  const KeptAttention::Parts parts = parts_of(p, number);
  if (!parts.q)
    throw Error(
        Error::not_found,
        "{}: found weights alone (its keys were in a cache, or a bias, a window or another score made them), expected "
        "queries and keys",
        p.place.path);
  const std::vector<double> q = parts.q.slice(0, row, row + 1).values<double>();
  WorkedRow worked = {.width = parts.q.size(1), .scale = parts.scale};
  worked.lse = parts.lse.slice(0, row, row + 1).values<double>()[0];
  worked.q = first_numbers(parts.q, row, options.numbers);
  const int64_t seen = parts.causal ? std::min(p.columns(), row + 1) : p.columns();
  std::vector<double> products(static_cast<size_t>(seen)), weights(products.size());
  for (int64_t j = 0; j < seen; ++j) {
    const std::vector<double> k = parts.k.slice(0, j, j + 1).values<double>();
    const auto at = static_cast<size_t>(j);
    products[at] = std::inner_product(q.begin(), q.end(), k.begin(), 0.0);
    weights[at] = std::exp(parts.scale * products[at] - worked.lse);
  }
  std::vector<int64_t> order(products.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return weights[static_cast<size_t>(a)] > weights[static_cast<size_t>(b)];
  });
  order.resize(std::min(order.size(), options.keys));
  std::sort(order.begin(), order.end());
  const Tensor values = brought(p, number);
  worked.brought_width = values ? values.size(1) : 0;
  worked.others = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (const int64_t j : order) {
    const auto at = static_cast<size_t>(j);
    worked.keys.push_back({j, first_numbers(parts.k, j, options.numbers),
                           values ? first_numbers(values, j, options.numbers) : std::vector<double>(), products[at],
                           parts.scale * products[at], weights[at]});
    worked.others -= weights[at];
  }
  if (values) {
    worked.context.resize(std::min(options.numbers, static_cast<size_t>(values.size(1))));
    const std::vector<double> all = values.slice(1, 0, static_cast<int64_t>(worked.context.size())).values<double>();
    for (size_t j = 0; j < weights.size(); ++j)
      for (size_t d = 0; d < worked.context.size(); ++d)
        worked.context[d] += weights[j] * all[j * worked.context.size() + d];
  }
  return worked;
}

}  // namespace fovea
