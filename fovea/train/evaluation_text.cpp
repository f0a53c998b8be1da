#include "fovea/train/evaluation_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace fovea {

std::string aligned(const std::vector<std::string>& lines) {
  size_t width = 0;
  for (const std::string& line : lines) width = std::max(width, line.find(" = "));
  std::string text;
  for (const std::string& line : lines) text += std::string(width - line.find(" = "), ' ') + line + "\n";
  return text;
}

nlohmann::ordered_json class_json(const ClassScores& scores, double accuracy, const char* classes) {
  using Json = nlohmann::ordered_json;
  auto one = [](const ClassScore& s) {
    return Json{{"precision", s.precision}, {"recall", s.recall}, {"f1", s.f1}, {"support", s.support}};
  };
  Json json = {{"accuracy", accuracy}};
  json["micro"] = one(scores.micro);
  json["macro"] = one(scores.macro);
  json["weighted"] = one(scores.weighted);
  json[classes] = Json::object();
  for (const auto& [name, score] : scores.classes) json[classes][name] = one(score);
  return json;
}

}  // namespace fovea
