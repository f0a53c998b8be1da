#include "fovea/train/metrics/alignment.h"

#include <charconv>

#include "fovea/base/error.h"
#include "fovea/train/metrics/python_text.h"

namespace fovea {
namespace {

struct TypedLink {
  Link link;
  bool sure;
};

// Pharaoh's positions have no sign; from_chars alone would take one.
bool parse_position(std::string_view digits, int64_t& value) {
  const char* end = digits.data() + digits.size();
  if (digits.empty() || digits[0] < '0' || digits[0] > '9') return false;
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  return error == std::errc() && stop == end;
}

std::vector<TypedLink> parse(std::string_view line, std::string_view separators, std::string_view where) {
  std::vector<TypedLink> links;
  for (std::string_view word : python::split(line)) {
    const size_t middle = word.find_first_of(separators);
    TypedLink link = {{}, true};
    const bool good = middle != std::string_view::npos && parse_position(word.substr(0, middle), link.link.source) &&
                      parse_position(word.substr(middle + 1), link.link.target);
    require(good, "{}: found '{}', expected links such as 0-0{}", where, word,
            separators.size() > 1 ? " or, if only possible, 0p0" : "");
    link.sure = word[middle] == '-';
    links.push_back(link);
  }
  return links;
}

double ratio(int64_t numerator, int64_t denominator, double otherwise) {
  return denominator > 0 ? static_cast<double>(numerator) / static_cast<double>(denominator) : otherwise;
}

}  // namespace

Alignment parse_alignment(std::string_view line, std::string_view where) {
  Alignment alignment;
  for (const TypedLink& link : parse(line, "-", where)) alignment.insert(link.link);
  return alignment;
}

GoldAlignment parse_gold_alignment(std::string_view line, std::string_view where) {
  GoldAlignment gold;
  for (const TypedLink& link : parse(line, "-p?", where)) {
    gold.possible.insert(link.link);
    if (link.sure) gold.sure.insert(link.link);
  }
  return gold;
}

AlignmentScores score_alignments(const std::vector<GoldAlignment>& references,
                                 const std::vector<Alignment>& hypotheses) {
  require(references.size() == hypotheses.size(), "alignments: found {}, expected {} as in the references",
          hypotheses.size(), references.size());
  AlignmentScores scores;
  for (size_t i = 0; i < references.size(); ++i) {
    const GoldAlignment& gold = references[i];
    scores.links += static_cast<int64_t>(hypotheses[i].size());
    scores.sure += static_cast<int64_t>(gold.sure.size());
    for (const Link& link : hypotheses[i]) {
      const bool sure = gold.sure.count(link) > 0;
      scores.links_sure += sure ? 1 : 0;
      scores.links_possible += sure || gold.possible.count(link) > 0 ? 1 : 0;
    }
  }
  return scores;
}

double AlignmentScores::error_rate() const { return 1 - ratio(links_sure + links_possible, links + sure, 1); }
double AlignmentScores::precision() const { return ratio(links_possible, links, 1); }
double AlignmentScores::recall() const { return ratio(links_sure, sure, 1); }

std::string AlignmentScores::text() const {
  return fmt::format("AER = {:.4f} (precision = {:.4f} recall = {:.4f} links = {} sure = {})", error_rate(),
                     precision(), recall(), links, sure);
}

}  // namespace fovea
