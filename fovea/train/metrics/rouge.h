// ROUGE-1, -2, -L and -Lsum (Lin 2004), equal to rouge-score 0.1.2 with and without its stemmer.
//
//   ROUGE-n   shared n-grams                 precision = shared / in the hypothesis, recall = shared / in the reference
//   ROUGE-L   longest common subsequence of the whole text
//   ROUGE-Lsum  union over the sentences, which are separated by "\n", of the longest common subsequences
//
//   RougeScores scores = rouge("a short summary", {"the short summary"}, {.stemmer = true});
//   scores.rouge_l.f1;                                 // 0 … 1
//
// Words are runs of a-z and 0-9 after lower-casing, as in rouge-score: a text in another script has none.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fovea {

struct RougeOptions {
  bool stemmer = false;  // Porter's, on words of more than three letters
};

struct RougeScore {
  double precision = 0, recall = 0, f1 = 0;
};

struct RougeScores {
  RougeScore rouge_1, rouge_2, rouge_l, rouge_lsum;

  std::vector<std::pair<std::string_view, RougeScore>> named() const;  // with rouge-score's names: rouge1, …
};

// Of several references the one with the best F1 counts, for each score on its own.
RougeScores rouge(std::string_view hypothesis, const std::vector<std::string>& references,
                  const RougeOptions& options = {});

// The means over the texts; references[r][text].
RougeScores corpus_rouge(const std::vector<std::string>& hypotheses,
                         const std::vector<std::vector<std::string>>& references, const RougeOptions& options = {});

std::vector<std::string> rouge_tokens(std::string_view text, const RougeOptions& options);

}  // namespace fovea
