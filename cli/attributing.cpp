#include "cli/attributing.h"

#include <fmt/ranges.h>

#include "cli/terminal.h"
#include "fovea/base/file.h"
#include "fovea/base/text.h"
#include "fovea/explain/faithfulness.h"
#include "fovea/explain/record_file.h"
#include "fovea/formats/matrix_text.h"
#include "fovea/generate/config.h"
#include "fovea/models/zoo.h"
#include "fovea/serve/page.h"

namespace fovea {
namespace {

std::vector<std::string> known_methods() {
  std::vector<std::string> names;
  for (const Method* m : methods_named({"all"})) names.emplace_back(m->name);
  return names;
}

// The texts of data sets in any format that the model's own task reads, without their labels.
std::vector<std::string> texts_of(const std::vector<std::string>& paths, const Model& model) {
  const bool words = can<WordLabeller>(model) || can<TokenLabeller>(model);
  const ExampleKind kind = can<TextLabeller>(model) ? ExampleKind::labelled
                           : words                  ? ExampleKind::tagged
                           : can<Encoder>(model)    ? ExampleKind::pairs
                                                    : ExampleKind::texts;
  Dataset data;
  for (const std::string& path : paths) read_file(path, kind, data);
  std::vector<std::string> texts;
  for (int64_t i = 0; i < data.size(); ++i) {
    const Example e = data[i];
    texts.push_back(words ? fmt::format("{}", fmt::join(e.tokens, " ")) : e.source);
  }
  return texts;
}

class Attributing final {
 public:
  Attributing(const AnswerOptions& o, const AttributeOptions& a, const std::vector<std::string>& data,
              const std::string& html)
      : o_(o), a_(a), data_(data), html_(html), model_(load_pretrained(find_model(o.model, "en-de"), o.load())) {
    require_texts(model_, "--method, --check");
    require(o.trace.empty(), "--trace: found --method or --check beside it, expected one of them");
    method_.steps = a.steps, method_.erasing = erasing_named(a.erase);
    names_ = split_text(a.method.empty() ? "all" : a.method, ',');
    methods_named(names_);
    ask_.answer = a.answer;
    if (can<Generator>(*model_.model)) ask_.generation = read_generation_config(model_.folder);
  }

  void run() {
    if (!data_.empty()) {
      require(!o_.texts.given, "--data: found a text beside it, expected one of them");
      const std::vector<std::string> all = texts_of(data_, *model_.model);
      int64_t bytes = 0;
      for (const std::string& text : all) bytes += static_cast<int64_t>(text.size()) + 1;
      Answers answers(o_, bytes);
      answers.expect(o_.drawing.wanted() ? all.size() : 0);
      for (const std::string& text : all) one(text, answers, {}, 0);
      return finish(answers);
    }
    Texts texts(o_.texts);
    Answers answers(o_, texts.bytes());
    for (std::vector<std::string> some; texts.next(some);) {
      answers.expect(some.size());
      for (size_t i = 0; i < some.size(); ++i) one(some[i], answers, texts.objects(), i);
    }
    finish(answers);
  }

 private:
  void one(const std::string& text, Answers& answers, const std::vector<std::string>& objects, size_t number) {
    if (trim(text).empty() && a_.check) return answers.done(text);
    const auto question = ask(*model_.model, *model_.tokenizer, text, ask_);
    if (a_.check && question->text().words.empty()) return answers.done(text);
    const Attributions found = attribute(*question, names_, method_);
    std::optional<Faithfulness> checked;
    if (a_.check) {
      checked = check(*question, found, {.erasing = method_.erasing, .method = method_});
      mean_.add(*checked);
    }
    if (!a_.check) {
      if (o_.json)
        answers.json(to_json(found), objects, number);
      else if (stdout_is_terminal() && o_.output.empty())
        answers.write(to_terminal(found, terminal_look()));
      else
        answers.write(to_text(found));
    }
    if (o_.drawing.wanted()) pictures_.push_back(found);
    if (!html_.empty()) told(text, found, checked);
    answers.done(text);
  }

  // A page shows what the model attended to as well, if that is what it does.
  void told(const std::string& text, const Attributions& found, const std::optional<Faithfulness>& checked) {
    require(pages_.size() < Answers::most_panels, "--html: found more than {} texts, expected at most as many",
            Answers::most_panels);
    Recording seen = record(*model_.model, *model_.tokenizer, text, {.generation = ask_.generation});
    name_model(seen, model_);
    pages_.push_back(page_json(seen, static_cast<int64_t>(pages_.size()), most_page_weights,
                               {to_json(found), checked ? to_json(*checked) : ""}));
  }

  void finish(Answers& answers) {
    if (a_.check) {
      const Faithfulness f = mean_.mean();
      require(f.texts > 0, "--check: found no text with words, expected some");
      if (o_.json)
        answers.line(to_json(f));
      else
        answers.write(to_text(f));
    }
    if (!html_.empty()) write_text(html_, page({.told = pages_}));
    answers.finish(o_.drawing.wanted() ? to_svg(pictures_) : "");
  }

  const AnswerOptions& o_;
  const AttributeOptions& a_;
  const std::vector<std::string>& data_;
  const std::string& html_;
  Pretrained model_;
  MethodOptions method_;
  AskOptions ask_;
  std::vector<std::string> names_, pages_;
  FaithfulnessMean mean_;
  std::vector<Attributions> pictures_;
};

}  // namespace

void AttributeOptions::fields(Fields& f) {
  f("method", method,
    fmt::format("how much each word counted for the answer, by methods with commas, or all: {}",
                fmt::join(known_methods(), ", "))
        .c_str());
  f("answer", answer,
    "with --method or --check, which answer: a label; a word or its number, perhaps with a tag behind a colon; the "
    "number of a token "
    "that is written; the model's own if not given");
  f("check", check,
    "erase the words that each method ranks highest, and lowest, and random ones, and tell how far the answer's "
    "probability falls");
  f("erase", erase, "how words are erased: replace, by the mask or the unknown token, or remove");
  f("steps", steps, "of integrated gradients at first; doubled until the scores add up");
}

void attribute_texts(const AnswerOptions& o, const AttributeOptions& a, const std::vector<std::string>& data,
                     const std::string& html) {
  Attributing(o, a, data, html).run();
}

}  // namespace fovea
