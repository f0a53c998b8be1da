// `fovea explain`: what every attention head of a model looks at.
#include <fmt/format.h>

#include "cli/answers.h"
#include "cli/verb.h"
#include "fovea/explain/answer_json.h"
#include "fovea/explain/report.h"
#include "fovea/formats/matrix_text.h"
#include "fovea/models/pretrained.h"
#include "fovea/models/zoo.h"

namespace fovea::verbs {
namespace {

struct ExplainVerbOptions : AnswerOptions {
  std::string places;
  int64_t head = -1;

  void fields(Fields& f) {
    AnswerOptions::fields(f);
    f("places", places,
      "only these attentions, or those below them, with commas: encoder,decoder.2.cross; all if not given");
    f("head", head, "only the head of this number; -1: all");
  }
};

void run(const ExplainVerbOptions& o) {
  const std::filesystem::path folder = find_model(o.model, "en-de");
  Texts texts(o.texts);
  Answers answers(o, texts.bytes());
  const Pretrained model = load_pretrained(folder, o.load());
  require(o.head >= -1, "--head: found {}, expected the number of a head, or -1 for all", o.head);
  ExplainOptions options;
  if (!o.places.empty()) options.places = split_text(o.places, ',');
  if (o.head >= 0) options.heads = {o.head};
  if (can<Generator>(*model.model)) options.generation = read_generation_config(folder);
  for (std::vector<std::string> some; texts.next(some);) {
    answers.expect(some.size());
    for (size_t i = 0; i < some.size(); ++i) {
      const Report report = explain(*model.model, *model.tokenizer, some[i], options);
      if (o.json)
        answers.json(to_json(report), texts.objects(), i);
      else
        answers.write(to_text(report));
      for (const HeatMap& map : report.maps()) answers.draw(map);
      answers.done(some[i]);
    }
  }
  answers.finish();
}

}  // namespace

extern const Verb explain = {
    .name = "explain",
    .group = "look inside",
    .help = "what every attention head of a model looks at, as a table, pictures or JSON",
    .examples =
        "fovea explain -m my-model \"Where is the station?\"\n"
        "fovea explain -m my-model \"Where is the station?\" --places decoder --svg heads.svg\n"
        "fovea explain -m my-model --places encoder,decoder.0.cross --head 1 --show \"Where is the station?\"\n"
        "fovea explain -m my-classifier \"A wonderful film.\" --json",
    .run = [](const ExplainVerbOptions& o) { run(o); }};

}  // namespace fovea::verbs
