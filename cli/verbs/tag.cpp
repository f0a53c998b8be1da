// `fovea tag`: a label for each word, and the entities that they make.
#include <fmt/format.h>

#include "cli/answers.h"
#include "cli/terminal.h"
#include "cli/tracing.h"
#include "cli/verb.h"
#include "fovea/data/datasets/conll.h"
#include "fovea/explain/answer_json.h"
#include "fovea/explain/entities.h"
#include "fovea/explain/highlight.h"
#include "fovea/models/pretrained.h"
#include "fovea/models/zoo.h"

namespace fovea::verbs {
namespace {

struct TagVerbOptions : AnswerOptions {
  std::string format = "text";

  void fields(Fields& f) {
    AnswerOptions::fields(f);
    f("format", format, "text, or conll: a token a line, its tag behind the columns that are there already");
  }
};

std::string coloured(const TaggedText& t) {
  std::vector<KindSpan> spans;
  for (const TextEntity& entity : entities_in(t)) spans.push_back({entity.span, entity.type});
  return to_terminal(t.text, spans, terminal_look());
}

void tag_lines(const Pretrained& tagger, const TagVerbOptions& o) {
  if (o.drawn() && can<TokenLabeller>(*tagger.model))
    throw Error(
        Error::unsupported,
        "--show, --svg: found a model whose tokens look at each other in every layer; fovea explain draws them");
  const bool in_colour = o.output.empty() && terminal_look().colour;
  Texts texts(o.texts);
  Answers answers(o, texts.bytes());
  Tracing tracing(o.trace, tagger);
  for (std::vector<std::string> some; texts.next(some);) {
    answers.expect(some.size());
    const auto tagged = tag_texts(tagger, some, {.attention = o.json || o.drawn(), .trace = tracing.begin(some)});
    if (Recorder* r = tracing.recorder()) r->tagged(tagged[0]), tracing.finish(marked(tagged[0]));
    for (size_t i = 0; i < tagged.size(); ++i) {
      if (o.json)
        answers.json(to_json(tagged[i]), texts.objects(), i);
      else
        answers.line(in_colour ? coloured(tagged[i]) : marked(tagged[i]));
      if (o.drawn()) answers.draw(to_heat_map(tagged[i], ""));
      answers.done(tagged[i].text);
    }
  }
  answers.finish();
}

void tag_columns(const Pretrained& tagger, const TagVerbOptions& o) {
  require(!o.json && !o.drawn() && o.trace.empty() && !o.texts.given && o.texts.text.empty() && o.texts.key.empty(),
          "--format conll: found a text, --key, --json, --show, --svg or --trace beside it, which are for texts");
  constexpr size_t enough = 512;
  Answers answers(o, std::nullopt);
  ConllReader reader(o.texts.input);
  for (bool more = true; more;) {
    std::vector<ConllSentence> read;
    std::vector<Sentence> sentences;
    ConllSentence next;
    while (read.size() < enough && (read.empty() || reader.ready()) && (more = reader.next(next))) {
      sentences.push_back(next.column(1));
      read.push_back(std::move(next));
    }
    const std::vector<Tagged> tagged = fovea::tag(tagger, sentences);
    std::string text;
    for (size_t i = 0; i < read.size(); ++i) text += with_column(read[i], tagged[i].labels);
    answers.write(text);
  }
  answers.finish();
}

void run(const TagVerbOptions& o) {
  if (o.format != "text" && o.format != "conll") throw_unknown("--format", o.format, {"text", "conll"});
  const Pretrained tagger = load_pretrained(find_model(o.model, "entities"), o.load());
  if (o.format == "conll") return tag_columns(tagger, o);
  tag_lines(tagger, o);
}

}  // namespace

extern const Verb tag = {.name = "tag",
                         .group = "use",
                         .help = "names, places and other entities in text, or whatever else a tagger learned to label",
                         .examples =
                             "fovea tag -m my-tagger \"Angela Merkel visited Paris.\" --show\n"
                             "fovea tag -m my-tagger < text.txt\n"
                             "fovea tag -m my-tagger --format conll < test.conll > output.conll\n"
                             "fovea tag -m my-tagger \"Angela Merkel visited Paris.\" --json --svg attention.svg",
                         .run = [](const TagVerbOptions& o) { run(o); }};

}  // namespace fovea::verbs
