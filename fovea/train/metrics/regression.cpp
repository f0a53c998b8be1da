#include "fovea/train/metrics/regression.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/data/text/utf8.h"

namespace fovea {
namespace {

std::vector<double> centred(std::vector<double> x) {
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
  for (double& value : x) value -= mean;
  return x;
}

// Divided by the largest first, so that squares neither overflow nor vanish.
void normalise(std::vector<double>& x) {
  double most = 0, squares = 0;
  for (double value : x) most = std::max(most, std::abs(value));
  for (double& value : x) value /= most, squares += value * value;
  for (double& value : x) value /= std::sqrt(squares);
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto constant = [](const std::vector<double>& x) {
    return std::ranges::all_of(x, [&](double value) { return value == x[0]; });
  };
  if (a.size() < 2 || constant(a) || constant(b)) return std::nan("");
  std::vector<double> x = centred(a), y = centred(b);
  normalise(x), normalise(y);
  return std::clamp(std::inner_product(x.begin(), x.end(), y.begin(), 0.0), -1.0, 1.0);
}

}  // namespace

std::vector<double> ranks(const std::vector<double>& numbers) {
  std::vector<size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return numbers[i]; });
  std::vector<double> result(numbers.size());
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && numbers[order[end]] == numbers[order[begin]]) ++end;
    for (size_t i = begin; i < end; ++i) result[order[i]] = static_cast<double>(begin + 1 + end) / 2;
  }
  return result;
}

NumberScores score_numbers(const std::vector<double>& references, const std::vector<double>& hypotheses) {
  require(references.size() == hypotheses.size(), "numbers: found {}, expected {} as in the references",
          hypotheses.size(), references.size());
  double squares = 0, distances = 0;
  for (size_t i = 0; i < references.size(); ++i) {
    for (double value : {references[i], hypotheses[i]}) {
      require(std::isfinite(value), "numbers: found {} as number {}, expected a finite one", value, i + 1);
    }
    const double difference = hypotheses[i] - references[i];
    squares += difference * difference;
    distances += std::abs(difference);
  }
  const auto count = static_cast<double>(references.size());
  return {correlation(references, hypotheses), correlation(ranks(references), ranks(hypotheses)), squares / count,
          distances / count};
}

std::string NumberScores::text() const {
  return fmt::format("Pearson = {:.4f}\nSpearman = {:.4f}\nmean squared error = {:.6g}\nmean absolute error = {:.6g}",
                     pearson, spearman, mean_squared_error, mean_absolute_error);
}

double parse_number(std::string_view text, std::string_view where) {
  const std::string_view trimmed = trim(text);
  double value = 0;
  const auto [end, error] = std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), value);
  require(error == std::errc() && end == trimmed.data() + trimmed.size() && std::isfinite(value),
          "{}: found '{}', expected a number", where, text);
  return value;
}

}  // namespace fovea
