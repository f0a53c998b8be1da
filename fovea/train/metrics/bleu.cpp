#include "fovea/train/metrics/bleu.h"

#include <cmath>
#include <cstdlib>

#include "fovea/base/error.h"
#include "fovea/train/metrics/ngrams.h"
#include "fovea/train/metrics/python_text.h"

namespace fovea {
namespace {

using Smoothing = BleuOptions::Smoothing;
using Tokenizer = BleuOptions::Tokenizer;

bool digit(char c) { return c >= '0' && c <= '9'; }
bool point_or_comma(char c) { return c == '.' || c == ','; }
bool symbol(char c) {
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') ||
         (c >= ':' && c <= '@') || c == '/';
}

// re.sub of a pattern of two characters, left to right without overlap. A multi-byte character matches by its nearest byte,
// which changes nothing: only ASCII is looked for.
template <class First, class Second>
std::string substitute(const std::string& text, First first, Second second, std::array<const char*, 3> spaces) {
  std::string result;
  result.reserve(text.size() + text.size() / 4);
  for (size_t i = 0; i < text.size(); ++i) {
    if (i + 1 < text.size() && first(text[i]) && second(text[i + 1])) {
      result.append(spaces[0]).append(1, text[i]).append(spaces[1]).append(1, text[i + 1]).append(spaces[2]);
      ++i;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string mteval_13a(std::string_view line) {
  std::string text = python::replace(line, "<skipped>", "");
  text = python::replace(python::replace(text, "-\n", ""), "\n", " ");
  for (auto [entity, character] : {std::pair{"&quot;", "\""}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}})
    text = python::replace(text, entity, character);
  std::string spaced = " ";
  for (char c : text) {
    if (symbol(c))
      spaced.append({' ', c, ' '});
    else
      spaced += c;
  }
  spaced += ' ';
  auto other_than_digit = [](char c) { return !digit(c); };
  spaced = substitute(spaced, other_than_digit, point_or_comma, {"", " ", " "});
  spaced = substitute(spaced, point_or_comma, other_than_digit, {" ", " ", ""});
  return substitute(spaced, digit, [](char c) { return c == '-'; }, {"", " ", " "});
}

struct Statistics {
  std::array<int64_t, 4> matches = {}, totals = {};
  int64_t hypothesis_length = 0, reference_length = 0;
};

// The reference length closest to the hypothesis, the shorter of two as close.
int64_t closest(int64_t length, const std::vector<int64_t>& candidates) {
  int64_t best = -1;
  for (int64_t candidate : candidates) {
    const int64_t difference = std::abs(length - candidate), least = std::abs(length - best);
    if (best < 0 || difference < least || (difference == least && candidate < best)) best = candidate;
  }
  return best;
}

void add_line(Statistics& sums, const std::string& hypothesis, const std::vector<const std::string*>& references,
              const BleuOptions& options) {
  auto count = [&](const std::string& line) {
    const std::string tokens = bleu_tokens(line, options);
    return Ngrams(python::split(tokens), {.orders = 4, .separator = " "});
  };
  const Ngrams found = count(hypothesis);
  std::vector<Ngrams> wanted;
  std::vector<int64_t> lengths;
  for (const std::string* reference : references) {
    wanted.push_back(count(*reference));
    lengths.push_back(wanted.back().total(1));
  }
  for (int order = 1; order <= 4; ++order) {
    const size_t n = static_cast<size_t>(order - 1);
    sums.totals[n] += found.total(order);
    for (const auto& [ngram, occurrences] : found[order]) {
      int64_t most = 0;
      for (const Ngrams& reference : wanted) {
        if (auto it = reference[order].find(ngram); it != reference[order].end()) most = std::max(most, it->second);
      }
      sums.matches[n] += std::min(occurrences, most);
    }
  }
  sums.hypothesis_length += found.total(1);
  sums.reference_length += closest(found.total(1), lengths);
}

double default_value(Smoothing smoothing) { return smoothing == Smoothing::floor ? 0.1 : 1.0; }

Bleu from_statistics(const Statistics& s, const BleuOptions& o) {
  constexpr double log_of_zero = -9999999999.0;
  Bleu bleu = {.matches = s.matches,
               .totals = s.totals,
               .hypothesis_length = s.hypothesis_length,
               .reference_length = s.reference_length};
  const double hypothesis = static_cast<double>(s.hypothesis_length);
  if (s.hypothesis_length < s.reference_length) {
    bleu.brevity_penalty =
        s.hypothesis_length > 0 ? std::exp(1 - static_cast<double>(s.reference_length) / hypothesis) : 0.0;
  }
  if (s.matches == std::array<int64_t, 4>{}) return bleu;
  const double value = o.smoothing_value.value_or(default_value(o.smoothing));
  double halving = 1;
  size_t orders = 4;
  for (size_t n = 0; n < 4; ++n) {
    const double added = o.smoothing == Smoothing::add_k && n > 0 ? value : 0;
    const double matches = static_cast<double>(s.matches[n]) + added, total = static_cast<double>(s.totals[n]) + added;
    if (total == 0) break;
    if (o.effective_order) orders = n + 1;
    if (matches != 0) {
      bleu.precisions[n] = 100 * matches / total;
    } else if (o.smoothing == Smoothing::exponential) {
      halving *= 2;
      bleu.precisions[n] = 100 / (halving * total);
    } else if (o.smoothing == Smoothing::floor) {
      bleu.precisions[n] = 100 * value / total;
    }
  }
  double sum = 0;
  for (size_t n = 0; n < orders; ++n) sum += bleu.precisions[n] == 0 ? log_of_zero : std::log(bleu.precisions[n]);
  bleu.score = bleu.brevity_penalty * std::exp(sum / static_cast<double>(orders));
  return bleu;
}

}  // namespace

std::string bleu_tokens(std::string_view line, const BleuOptions& options) {
  const std::string lowered = options.lowercase ? python::lower(line) : std::string(line);
  const std::string text(python::strip_right(lowered));
  const std::string spaced = options.tokenizer == Tokenizer::mteval_13a ? mteval_13a(text) : text;
  std::string tokens;
  auto add = [&](std::string_view token) { tokens.append(tokens.empty() ? "" : " ").append(token); };
  for (std::string_view word : python::split(spaced)) {
    if (options.tokenizer != Tokenizer::characters) {
      add(word);
      continue;
    }
    for (std::string_view character : python::characters(word)) add(character);
  }
  return tokens;
}

Bleu corpus_bleu(const std::vector<std::string>& hypotheses, const std::vector<std::vector<std::string>>& references,
                 const BleuOptions& options) {
  require(!references.empty(), "BLEU: found no references, expected at least one");
  for (const std::vector<std::string>& reference : references) {
    require(reference.size() == hypotheses.size(), "BLEU: found {} lines in a reference, expected {} as hypotheses",
            reference.size(), hypotheses.size());
  }
  Statistics sums;
  std::vector<const std::string*> line(references.size());
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    for (size_t r = 0; r < references.size(); ++r) line[r] = &references[r][i];
    add_line(sums, hypotheses[i], line, options);
  }
  return from_statistics(sums, options);
}

Bleu sentence_bleu(const std::string& hypothesis, const std::vector<std::string>& references,
                   const BleuOptions& options) {
  require(!references.empty(), "BLEU: found no references, expected at least one");
  Statistics sums;
  std::vector<const std::string*> line;
  for (const std::string& reference : references) line.push_back(&reference);
  add_line(sums, hypothesis, line, options);
  return from_statistics(sums, options);
}

std::string Bleu::text(std::string_view signature) const {
  const double ratio =
      reference_length > 0 ? static_cast<double>(hypothesis_length) / static_cast<double>(reference_length) : 0;
  return fmt::format(
      "BLEU{}{} = {:.2f} {:.1f}/{:.1f}/{:.1f}/{:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {} ref_len = {})",
      signature.empty() ? "" : "|", signature, score, precisions[0], precisions[1], precisions[2], precisions[3],
      brevity_penalty, ratio, hypothesis_length, reference_length);
}

std::string bleu_signature(const BleuOptions& o, size_t references) {
  constexpr std::array tokenizers = {"13a", "none", "char"};
  constexpr std::array smoothings = {"exp", "floor", "add-k", "none"};
  std::string smoothing = smoothings[static_cast<size_t>(o.smoothing)];
  if (o.smoothing == Smoothing::floor || o.smoothing == Smoothing::add_k)
    smoothing += fmt::format("[{:.2f}]", o.smoothing_value.value_or(default_value(o.smoothing)));
  return fmt::format("nrefs:{}|case:{}|eff:{}|tok:{}|smooth:{}|version:2.6.0", references, o.lowercase ? "lc" : "mixed",
                     o.effective_order ? "yes" : "no", tokenizers[static_cast<size_t>(o.tokenizer)], smoothing);
}

}  // namespace fovea
