#include "fovea/train/metrics/captions.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/base/text.h"
#include "fovea/formats/matrix_text.h"

namespace fovea {
namespace {

using Json = nlohmann::json;

[[noreturn]] void throw_wrong(const std::string& where, const Json& found, const char* expected) {
  throw Error(Error::corrupt, "{}: found {}, expected {}", where, found.dump().substr(0, 80), expected);
}

double number(const Json& found, const std::string& where) {
  if (!found.is_number() || !std::isfinite(found.get<double>())) throw_wrong(where, found, "a number");
  return found.get<double>();
}

std::vector<std::optional<Box>> boxes_of(const Json& list, const std::string& where) {
  if (!list.is_array()) throw_wrong(where, list, "a list of boxes, [left, top, right, bottom] or null for each word");
  std::vector<std::optional<Box>> boxes;
  for (const Json& box : list) {
    if (box.is_null()) {
      boxes.push_back(std::nullopt);
      continue;
    }
    if (!box.is_array() || box.size() != 4) throw_wrong(where, box, "[left, top, right, bottom] or null");
    boxes.push_back(Box{number(box[0], where), number(box[1], where), number(box[2], where), number(box[3], where)});
  }
  return boxes;
}

std::string text_of(const Json& object, const std::string& where) {
  if (!object.is_object() || !object.contains("caption") || !object["caption"].is_string())
    throw_wrong(where, object, "an object with a \"caption\"");
  return object["caption"].get<std::string>();
}

std::vector<std::string> words_of_caption(const std::string& caption) {
  std::vector<std::string> words = split_text(caption, ' ');
  std::erase(words, "");
  return words;
}

}  // namespace

std::optional<double> CaptionScores::pointing() const {
  if (pointed == 0) return {};
  return static_cast<double>(inside) / static_cast<double>(pointed);
}

CaptionScores score_captions(const std::vector<WantedCaption>& wanted, const std::vector<GivenCaption>& given) {
  require(wanted.size() == given.size(), "captions: found {} of them, expected {}", given.size(), wanted.size());
  CaptionScores scores;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const std::vector<std::string>& captions = wanted[i].captions;
    ++scores.pictures;
    scores.right += std::find(captions.begin(), captions.end(), given[i].caption) != captions.end();
    if (captions.empty() || wanted[i].boxes.empty() || given[i].looked.empty()) continue;
    const std::vector<std::string> right = words_of_caption(captions[0]), found = words_of_caption(given[i].caption);
    const size_t words = std::min({right.size(), found.size(), wanted[i].boxes.size(), given[i].looked.size()});
    for (size_t t = 0; t < words && right[t] == found[t]; ++t) {
      const std::optional<Box>& box = wanted[i].boxes[t];
      if (!box) continue;
      const auto [x, y] = given[i].looked[t];
      ++scores.pointed;
      scores.inside += box->left <= x && x < box->right && box->top <= y && y < box->bottom;
    }
  }
  return scores;
}

std::vector<std::optional<Box>> parse_boxes(const std::string& json, const std::string& where) {
  return boxes_of(parse_json<Json>(json, where), where);
}

WantedCaption parse_wanted_caption(const std::string& line, const std::string& where) {
  if (!line.starts_with('{')) return {{line}};
  const Json object = parse_json<Json>(line, where);
  if (!object.contains("captions")) {
    WantedCaption wanted = {{text_of(object, where)}};
    if (object.contains("boxes")) wanted.boxes = boxes_of(object["boxes"], where);
    return wanted;
  }
  if (!object["captions"].is_array()) throw_wrong(where, object["captions"], "a list of captions");
  WantedCaption wanted;
  for (const Json& caption : object["captions"]) {
    if (!caption.is_string()) throw_wrong(where, caption, "a caption");
    wanted.captions.push_back(caption.get<std::string>());
  }
  if (object.contains("boxes")) wanted.boxes = boxes_of(object["boxes"], where);
  return wanted;
}

GivenCaption parse_given_caption(const std::string& line, const std::string& where) {
  if (!line.starts_with('{')) return {line};
  const Json object = parse_json<Json>(line, where);
  GivenCaption given = {text_of(object, where)};
  if (!object.contains("words")) return given;
  if (!object["words"].is_array()) throw_wrong(where, object["words"], "a list of words");
  for (const Json& word : object["words"]) {
    if (!word.is_object() || !word.contains("x") || !word.contains("y")) return {given.caption};
    given.looked.push_back({number(word["x"], where), number(word["y"], where)});
  }
  return given;
}

}  // namespace fovea
