#include "cli/answers.h"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/terminal.h"
#include "cli/tracing.h"
#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/base/text.h"

namespace fovea {

LoadOptions load_as(const std::string& weights) {
  LoadOptions options;
  if (!weights.empty()) options.precision = parse_precision(weights);
  options.note = [](const std::string& line) { fmt::print(stderr, "{}\n", printable(line)); };
  return options;
}

void AnswerOptions::fields(Fields& f) {
  texts.fields(f);
  f("model", model, "the folder of a model, or the name of one that ships");
  f("weights", weights, weights_help);
  f("output", output, "file to write instead of stdout");
  f("json", json, "print everything with spans and weights as JSON, one object a line");
  f("show", show, "draw the attention in the terminal");
  drawing.fields(f, fmt::format("the attention for up to {} texts", Answers::most_panels));
  f("trace", trace, trace_help);
  f("quiet", quiet, "no progress on stderr");
}

Answers::Answers(const AnswerOptions& o, std::optional<int64_t> bytes)
    : options_(o),
      results_(o.output),
      drawings_(o.drawing),
      progress_({.unit = "texts", .whole = bytes, .quiet = o.quiet || (o.output.empty() && stdout_is_terminal())}) {
  require(!o.json || !o.show, "--json: found --show beside it, expected one of them; the JSON holds the weights");
}

void Answers::expect(size_t texts) {
  expected_ += texts;
  require(!drawings_.wanted() || expected_ <= most_panels,
          "--svg, --png, --pdf: found more than {} texts, expected at most as many", most_panels);
}

void Answers::line(std::string_view text) {
  std::string line(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  results_.write(line + "\n");
}

void Answers::json(const std::string& answer, const std::vector<std::string>& objects, size_t number) {
  using Json = nlohmann::ordered_json;
  if (number >= objects.size()) return line(answer);
  Json all = parse_json<Json>(objects[number], "--key");
  all.update(Json::parse(answer));
  line(all.dump());
}

void Answers::note(std::string_view text) const {
  if (!options_.quiet && isatty(STDERR_FILENO) == 1) fmt::print(stderr, "\r\x1b[K{}\n", printable(text));
}

void Answers::draw(const HeatMap& map) {
  if (map.values.empty()) return;
  if (options_.show) show(to_terminal(map, terminal_look()));
  add_panel(map);
}

void Answers::show(const std::string& picture) const {
  if (options_.show) fmt::print("{}\n", picture);
}

void Answers::add_panel(const HeatMap& map) {
  if (drawings_.wanted() && !map.values.empty()) panels_.push_back(map);
}

void Answers::done(std::string_view text) {
  for (; named_ < panels_.size(); ++named_) panels_[named_].heading = text;
  progress_.add(1, static_cast<int64_t>(text.size()) + 1);
}

void Answers::finish(const std::string& sheet) {
  if (drawings_.wanted()) drawings_.write(sheet.empty() ? to_svg(panels_) : sheet);
  results_.finish();
}

}  // namespace fovea
