// chrF (Popović 2015) and chrF++ (Popović 2017), equal to sacreBLEU 2.6.0 to the last digit.
//
//   chrF = (1 + β²) P R / (β² P + R)    P, R: precision and recall of character n-grams, averaged over n = 1 … 6
//
// chrF++ takes the words and word pairs into the averages too.
//
//   corpus_chrf(hypotheses, {references}).text();                       // chrF2 = 58.12
//   corpus_chrf(hypotheses, {references}, {.word_order = 2}).text();    // chrF2++ = 55.90
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fovea {

struct ChrfOptions {
  int character_order = 6, word_order = 0;
  int beta = 2;  // how much more recall counts than precision
  bool lowercase = false;
  bool whitespace = false;         // spaces are characters too
  bool epsilon_smoothing = false;  // as chrF++.py, NLTK and Moses: average the F-scores of every order
};

struct Chrf {
  std::string name;  // chrF2, chrF2++
  double score = 0;  // 0 … 100

  std::string text(std::string_view signature = {}) const;  // the line that sacreBLEU prints
};

// references[r][line]; a line is compared with the reference that suits it best.
Chrf corpus_chrf(const std::vector<std::string>& hypotheses, const std::vector<std::vector<std::string>>& references,
                 const ChrfOptions& options = {});

// "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0"
std::string chrf_signature(const ChrfOptions& options, size_t references);

}  // namespace fovea
