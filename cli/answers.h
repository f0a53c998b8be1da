// What every verb has that answers texts with a model: its flags, and where the answers go.
//
//   Texts texts(options.texts);   Answers answers(options, texts.bytes());
//   answers.expect(1);   answers.line("…");   answers.draw(map);   answers.done(text);   answers.finish();
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"
#include "cli/drawings.h"
#include "cli/progress_line.h"
#include "cli/results.h"
#include "cli/texts.h"
#include "fovea/explain/heat_map.h"
#include "fovea/models/pretrained.h"

namespace fovea {

// What --weights says; empty: what the model's folder does.
LoadOptions load_as(const std::string& weights);
inline constexpr const char* weights_help =
    "as what the weights are used: f32, bf16 or int8; as the folder says, or else f32, if not given";

struct AnswerOptions {
  static constexpr const char* positional = "text";
  std::string model, weights, output, trace;
  bool json = false, show = false, quiet = false;
  TextOptions texts;
  DrawingOptions drawing;

  void fields(Fields& f);
  void complete(const CommandLine& line) { texts.given = line.has("text"); }
  bool drawn() const { return show || drawing.wanted(); }
  LoadOptions load() const { return load_as(weights); }
};

class Answers final {
 public:
  static constexpr size_t most_panels = 16;  // few enough to be looked at

  // An Error at once if --output, --svg and the like cannot be written, or flags do not go together.
  Answers(const AnswerOptions&, std::optional<int64_t> bytes);

  void expect(size_t texts);         // an Error if a picture cannot show as many
  void line(std::string_view text);  // a line break inside becomes a space: one text, one line
  // A line of JSON; with the other fields of the object that the text stands in, if there is one, before those of the answer.
  void json(const std::string& answer, const std::vector<std::string>& objects, size_t number);
  void note(std::string_view text) const;  // on stderr, for a person who looks on
  void write(std::string_view text) { results_.write(text); }
  void draw(const HeatMap& map);                // for --show, --svg and the like; one without cells is passed over
  void show(const std::string& picture) const;  // for --show
  void add_panel(const HeatMap& map);           // for --svg and the like
  void done(std::string_view text);  // for the progress, and as the heading of what was drawn since the last one
  // Files are in their places; with this sheet instead of the panels, if there is one.
  void finish(const std::string& sheet = {});

 private:
  const AnswerOptions& options_;
  Results results_;
  Drawings drawings_;
  std::vector<HeatMap> panels_;
  size_t expected_ = 0, named_ = 0;
  ProgressLine progress_;
};

}  // namespace fovea
