#include "fovea/train/metrics/rouge.h"

#include <algorithm>
#include <unordered_map>

#include "fovea/base/error.h"
#include "fovea/train/metrics/ngrams.h"
#include "fovea/train/metrics/porter_stemmer.h"
#include "fovea/train/metrics/python_text.h"

namespace fovea {
namespace {

using Tokens = std::vector<std::string>;

RougeScore score(int64_t shared, int64_t in_hypothesis, int64_t in_reference) {
  RougeScore s;
  s.precision = static_cast<double>(shared) / static_cast<double>(std::max<int64_t>(in_hypothesis, 1));
  s.recall = static_cast<double>(shared) / static_cast<double>(std::max<int64_t>(in_reference, 1));
  if (s.precision + s.recall > 0) s.f1 = 2 * s.precision * s.recall / (s.precision + s.recall);
  return s;
}

// Positions in the reference of one longest common subsequence: the one that rouge-score finds, for its union depends on it.
std::vector<size_t> common_subsequence(const Tokens& reference, const Tokens& hypothesis) {
  const size_t rows = reference.size(), columns = hypothesis.size();
  std::vector<int64_t> above(columns + 1), row(columns + 1);  // lengths for the tokens before i and before j
  std::vector<bool> to_the_left(rows * columns);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < columns; ++j) {
      row[j + 1] = reference[i] == hypothesis[j] ? above[j] + 1 : std::max(above[j + 1], row[j]);
      to_the_left[i * columns + j] = row[j] > above[j + 1];
    }
    std::swap(above, row);
  }
  std::vector<size_t> positions;
  for (size_t i = rows, j = columns; i > 0 && j > 0;) {
    if (reference[i - 1] == hypothesis[j - 1]) {
      positions.push_back(--i);
      --j;
    } else if (to_the_left[(i - 1) * columns + j - 1]) {
      --j;
    } else {
      --i;
    }
  }
  return positions;
}

RougeScore ngram_score(const Tokens& hypothesis, const Tokens& reference, int order) {
  auto count = [&](const Tokens& tokens) {
    return Ngrams({tokens.begin(), tokens.end()}, {.orders = order, .separator = " "});
  };
  const Ngrams found = count(hypothesis), wanted = count(reference);
  return score(overlap(found[order], wanted[order]), found.total(order), wanted.total(order));
}

std::vector<Tokens> sentences(std::string_view text, const RougeOptions& options) {
  std::vector<Tokens> found;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) found.push_back(rouge_tokens(text.substr(begin, end - begin), options));
    begin = end + 1;
  }
  return found;
}

struct TokenCounts {
  explicit TokenCounts(const std::vector<Tokens>& sentences) {
    for (const Tokens& sentence : sentences) {
      for (const std::string& token : sentence) ++left[token];
      total += static_cast<int64_t>(sentence.size());
    }
  }
  std::unordered_map<std::string_view, int64_t> left;
  int64_t total = 0;
};

// Section 3.2 of the paper; like ROUGE-1.5.5 each occurrence of a word counts once on each side.
RougeScore summary_score(std::string_view hypothesis, std::string_view reference, const RougeOptions& options) {
  const std::vector<Tokens> found = sentences(hypothesis, options), wanted = sentences(reference, options);
  TokenCounts in_hypothesis(found), in_reference(wanted);
  int64_t hits = 0;
  for (const Tokens& sentence : wanted) {
    std::vector<bool> in_union(sentence.size());
    for (const Tokens& candidate : found) {
      for (size_t position : common_subsequence(sentence, candidate)) in_union[position] = true;
    }
    for (size_t i = 0; i < sentence.size(); ++i) {
      int64_t &here = in_hypothesis.left[sentence[i]], &there = in_reference.left[sentence[i]];
      if (!in_union[i] || here == 0 || there == 0) continue;
      --here, --there, ++hits;
    }
  }
  return score(hits, in_hypothesis.total, in_reference.total);
}

constexpr std::pair<std::string_view, RougeScore RougeScores::*> fields[] = {{"rouge1", &RougeScores::rouge_1},
                                                                             {"rouge2", &RougeScores::rouge_2},
                                                                             {"rougeL", &RougeScores::rouge_l},
                                                                             {"rougeLsum", &RougeScores::rouge_lsum}};

}  // namespace

std::vector<std::string> rouge_tokens(std::string_view text, const RougeOptions& options) {
  Tokens tokens;
  std::string word;
  auto end_word = [&] {
    if (!word.empty()) tokens.push_back(options.stemmer && word.size() > 3 ? porter_stem(word) : word);
    word.clear();
  };
  for (char c : python::lower(text)) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
      word += c;
    else
      end_word();
  }
  end_word();
  std::erase(tokens, "");
  return tokens;
}

RougeScores rouge(std::string_view hypothesis, const std::vector<std::string>& references,
                  const RougeOptions& options) {
  require(!references.empty(), "ROUGE: found no references, expected at least one");
  const Tokens found = rouge_tokens(hypothesis, options);
  RougeScores best;
  for (const std::string& reference : references) {
    const Tokens wanted = rouge_tokens(reference, options);
    const RougeScores scores = {ngram_score(found, wanted, 1), ngram_score(found, wanted, 2),
                                score(static_cast<int64_t>(common_subsequence(wanted, found).size()),
                                      static_cast<int64_t>(found.size()), static_cast<int64_t>(wanted.size())),
                                summary_score(hypothesis, reference, options)};
    for (auto [name, field] : fields) {
      if (&reference == &references.front() || (scores.*field).f1 > (best.*field).f1) best.*field = scores.*field;
    }
  }
  return best;
}

RougeScores corpus_rouge(const std::vector<std::string>& hypotheses,
                         const std::vector<std::vector<std::string>>& references, const RougeOptions& options) {
  for (const std::vector<std::string>& reference : references) {
    require(reference.size() == hypotheses.size(), "ROUGE: found {} texts in a reference, expected {} as hypotheses",
            reference.size(), hypotheses.size());
  }
  RougeScores sums;
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    std::vector<std::string> texts;
    for (const std::vector<std::string>& reference : references) texts.push_back(reference[i]);
    const RougeScores scores = rouge(hypotheses[i], texts, options);
    for (auto [name, field] : fields) {
      (sums.*field).precision += (scores.*field).precision;
      (sums.*field).recall += (scores.*field).recall;
      (sums.*field).f1 += (scores.*field).f1;
    }
  }
  const double count = static_cast<double>(std::max<size_t>(hypotheses.size(), 1));
  for (auto [name, field] : fields) {
    for (double RougeScore::*part : {&RougeScore::precision, &RougeScore::recall, &RougeScore::f1})
      (sums.*field).*part /= count;
  }
  return sums;
}

std::vector<std::pair<std::string_view, RougeScore>> RougeScores::named() const {
  std::vector<std::pair<std::string_view, RougeScore>> scores;
  for (auto [name, field] : fields) scores.emplace_back(name, this->*field);
  return scores;
}

}  // namespace fovea
