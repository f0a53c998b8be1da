// `fovea tag`: a label for each word, and the entities that they make.
#include <fmt/format.h>

#include "cli/answers.h"
#include "cli/verb.h"
#include "fovea/data/datasets/dataset.h"
#include "fovea/explain/answer_json.h"
#include "fovea/explain/entities.h"
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

void tag_lines(const Pretrained& model, const TagVerbOptions& o) {
  Texts texts(o.texts);
  Answers answers(o, texts.bytes());
  for (std::vector<std::string> some; texts.next(some);) {
    answers.expect(some.size());
    for (const TaggedText& t : tag_texts(model.as<WordLabeller>(), words_of(model), some, {.attention = o.json || o.drawn()})) {
      answers.line(o.json ? to_json(t) : marked(t));
      if (o.drawn()) answers.draw(to_heat_map(t, ""));
      answers.done(t.text);
    }
  }
  answers.finish();
}

// A line of a file in columns, and its word if it has one.
struct ColumnLine {
  std::string text;
  int64_t sentence = -1, word = -1;
};

// Lines up to the end of a sentence after which nothing is there yet, or of enough sentences; false at the end.
bool read_sentences(Lines& lines, std::vector<ColumnLine>& read, std::vector<Sentence>& sentences) {
  constexpr size_t enough = 512;
  read.clear(), sentences.clear();
  bool inside = false;
  for (std::string line; lines.next(line);) {
    read.push_back({line});
    const std::vector<std::string_view> columns = conll_columns(line);
    const bool blank = columns.empty() || columns[0].empty();
    if (blank || line.starts_with("-DOCSTART-")) {
      inside = false;
      if (sentences.size() >= enough || (!sentences.empty() && !lines.ready())) return true;
      continue;
    }
    if (!inside) sentences.emplace_back();
    inside = true;
    read.back().sentence = static_cast<int64_t>(sentences.size()) - 1;
    read.back().word = static_cast<int64_t>(sentences.back().size());
    sentences.back().emplace_back(columns[0]);
  }
  return !read.empty();
}

void tag_columns(const Pretrained& model, const TagVerbOptions& o) {
  require(!o.json && !o.drawn() && o.texts.text.empty() && o.texts.key.empty(),
          "--format conll: found a text, --key, --json, --show or --svg beside it, which are for texts");
  Answers answers(o, std::nullopt);
  Lines lines(o.texts.input);
  std::vector<ColumnLine> read;
  std::vector<Sentence> sentences;
  while (read_sentences(lines, read, sentences)) {
    const std::vector<Tagged> tagged = tag(model.as<WordLabeller>(), words_of(model), sentences);
    std::string text;
    for (const ColumnLine& line : read) {
      text += line.text;
      if (line.word >= 0) {
        text += line.text.find('\t') == std::string::npos ? ' ' : '\t';
        text += tagged[static_cast<size_t>(line.sentence)].labels[static_cast<size_t>(line.word)];
      }
      text += '\n';
    }
    answers.write(text);
  }
  answers.finish();
}

void run(const TagVerbOptions& o) {
  if (o.format != "text" && o.format != "conll") throw_unknown("--format", o.format, {"text", "conll"});
  const Pretrained model = load_pretrained(find_model(o.model, "entities"));
  if (o.format == "conll") return tag_columns(model, o);
  tag_lines(model, o);
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
