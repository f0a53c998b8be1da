// Perplexity (Jelinek, Mercer, Bahl and Baker 1977) from the natural logarithms of the tokens' probabilities.
//
//   perplexity = exp(−Σ log p / tokens)       bits per byte = −Σ log₂ p / bytes of the text
//
//   Perplexity score = perplexity({-0.7, -1.2, -0.1});
//   score.of_tokens();                                 // 1.948
//
// Token counts depend on the tokenizer: two models with different ones are compared by words or by bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

struct Perplexity {
  double log_probability = 0;
  int64_t tokens = 0;
  int64_t words = 0, bytes = 0;  // of the text without its line ends, if it is given

  double of_tokens() const;  // the following are NaN if there is nothing to divide by
  double of_words() const;   // exp(−Σ log p / words)
  double bits_per_byte() const;
  std::string text() const;
};

// An Error if a number is not a logarithm of a probability; −∞ is one.
Perplexity perplexity(const std::vector<double>& log_probabilities);
Perplexity perplexity(const std::vector<double>& log_probabilities, const std::vector<std::string>& lines);

// "-0.7 -1.2 -0.1", natural logarithms with white space between; `where` names the line in errors.
std::vector<double> parse_log_probabilities(std::string_view line, std::string_view where);

}  // namespace fovea
