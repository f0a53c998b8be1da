// How evaluations print their scores.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "fovea/train/metrics/class_scores.h"

namespace fovea {

// Lines "name = value" under each other with their = in one column, as sacreBLEU prints several scores.
std::string aligned(const std::vector<std::string>& lines);

// {"accuracy": …, "micro": {…}, "macro": {…}, "weighted": {…}, CLASSES: {name: {…}}}
nlohmann::ordered_json class_json(const ClassScores&, double accuracy, const char* classes);

}  // namespace fovea
