// `fovea fill`: the words that may stand where a text has a mask.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/answers.h"
#include "cli/tracing.h"
#include "cli/verb.h"
#include "fovea/generate/fill.h"
#include "fovea/generate/framed.h"
#include "fovea/models/zoo.h"

namespace fovea::verbs {
namespace {

struct FillVerbOptions {
  static constexpr const char* positional = "text";
  std::string model, weights, output, trace;
  int64_t top = 5;
  bool json = false, quiet = false;
  TextOptions texts;

  void fields(Fields& f) {
    texts.fields(f);
    f("model", model, "the folder of a model that was trained with masks, such as BERT");
    f("weights", weights, weights_help);
    f("output", output, "file to write instead of stdout");
    f("top", top, "words for each gap");
    f("json", json, "print an object a line, with the filled texts");
    f("trace", trace, trace_help);
    f("quiet", quiet, "no progress on stderr");
  }
  void complete(const CommandLine& line) { texts.given = line.has("text"); }
};

std::string line_of(const Filled& f) {
  std::string line;
  for (const Gap& gap : f.gaps) {
    if (!line.empty()) line += "\t|\t";
    for (size_t i = 0; i < gap.choices.size(); ++i)
      line += fmt::format("{}{}\t{:.4f}", i == 0 ? "" : "\t", gap.choices[i].token, gap.choices[i].probability);
  }
  return line;
}

std::string json_of(const Filled& f) {
  nlohmann::ordered_json json = {{"text", f.text}, {"gaps", nlohmann::ordered_json::array()}};
  for (const Gap& gap : f.gaps) {
    nlohmann::ordered_json choices = nlohmann::ordered_json::array();
    for (const Choice& c : gap.choices)
      choices.push_back({{"token", c.token}, {"probability", c.probability}, {"text", c.text}});
    json["gaps"].push_back({{"span", {gap.span.begin, gap.span.end}}, {"choices", choices}});
  }
  return json.dump();
}

void run(const FillVerbOptions& o) {
  require(o.top >= 1 && o.top <= 100000, "--top: found {}, expected 1 to 100,000", o.top);
  require(!o.model.empty(), "fovea fill: found no --model, expected the folder of one that was trained with masks");
  Texts texts(o.texts);
  AnswerOptions shown;
  shown.output = o.output, shown.quiet = o.quiet;
  Answers answers(shown, texts.bytes());
  const Pretrained model = load_pretrained(find_model(o.model), load_as(o.weights));
  const GapFiller& filler = model.as<GapFiller>();
  Tracing tracing(o.trace, model);
  for (std::vector<std::string> some; texts.next(some);) {
    Trace* const trace = tracing.begin(some);
    for (const std::string& text : some) {
      const Filled f = fovea::fill(filler, *model.tokenizer, {text}, o.top, trace)[0];
      if (Recorder* r = tracing.recorder())
        r->read(framed(*model.tokenizer, f.text, std::nullopt, filler.longest()).tokens, f.text),
            tracing.finish(line_of(f));
      answers.line(o.json ? json_of(f) : line_of(f));
      answers.done(text);
    }
  }
  answers.finish();
}

}  // namespace

extern const Verb fill = {.name = "fill",
                          .group = "use",
                          .help = "the words that may stand where a text has [MASK], with their probabilities",
                          .examples =
                              "fovea fill -m my-masked \"The capital of France is [MASK].\"\n"
                              "fovea fill -m my-masked --top 3 --json \"[MASK] is the capital of [MASK].\"",
                          .run = [](const FillVerbOptions& o) { run(o); }};

}  // namespace fovea::verbs
