#include <cstdio>
#include <iostream>
#include <iterator>

#include "cli/verb.h"
#include "fovea/explain/curves.h"
#include "fovea/explain/drawing.h"

namespace fovea::verbs {
namespace {

struct PlotOptions {
  static constexpr const char* positional = "logs";
  std::vector<std::string> logs;
  std::string output, title;
  bool log_scale = false;
  void fields(Fields& f) {
    f("logs", logs,
      "logs of trainings (log.jsonl) or the folders that hold them, - reads stdin; or tables (.tsv): names in the "
      "first "
      "line, x in the first column");
    f("output", output, "file to write, SVG or by its ending PNG or PDF; SVG to stdout if not given");
    f("title", title, "of the chart of a table; its file's name if not given");
    f("log_scale", log_scale, "draw the loss, the gradient's variance, or a table on a logarithmic scale");
  }
};

LoggedRun read_run(const std::string& path) {
  if (path == "-") {
    const std::string text{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
    return {"stdin", parse_log(text, "stdin")};
  }
  require(!path.empty(), "fovea plot: found an empty name, expected the log.jsonl of a training");
  std::filesystem::path file = path;
  if (is_folder(file)) file /= "log.jsonl";
  // Trainings are told apart by their folders, since their logs all have one name.
  std::error_code failure;
  const std::string folder = std::filesystem::absolute(file, failure).parent_path().filename().string();
  return {file.filename() == "log.jsonl" ? folder : file.filename().string(), read_log(file)};
}

std::vector<Chart> charts_of_tables(const PlotOptions& o) {
  require(o.title.empty() || o.logs.size() == 1, "--title: found {} tables, expected one", o.logs.size());
  std::vector<Chart> charts;
  for (const std::string& path : o.logs) {
    require(path.ends_with(".tsv"), "{}: found a log beside a table (.tsv), expected one kind", path);
    charts.push_back(chart_of_table(read_text(path), path));
    charts.back().title = o.title.empty() ? std::filesystem::path(path).stem().string() : o.title;
    charts.back().scale = o.log_scale ? Chart::logarithmic : Chart::linear;
  }
  return charts;
}

std::vector<Chart> charts_of_logs(const PlotOptions& o) {
  require(o.title.empty(), "--title: found a log, expected a table (.tsv); the charts of a log have titles");
  std::vector<LoggedRun> runs;
  for (const std::string& path : o.logs) runs.push_back(read_run(path));
  if (runs.size() == 1) runs[0].name = "";
  std::vector<Chart> charts = training_curves(runs, o.log_scale ? Chart::logarithmic : Chart::linear);
  require(!charts.empty(), "{}: found no loss, score or learning rate, expected the log.jsonl of a training",
          o.logs[0]);
  return charts;
}

}  // namespace

extern const Verb plot = {
    .name = "plot",
    .group = "train",
    .help = "the curves of a training: loss, scores and learning rate as SVG, PNG or PDF",
    .examples =
        "fovea plot my-model/log.jsonl -o curves.svg\nfovea plot first second --log-scale > both.svg\n"
        "fovea plot table.tsv --title \"BLEU by length\" -o lengths.pdf",
    .run = [](const PlotOptions& o) {
      require(!o.logs.empty(), "fovea plot: found no log, expected the log.jsonl of a training");
      const std::string svg = to_svg(o.logs[0].ends_with(".tsv") ? charts_of_tables(o) : charts_of_logs(o));
      if (o.output.empty())
        std::fwrite(svg.data(), 1, svg.size(), stdout);
      else
        write_drawing(o.output, svg);
    }};

}  // namespace fovea::verbs
