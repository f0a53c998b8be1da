// The curves of one or several trainings: loss, each score of the validation, the gradient's variance if it was measured,
// learning rate, all over the steps.
//
//   write_text("curves.svg", to_svg(training_curves({{"", read_log("my-model/log.jsonl")}})));
#pragma once

#include <string>
#include <vector>

#include "fovea/explain/chart.h"
#include "fovea/train/log.h"

namespace fovea {

struct LoggedRun {
  std::string name;  // in the legend; empty if there is only one
  std::vector<LogLine> lines;
};

// A validation's loss stands in the chart of the training's loss, on `scale`; so does the variance in its own.
std::vector<Chart> training_curves(const std::vector<LoggedRun>& runs, Chart::Scale scale = Chart::linear);

}  // namespace fovea
