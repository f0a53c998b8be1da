// How good captions are, and whether a captioner looked where its words are.
//
//   CaptionScores scores = score_captions(wanted, given);   scores.exact;   scores.pointing;
//
// exact: the share of pictures whose caption is one of those that are wanted. pointing: the share of the words with a box, in captions
// that are right up to that word, for which the place that was looked at most lies in the box.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace fovea {

struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;
};

struct WantedCaption {
  std::vector<std::string> captions;
  std::vector<std::optional<Box>> boxes = {};  // of each word of the first one; none: not known
};

struct GivenCaption {
  std::string caption;
  std::vector<std::array<double, 2>> looked = {};  // x and y for each word, measured as the boxes are; none: not known
};

struct CaptionScores {
  int64_t pictures = 0, right = 0;
  int64_t pointed = 0, inside = 0;  // words with a box

  double exact() const { return pictures == 0 ? 0 : static_cast<double>(right) / static_cast<double>(pictures); }
  std::optional<double> pointing() const;  // nothing if there are no boxes
};

CaptionScores score_captions(const std::vector<WantedCaption>&, const std::vector<GivenCaption>&);

// A line each: the caption alone, or JSON as data sets and `fovea caption --json` have it, {"caption": "…", "boxes": [null,
// [left, top, right, bottom], …]} or {"caption": "…", "words": [{"x": …, "y": …}, …]}. An Error names `where`.
WantedCaption parse_wanted_caption(const std::string& line, const std::string& where);
GivenCaption parse_given_caption(const std::string& line, const std::string& where);
// [null, [left, top, right, bottom], …]
std::vector<std::optional<Box>> parse_boxes(const std::string& json, const std::string& where);

}  // namespace fovea
