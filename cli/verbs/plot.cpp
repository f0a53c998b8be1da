#include <cstdio>
#include <iostream>
#include <iterator>

#include "cli/verb.h"
#include "fovea/explain/curves.h"

namespace fovea::verbs {
namespace {

struct PlotOptions {
  static constexpr const char* positional = "logs";
  std::vector<std::string> logs;
  std::string output;
  bool log_scale = false;
  void fields(Fields& f) {
    f("logs", logs, "logs of trainings (log.jsonl) or the folders that hold them; - reads stdin");
    f("output", output, "SVG file to write; stdout if not given");
    f("log_scale", log_scale, "draw the loss on a logarithmic scale");
  }
};

LoggedRun read_run(const std::string& path) {
  if (path == "-") {
    const std::string text{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
    return {"stdin", parse_log(text, "stdin")};
  }
  std::filesystem::path file = path;
  if (std::filesystem::is_directory(file)) file /= "log.jsonl";
  // Trainings are told apart by their folders, since their logs all have one name.
  const std::string folder = std::filesystem::absolute(file).parent_path().filename().string();
  return {file.filename() == "log.jsonl" ? folder : file.filename().string(), read_log(file)};
}

}  // namespace

extern const Verb plot = {
    .name = "plot",
    .group = "train",
    .help = "the curves of a training: loss, scores and learning rate as SVG",
    .examples = "fovea plot my-model/log.jsonl -o curves.svg\nfovea plot first second --log-scale > both.svg",
    .run = [](const PlotOptions& o) {
      require(!o.logs.empty(), "fovea plot: found no log, expected the log.jsonl of a training");
      std::vector<LoggedRun> runs;
      for (const std::string& path : o.logs) runs.push_back(read_run(path));
      if (runs.size() == 1) runs[0].name = "";
      const std::vector<Chart> charts = training_curves(runs, o.log_scale ? Chart::logarithmic : Chart::linear);
      require(!charts.empty(), "{}: found no loss, score or learning rate, expected the log.jsonl of a training",
              o.logs[0]);
      const std::string svg = to_svg(charts);
      if (o.output.empty())
        std::fwrite(svg.data(), 1, svg.size(), stdout);
      else
        write_text(o.output, svg);
    }};

}  // namespace fovea::verbs
