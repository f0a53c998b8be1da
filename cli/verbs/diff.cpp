// `fovea diff`: how far two models, or two precisions of one, depart: layer by layer, head by head, and in what they answer.
#include <fmt/format.h>

#include "cli/answers.h"
#include "cli/verb.h"
#include "fovea/explain/difference.h"
#include "fovea/explain/survey.h"
#include "fovea/generate/config.h"
#include "fovea/models/zoo.h"

namespace fovea::verbs {
namespace {

struct DiffOptions {
  std::vector<std::string> given;  // models, and texts behind them
  std::vector<std::string> weights;
  std::string data, output;
  double tolerance = 0.01;
  bool json = false;

  explicit DiffOptions(CommandLine& line) {
    while (auto next = line.take_first()) given.push_back(std::move(*next));
  }

  void fields(Fields& f) {
    f("weights", weights, "as what the weights are used: of one model two, f32 int8; of two models one for both");
    f("data", data,
      "a file with a text a line, and its translation behind a tab if both are to be told it; some "
      "sentences of everyday language if there are no texts");
    f("tolerance", tolerance, "how far a layer's state may depart, relative to its size, before it counts");
    f("output", output, "file to write instead of stdout");
    f("json", json, "print the numbers as JSON");
  }
};

void run(const DiffOptions& o) {
  require(o.weights.size() <= 2, "--weights: found {} of them, expected at most two", o.weights.size());
  const size_t models = o.weights.size() == 2 ? 1 : 2;
  require(o.given.size() >= models, "fovea diff: found {} models, expected two, or one and --weights f32 int8",
          o.given.size());
  require(o.tolerance >= 0, "--tolerance: found {}, expected 0 or more", o.tolerance);
  const auto precision = [&](size_t i) {
    return o.weights.empty() ? std::string() : o.weights[std::min(i, o.weights.size() - 1)];
  };
  const Pretrained a = load_pretrained(find_model(o.given[0]), load_as(precision(0)));
  const Pretrained b = load_pretrained(find_model(o.given[models - 1]), load_as(precision(1)));
  require(a.tokenizer && b.tokenizer, "fovea diff: found a model that reads no text, expected two that do");
  std::vector<TextPair> texts;
  for (size_t i = models; i < o.given.size(); ++i) texts.push_back({o.given[i]});
  require(o.data.empty() || texts.empty(), "--data: found texts beside it, expected one of them");
  if (!o.data.empty()) texts = read_text_pairs(o.data);
  if (texts.empty()) texts = sample_texts(read_generation_config(a.folder).source_language);
  ModelDifference difference(a, b);
  for (const TextPair& pair : texts) difference.add(pair.source, pair.target);
  const DifferenceReport report = difference.report(o.tolerance);
  Results results(o.output);
  results.write(o.json ? to_json(report) + "\n" : to_text(report, o.tolerance));
  results.finish();
}

}  // namespace

extern const Verb diff = {
    .name = "diff",
    .group = "look inside",
    .help = "how far two models, or two precisions of one, depart: in each layer, in each head, in their answers",
    .examples =
        "fovea diff my-model --weights f32 int8\n"
        "fovea diff my-model \"Where is the station?\" --weights f32 bf16 --tolerance 0.001\n"
        "fovea diff my-classifier my-classifier --data text.txt --json",
    .run = [](const DiffOptions& o) { run(o); }};

}  // namespace fovea::verbs
