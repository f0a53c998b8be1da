#include "fovea/explain/curves.h"

#include <algorithm>

namespace fovea {
namespace {

using Part = LogLine::Numbers LogLine::*;

// What the lines say under one name.
Series series_of(const LoggedRun& run, Part part, const std::string& key) {
  Series series;
  for (const LogLine& line : run.lines) {
    for (const auto& [name, value] : line.*part) {
      if (name != key) continue;
      series.x.push_back(static_cast<double>(line.step));
      series.y.push_back(value);
    }
  }
  return series;
}

std::string joined(const std::string& run, const std::string& what) {
  return run.empty() || what.empty() ? run + what : run + ", " + what;
}

std::vector<std::string> score_names(const std::vector<LoggedRun>& runs) {
  std::vector<std::string> names;
  for (const LoggedRun& run : runs) {
    for (const LogLine& line : run.lines) {
      for (const auto& [name, value] : line.validation) {
        if (name != "loss" && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
      }
    }
  }
  return names;
}

class Curves {
 public:
  Curves(std::string title, Chart::Scale scale)
      : chart_{.title = std::move(title), .x_label = "step", .series = {}, .scale = scale} {}

  void add(const LoggedRun& run, Part part, const std::string& key, const std::string& what) {
    Series series = series_of(run, part, key);
    series.name = joined(run.name, what);
    if (!series.x.empty()) chart_.series.push_back(std::move(series));
  }
  void finish(std::vector<Chart>& charts) && {
    if (!chart_.series.empty()) charts.push_back(std::move(chart_));
  }

 private:
  Chart chart_;
};

}  // namespace

std::vector<Chart> training_curves(const std::vector<LoggedRun>& runs, Chart::Scale scale) {
  std::vector<Chart> charts;
  Curves loss("loss", scale);
  for (const LoggedRun& run : runs) {
    loss.add(run, &LogLine::numbers, "loss", "training");
    loss.add(run, &LogLine::validation, "loss", "validation");
  }
  std::move(loss).finish(charts);
  for (const std::string& name : score_names(runs)) {
    Curves score(name, Chart::linear);
    for (const LoggedRun& run : runs) score.add(run, &LogLine::validation, name, "");
    std::move(score).finish(charts);
  }
  Curves variance("gradient variance", scale);
  for (const LoggedRun& run : runs) variance.add(run, &LogLine::numbers, "gradient_variance", "");
  std::move(variance).finish(charts);
  Curves rate("learning rate", Chart::linear);
  for (const LoggedRun& run : runs) rate.add(run, &LogLine::numbers, "learning_rate", "");
  std::move(rate).finish(charts);
  return charts;
}

}  // namespace fovea
