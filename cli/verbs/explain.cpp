// `fovea explain`: what every attention head of a model looks at.
#include <fmt/format.h>

#include <algorithm>

#include "cli/answers.h"
#include "cli/attributing.h"
#include "cli/heads.h"
#include "cli/verb.h"
#include "fovea/base/file.h"
#include "fovea/explain/answer_json.h"
#include "fovea/explain/report.h"
#include "fovea/explain/trace_file.h"
#include "fovea/formats/matrix_text.h"
#include "fovea/models/pretrained.h"
#include "fovea/models/zoo.h"
#include "fovea/serve/page.h"

namespace fovea::verbs {
namespace {

struct ExplainVerbOptions : AnswerOptions {
  std::string places, html;
  std::vector<std::string> data;
  int64_t head = -1;
  HeadOptions heads;
  AttributeOptions words;

  void fields(Fields& f) {
    AnswerOptions::fields(f);
    f("places", places,
      "only these attentions, or those below them, with commas: encoder,decoder.2.cross; all if not given");
    f("html", html, "write a page into this file that shows it all in a browser, without a program or a network");
    f("head", head, "only the head of this number; -1: all");
    heads.fields(f);
    words.fields(f);
    f("data", data,
      "the texts: with --method or --check data sets in any format that `train` reads; with --heads, "
      "--find-alignment-heads or --word a file with a text a line, its translation behind a tab if there is one");
  }
};

bool is_long(const Recording& seen) {
  return std::any_of(seen.sequences.begin(), seen.sequences.end(),
                     [](const auto& s) { return s.second.size() > most_explained_tokens; });
}

void run(const ExplainVerbOptions& o) {
  if (o.heads.asked()) {
    require(o.data.size() < 2, "--data: found {} files, expected one with --heads, --find-alignment-heads or --word",
            o.data.size());
    return run_heads(o.heads, o, o.data.empty() ? "" : o.data[0]);
  }
  if (o.words.wanted()) return attribute_texts(o, o.words, o.data, o.html);
  require(o.data.empty(),
          "--data: found it alone, expected --heads, --find-alignment-heads, --word, --method or --check beside it");
  const std::filesystem::path folder = find_model(o.model, "en-de");
  Texts texts(o.texts);
  Answers answers(o, texts.bytes());
  const Pretrained model = load_pretrained(folder, o.load());
  require(o.head >= -1, "--head: found {}, expected the number of a head, or -1 for all", o.head);
  ExplainOptions options;
  if (!o.places.empty()) options.places = split_text(o.places, ',');
  if (o.head >= 0) options.heads = {o.head};
  if (can<Generator>(*model.model)) options.generation = read_generation_config(folder);
  std::vector<Recording> pages;
  size_t traced = 0;
  for (std::vector<std::string> some; texts.next(some);) {
    answers.expect(some.size());
    for (size_t i = 0; i < some.size(); ++i) {
      Recording seen = record(*model.model, *model.tokenizer, some[i], options);
      name_model(seen, model);
      if (!o.trace.empty()) {
        require(some.size() == 1 && traced++ == 0, "--trace: found several texts, expected one; give it in quotes");
        write_trace(o.trace, seen);
      }
      // Of a long text a table and pictures would have too many lines: a file or a page was asked for.
      if (is_long(seen) && (!o.trace.empty() || !o.html.empty())) {
        answers.line(seen.answer);
        answers.done(some[i]);
        if (!o.html.empty()) pages.push_back(std::move(seen));
        continue;
      }
      const Report report = report_of(seen);
      if (!o.html.empty()) pages.push_back(std::move(seen));
      if (o.json)
        answers.json(to_json(report), texts.objects(), i);
      else
        answers.write(to_text(report));
      for (const HeatMap& map : report.maps()) answers.draw(map);
      answers.done(some[i]);
    }
  }
  if (!o.html.empty()) {
    require(pages.size() <= Answers::most_panels, "--html: found {} texts, expected at most {}", pages.size(),
            Answers::most_panels);
    write_text(o.html, page({.recordings = pages}));
  }
  answers.finish();
}

}  // namespace

extern const Verb explain = {
    .name = "explain",
    .group = "look inside",
    .help =
        "what every attention head of a model looks at, and which words an answer comes from, as a table, pictures or "
        "JSON",
    .examples =
        "fovea explain -m my-model \"Where is the station?\"\n"
        "fovea explain -m my-model \"Where is the station?\" --places decoder --svg heads.svg\n"
        "fovea explain -m my-model --places encoder,decoder.0.cross --head 1 --show \"Where is the station?\"\n"
        "fovea explain -m my-model \"Where is the station?\" --html station.html\n"
        "fovea explain -m my-model \"Where is the station?\" --trace station.safetensors\n"
        "fovea explain -m my-classifier \"A wonderful film.\" --json\n"
        "fovea explain -m my-model --heads --svg map.svg\n"
        "fovea explain -m my-model --find-alignment-heads --data pairs.tsv --save\n"
        "fovea explain -m my-classifier \"A wonderful film.\" --method all\n"
        "fovea explain -m my-classifier --check \"A wonderful film.\"",
    .run = [](const ExplainVerbOptions& o) { run(o); }};

}  // namespace fovea::verbs
