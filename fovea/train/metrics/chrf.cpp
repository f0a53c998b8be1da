#include "fovea/train/metrics/chrf.h"

#include "fovea/base/error.h"
#include "fovea/train/metrics/ngrams.h"
#include "fovea/train/metrics/python_text.h"

namespace fovea {
namespace {

struct Matches {
  int64_t hypothesis = 0, reference = 0, both = 0;
};
using Statistics = std::vector<Matches>;  // one for each order, characters before words

bool punctuation(std::string_view character) {
  return character.size() == 1 &&
         std::string_view("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~").find(character[0]) != std::string_view::npos;
}

// One punctuation mark is cut off each word, at its end or else at its beginning, as chrF++.py does.
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::string_view word : python::split(line)) {
    const std::vector<std::string_view> characters = python::characters(word);
    const size_t last = word.size() - characters.back().size();
    if (characters.size() > 1 && punctuation(characters.back())) {
      words.insert(words.end(), {word.substr(0, last), word.substr(last)});
    } else if (characters.size() > 1 && punctuation(characters.front())) {
      words.insert(words.end(), {word.substr(0, 1), word.substr(1)});
    } else {
      words.push_back(word);
    }
  }
  return words;
}

struct LineNgrams {
  Ngrams characters, words;
};

LineNgrams count(const std::string& line, const ChrfOptions& o) {
  const std::string text = o.lowercase ? python::lower(line) : line;
  std::vector<std::string_view> characters = python::characters(text);
  if (!o.whitespace) std::erase_if(characters, python::is_space);
  return {Ngrams(characters, {.orders = o.character_order}),
          Ngrams(o.word_order > 0 ? words_of(text) : std::vector<std::string_view>(),
                 {.orders = o.word_order, .separator = " "})};
}

void compare(Statistics& statistics, const Ngrams& hypothesis, const Ngrams& reference, int orders) {
  for (int n = 1; n <= orders; ++n) {
    // An order that the reference is too short for is nobody's fault.
    statistics.push_back(
        {reference.total(n) > 0 ? hypothesis.total(n) : 0, reference.total(n), overlap(hypothesis[n], reference[n])});
  }
}

double ratio(int64_t numerator, int64_t denominator, double otherwise) {
  return denominator > 0 ? static_cast<double>(numerator) / static_cast<double>(denominator) : otherwise;
}

double f_score(const Statistics& statistics, const ChrfOptions& o) {
  constexpr double epsilon = 1e-16;
  const double factor = static_cast<double>(o.beta) * o.beta;
  double score = 0, precisions = 0, recalls = 0;
  int effective = 0;
  for (const Matches& m : statistics) {
    const double precision = ratio(m.both, m.hypothesis, epsilon), recall = ratio(m.both, m.reference, epsilon);
    const double denominator = factor * precision + recall;
    score += denominator > 0 ? (1 + factor) * precision * recall / denominator : epsilon;
    if (m.hypothesis > 0 && m.reference > 0) {
      precisions += precision;
      recalls += recall;
      ++effective;
    }
  }
  if (o.epsilon_smoothing) return 100 * score / static_cast<double>(statistics.size());
  if (effective == 0 || precisions + recalls == 0) return 0;
  precisions /= effective;
  recalls /= effective;
  return 100 * ((1 + factor) * precisions * recalls / (factor * precisions + recalls));
}

}  // namespace

Chrf corpus_chrf(const std::vector<std::string>& hypotheses, const std::vector<std::vector<std::string>>& references,
                 const ChrfOptions& o) {
  require(o.character_order >= 1 && o.word_order >= 0 && o.beta >= 1,
          "chrF: found orders {} and {} and beta {}, expected at least 1, 0 and 1", o.character_order, o.word_order,
          o.beta);
  require(!references.empty(), "chrF: found no references, expected at least one");
  Statistics sums(static_cast<size_t>(o.character_order + o.word_order));
  for (const std::vector<std::string>& reference : references) {
    require(reference.size() == hypotheses.size(), "chrF: found {} lines in a reference, expected {} as hypotheses",
            reference.size(), hypotheses.size());
  }
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    const LineNgrams hypothesis = count(hypotheses[i], o);
    Statistics best;
    double best_score = -1;
    for (const std::vector<std::string>& lines : references) {
      const LineNgrams reference = count(lines[i], o);
      Statistics statistics;
      compare(statistics, hypothesis.characters, reference.characters, o.character_order);
      compare(statistics, hypothesis.words, reference.words, o.word_order);
      const double score = f_score(statistics, o);
      if (score > best_score) best_score = score, best = std::move(statistics);
    }
    for (size_t n = 0; n < sums.size(); ++n) {
      sums[n].hypothesis += best[n].hypothesis;
      sums[n].reference += best[n].reference;
      sums[n].both += best[n].both;
    }
  }
  return {fmt::format("chrF{}{}", o.beta, std::string(static_cast<size_t>(o.word_order), '+')), f_score(sums, o)};
}

std::string Chrf::text(std::string_view signature) const {
  return fmt::format("{}{}{} = {:.2f}", name, signature.empty() ? "" : "|", signature, score);
}

std::string chrf_signature(const ChrfOptions& o, size_t references) {
  return fmt::format("nrefs:{}|case:{}|eff:{}|nc:{}|nw:{}|space:{}|version:2.6.0", references,
                     o.lowercase ? "lc" : "mixed", o.epsilon_smoothing ? "no" : "yes", o.character_order, o.word_order,
                     o.whitespace ? "yes" : "no");
}

}  // namespace fovea
