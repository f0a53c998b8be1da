#include "fovea/train/metrics/perplexity.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/train/metrics/python_text.h"

namespace fovea {
namespace {

double divide(double numerator, int64_t denominator) {
  return denominator > 0 ? numerator / static_cast<double>(denominator) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

Perplexity perplexity(const std::vector<double>& log_probabilities) {
  Perplexity result = {.tokens = static_cast<int64_t>(log_probabilities.size())};
  double lost = 0;  // Neumaier's compensation: a long text has many small terms
  for (double x : log_probabilities) {
    require(x <= 0, "perplexity: found the log-probability {}, expected none above 0", x);
    const double sum = result.log_probability + x;
    if (std::isfinite(sum))
      lost += std::abs(result.log_probability) >= std::abs(x) ? (result.log_probability - sum) + x
                                                              : (x - sum) + result.log_probability;
    result.log_probability = sum;
  }
  result.log_probability += lost;
  return result;
}

Perplexity perplexity(const std::vector<double>& log_probabilities, const std::vector<std::string>& lines) {
  Perplexity result = perplexity(log_probabilities);
  for (const std::string& line : lines) {
    result.words += static_cast<int64_t>(python::split(line).size());
    result.bytes += static_cast<int64_t>(line.size());
  }
  return result;
}

double Perplexity::of_tokens() const { return std::exp(-divide(log_probability, tokens)); }
double Perplexity::of_words() const { return std::exp(-divide(log_probability, words)); }
double Perplexity::bits_per_byte() const { return -divide(log_probability, bytes) / std::log(2.0); }

std::string Perplexity::text() const {
  std::string line =
      fmt::format("perplexity = {:.4f} (tokens = {} log-probability = {:.4f})", of_tokens(), tokens, log_probability);
  if (bytes > 0) {
    line += fmt::format("\nword perplexity = {:.4f} (words = {})\nbits per byte = {:.4f} (bytes = {})", of_words(),
                        words, bits_per_byte(), bytes);
  }
  return line;
}

std::vector<double> parse_log_probabilities(std::string_view line, std::string_view where) {
  std::vector<double> numbers;
  for (std::string_view word : python::split(line)) {
    double value = 1;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    require(error == std::errc() && stop == word.data() + word.size() && value <= 0,
            "{}: found '{}', expected natural logarithms of probabilities, none above 0", where, word);
    numbers.push_back(value);
  }
  return numbers;
}

}  // namespace fovea
