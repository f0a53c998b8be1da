// `fovea generate`: a language model goes on with a text.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/interrupt.h"
#include "cli/results.h"
#include "cli/texts.h"
#include "cli/tracing.h"
#include "cli/verb.h"
#include "cli/writing.h"
#include "fovea/generate/continue.h"

namespace fovea::verbs {
namespace {

struct GenerateOptions : WritingOptions {
  static constexpr const char* positional = "text";
  TextOptions texts;
  std::string output, trace;
  bool json = false, logprobs = false;
  int64_t samples = 0;

  explicit GenerateOptions(const CommandLine& line) : WritingOptions(line, "plays") {}
  void fields(Fields& f) {
    texts.fields(f);
    f("output", output, "file to write instead of stdout");
    f("trace", trace, trace_help);
    f("json", json, "print each text with its score and why it ends as JSON, one object a line");
    f("logprobs", logprobs, "JSON with the log-probability of every token, too");
    f("samples", samples, "so many texts drawn for each prompt: --sample with --n-best");
    WritingOptions::fields(f);
  }
  void complete(const CommandLine& line) {
    texts.given = line.has("text");
    json = json || logprobs;
    require(samples >= 0, "--samples: found {}, expected 0 or more", samples);
    if (samples > 0) generation.sample = true, generation.n_best = samples;
    WritingOptions::complete(line);
  }
};

std::string to_json(const std::string& prompt, const Continuation& c, bool tokens) {
  nlohmann::ordered_json json = {{"prompt", prompt}, {"text", c.text}, {"score", c.score}, {"stop", name(c.stop)}};
  for (size_t i = 0; tokens && i < c.ids.size(); ++i)
    json["tokens"].push_back({{"id", c.ids[i]},
                              {"bytes", {c.tokens[i].begin, c.tokens[i].end}},
                              {"log_probability", c.log_probabilities[i]}});
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

void run(const GenerateOptions& o) {
  Texts texts(o.texts);
  Results results(o.output);
  const Pretrained model = o.load();
  const Generator& writer = model.as<Generator>();
  const bool pictures = can<PictureEncoder>(*model.model);
  require(!can<Encoder>(*model.model) && !pictures,
          "{}: found a model that reads a source, expected a language model; use fovea {}", model.folder.string(),
          pictures ? "caption" : "translate");
  // One text is written as it comes; of many each gets a line, and they are worked on together.
  const bool streams =
      o.texts.given && !o.json && o.trace.empty() && o.generation.beam_size == 1 && o.generation.n_best == 1;
  std::optional<CtrlC> ctrl_c;
  ContinueOptions options = {.stops = o.stop};
  if (streams) {
    ctrl_c.emplace();
    options.on_text = [&](std::string_view more) { results.write(more); };
    options.interrupted = [&] { return ctrl_c->pressed(); };
  }
  Tracing tracing(o.trace, model);
  for (std::vector<std::string> some; texts.next(some);) {
    options.trace = tracing.begin(some);
    options.on_result = [&](size_t i, const std::vector<Continuation>& found) {
      for (const Continuation& c : found) {
        std::string line = o.json ? to_json(some[i], c, o.logprobs) : streams ? "" : c.text;
        if (!o.texts.given) std::replace(line.begin(), line.end(), '\n', ' ');
        results.write(line + "\n");
      }
    };
    const auto found = continue_texts(writer, *model.tokenizer, some, o.generation, options);
    if (Recorder* r = tracing.recorder()) {
      r->continued(prompt_ids(writer, *model.tokenizer, some[0]), found[0][0]);
      tracing.finish(found[0][0].text);
    }
  }
  results.finish();
}

}  // namespace

extern const Verb generate = {
    .name = "generate",
    .group = "use",
    .help = "go on with a text by a language model",
    .examples =
        "fovea generate \"My lord,\"\n"
        "fovea generate -m my-language-model \"The sailor\"\n"
        "fovea generate -m my-language-model --sample --temperature 0.8 --top-p 0.9 --seed 7 \"The sailor\"\n"
        "fovea generate -m my-language-model --max-length 20 --stop . --stop \"on day\" \"The sailor\"\n"
        "fovea generate -m my-language-model --samples 3 --min-p 0.05 --json \"The sailor\"\n"
        "fovea generate -m my-language-model -i text.txt --max-length 4 --logprobs -o output.jsonl",
    .run = [](const GenerateOptions& o) { run(o); }};

}  // namespace fovea::verbs
