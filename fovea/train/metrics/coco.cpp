#include "fovea/train/metrics/coco.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <unordered_map>
#include <unordered_set>

#include "fovea/base/error.h"
#include "fovea/train/metrics/ngrams.h"
#include "fovea/train/metrics/python_text.h"

namespace fovea {
namespace {

constexpr int orders = 4;
constexpr double tiny = 1e-15, small = 1e-9;  // what the evaluation adds so that nothing is divided by zero

struct Counted {
  int64_t words;
  Ngrams ngrams;
};

Counted counted(const std::string& text) {
  const std::vector<std::string_view> words = python::split(text);
  return {static_cast<int64_t>(words.size()), Ngrams(words, {.orders = orders, .separator = " "})};
}

struct Picture {
  Counted caption;
  std::vector<Counted> references;
};

std::array<double, 4> bleu(const std::vector<Picture>& pictures) {
  double length = 0, reference_length = 0;
  std::array<double, 4> correct = {}, guesses = {};
  for (const Picture& p : pictures) {
    const int64_t words = p.caption.words;
    const auto nearer = [&](const Counted& a, const Counted& b) {
      return std::pair(std::abs(a.words - words), a.words) < std::pair(std::abs(b.words - words), b.words);
    };
    length += static_cast<double>(words);
    reference_length += static_cast<double>(std::min_element(p.references.begin(), p.references.end(), nearer)->words);
    for (int n = 1; n <= orders; ++n) {
      const auto k = static_cast<size_t>(n - 1);
      guesses[k] += static_cast<double>(std::max<int64_t>(0, words - n + 1));
      for (const auto& [ngram, count] : p.caption.ngrams[n]) {
        int64_t most = 0;
        for (const Counted& r : p.references) {
          const auto found = r.ngrams[n].find(ngram);
          if (found != r.ngrams[n].end()) most = std::max(most, found->second);
        }
        correct[k] += static_cast<double>(std::min(count, most));
      }
    }
  }
  std::array<double, 4> scores = {};
  double product = 1;
  const double ratio = (length + tiny) / (reference_length + small);
  for (size_t k = 0; k < orders; ++k) {
    product *= (correct[k] + tiny) / (guesses[k] + small);
    scores[k] = std::pow(product, 1.0 / static_cast<double>(k + 1)) * (ratio < 1 ? std::exp(1 - 1 / ratio) : 1);
  }
  return scores;
}

// In how many pictures an n-gram is in a reference, of each order.
using Frequencies = std::array<std::unordered_map<std::string, double>, orders>;

Frequencies frequencies_of(const std::vector<Picture>& pictures) {
  Frequencies all;
  for (const Picture& p : pictures)
    for (int n = 1; n <= orders; ++n) {
      std::unordered_set<std::string_view> seen;
      for (const Counted& r : p.references)
        for (const auto& [ngram, count] : r.ngrams[n]) seen.insert(ngram);
      for (std::string_view ngram : seen) ++all[static_cast<size_t>(n - 1)][std::string(ngram)];
    }
  return all;
}

using Vector = std::unordered_map<std::string_view, double>;

Vector weighted(const Counted& c, int n, const Frequencies& frequencies, double log_pictures) {
  Vector v;
  for (const auto& [ngram, count] : c.ngrams[n]) {
    const auto& known = frequencies[static_cast<size_t>(n - 1)];
    const auto found = known.find(std::string(ngram));
    const double in_pictures = found == known.end() ? 1 : std::max(1.0, found->second);
    v[ngram] = static_cast<double>(count) * (log_pictures - std::log(in_pictures));
  }
  return v;
}

double length_of(const Vector& v) {
  double squares = 0;
  for (const auto& [ngram, weight] : v) squares += weight * weight;
  return std::sqrt(squares);
}

double similarity(const Vector& h, const Vector& r) {
  double sum = 0;
  for (const auto& [ngram, weight] : h) {
    const auto found = r.find(ngram);
    if (found != r.end()) sum += std::min(weight, found->second) * found->second;
  }
  const double norms = length_of(h) * length_of(r);
  return norms == 0 ? sum : sum / norms;
}

double cider(const std::vector<Picture>& pictures) {
  constexpr double deviation = 6;
  const Frequencies frequencies = frequencies_of(pictures);
  const double log_pictures = std::log(static_cast<double>(pictures.size()));
  double total = 0;
  for (const Picture& p : pictures) {
    double sum = 0;
    for (int n = 1; n <= orders; ++n) {
      const Vector caption = weighted(p.caption, n, frequencies, log_pictures);
      for (const Counted& r : p.references) {
        const double longer = static_cast<double>(p.caption.ngrams.total(2) - r.ngrams.total(2));
        sum += similarity(caption, weighted(r, n, frequencies, log_pictures)) *
               std::exp(-longer * longer / (2 * deviation * deviation));
      }
    }
    total += 10 * sum / orders / static_cast<double>(p.references.size());
  }
  return total / static_cast<double>(pictures.size());
}

bool is_mark(char c) { return std::string_view(".,;:!?\"()[]{}`-'").find(c) != std::string_view::npos; }

}  // namespace

CocoScores coco_scores(const std::vector<std::string>& captions,
                       const std::vector<std::vector<std::string>>& references) {
  require(captions.size() == references.size() && !captions.empty(),
          "captions: found {} of them and references for {}, expected as many, and some", captions.size(),
          references.size());
  std::vector<Picture> pictures;
  for (size_t i = 0; i < captions.size(); ++i) {
    require(!references[i].empty(), "captions: found no reference for number {}, expected one or more", i + 1);
    pictures.push_back({counted(captions[i]), {}});
    for (const std::string& r : references[i]) pictures.back().references.push_back(counted(r));
  }
  return {bleu(pictures), cider(pictures)};
}

std::string coco_words(std::string_view caption) {
  std::string lower, words;
  for (const char c : caption) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (std::string_view word : python::split(lower)) {
    while (!word.empty() && is_mark(word.front()) && word != "'s") word.remove_prefix(1);
    while (!word.empty() && is_mark(word.back())) word.remove_suffix(1);
    if (word.empty()) continue;
    if (!words.empty()) words += ' ';
    const bool parts = word.size() > 3 && word.ends_with("n't"), owns = word.size() > 2 && word.ends_with("'s");
    const size_t cut = parts ? word.size() - 3 : owns ? word.size() - 2 : word.size();
    words += word.substr(0, cut);
    if (cut < word.size()) words += ' ', words += word.substr(cut);
  }
  return words;
}

}  // namespace fovea
