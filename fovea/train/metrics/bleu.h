// BLEU (Papineni, Roukos, Ward and Zhu 2002), equal to sacreBLEU 2.6.0 (Post 2018) to the last digit.
//
//   BLEU = BP · exp(¼ Σ log pₙ)     pₙ = matched n-grams / n-grams of the hypotheses, n = 1 … 4
//   BP = min(1, exp(1 − reference length / hypothesis length))
//
//   Bleu score = corpus_bleu(hypotheses, {references});
//   score.text();                                      // BLEU = 31.60 60.1/38.0/25.5/17.3 (BP = 1.000 ratio = …)
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

struct BleuOptions {
  // 13a is that of mteval-v13a.pl, used by WMT; none splits at white space; characters are code points.
  enum class Tokenizer { mteval_13a, none, characters };
  // What a precision of zero becomes (Chen and Cherry 2014): exponential is method 3, floor method 1, add_k method 2.
  enum class Smoothing { exponential, floor, add_k, none };

  Tokenizer tokenizer = Tokenizer::mteval_13a;
  Smoothing smoothing = Smoothing::exponential;
  std::optional<double> smoothing_value = {};  // of floor (0.1 if not given) and add_k (1)
  bool lowercase = false;
  bool effective_order = false;  // average only the orders that the hypotheses have: for single sentences
};

struct Bleu {
  double score = 0;                       // 0 … 100
  std::array<double, 4> precisions = {};  // in percent, smoothed
  std::array<int64_t, 4> matches = {}, totals = {};
  double brevity_penalty = 1;
  int64_t hypothesis_length = 0, reference_length = 0;  // in tokens; of the references the closest in length

  std::string text(std::string_view signature = {}) const;  // the line that sacreBLEU prints
};

// references[r][line]: each reference has as many lines as there are hypotheses.
Bleu corpus_bleu(const std::vector<std::string>& hypotheses, const std::vector<std::vector<std::string>>& references,
                 const BleuOptions& options = {});
Bleu sentence_bleu(const std::string& hypothesis, const std::vector<std::string>& references,
                   const BleuOptions& options = {.effective_order = true});

// "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"
std::string bleu_signature(const BleuOptions& options, size_t references);

// The tokens of a line that BLEU counts, with one space between them.
std::string bleu_tokens(std::string_view line, const BleuOptions& options);

}  // namespace fovea
