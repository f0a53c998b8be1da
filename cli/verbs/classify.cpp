// `fovea classify`: a label for each text, with its probability and the words that decided.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "cli/answers.h"
#include "cli/models.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "fovea/explain/alignment.h"
#include "fovea/explain/answer_json.h"
#include "fovea/explain/highlight.h"
#include "fovea/models/checkpoint.h"

namespace fovea::verbs {
namespace {

struct ClassifyVerbOptions : AnswerOptions {
  bool all = false;

  void fields(Fields& f) {
    AnswerOptions::fields(f);
    f("all", all, "print every label and its probability in the line, the most probable first");
  }
};

std::string label_line(const Classified& c, const std::vector<std::string>& labels, bool all) {
  std::vector<size_t> order(labels.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return c.probabilities[a] > c.probabilities[b]; });
  if (!all) order = {c.best};
  std::string line;
  for (size_t i : order) line += fmt::format("{}{}\t{:.4f}", line.empty() ? "" : "\t", labels[i], c.probabilities[i]);
  return line;
}

void draw(const std::string& text, const Classified& c, const std::string& title, Answers& answers) {
  if (c.weights.empty())
    throw Error(Error::unsupported, "--show, --svg: the model does not know how much each word counted");
  const Highlight highlight = {text, words_of(text), by_words({text, c.tokens}, c.weights)};
  answers.show(to_terminal(highlight, terminal_look()));
  answers.add_panel(to_heat_map(highlight, title));
}

void run(const ClassifyVerbOptions& o) {
  require(!o.json || !o.all, "--json: found --all beside it, expected one of them; the JSON holds all labels");
  const std::filesystem::path folder = find_model(o.model, "sentiment");
  Texts texts(o.texts);
  Answers answers(o, texts.bytes());
  const auto model = load_model_as<ClassifierModel>(folder);
  const std::unique_ptr<Tokenizer> tokenizer = load_tokenizer(folder);
  const std::vector<std::string>& labels = model->labels();
  for (std::vector<std::string> some; texts.next(some);) {
    answers.expect(some.size());
    const std::vector<Classified> found = classify(*model, *tokenizer, some, {.weights = o.json || o.drawn()});
    for (size_t i = 0; i < some.size(); ++i) {
      const std::string line = label_line(found[i], labels, o.all);
      answers.line(o.json ? to_json(some[i], found[i], labels) : line);
      if (o.drawn()) draw(some[i], found[i], line, answers);
      answers.done(some[i]);
    }
  }
  answers.finish();
}

}  // namespace

extern const Verb classify = {.name = "classify",
                              .group = "use",
                              .help = "the label of a text (its sentiment, its topic), and the words that decided",
                              .examples =
                                  "fovea classify -m my-classifier \"A wonderful film.\" --show\n"
                                  "fovea classify -m my-classifier < text.txt > labels.tsv\n"
                                  "fovea classify -m my-classifier --all -i text.txt.gz\n"
                                  "fovea classify -m my-classifier \"A wonderful film.\" --json --svg words.svg",
                              .run = [](const ClassifyVerbOptions& o) { run(o); }};

}  // namespace fovea::verbs
