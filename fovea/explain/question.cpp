#include "fovea/explain/question.h"

#include <algorithm>
#include <cmath>

#include "fovea/explain/alignment.h"
#include "fovea/explain/shown_pieces.h"

namespace fovea {
namespace {

constexpr size_t most_batch_tokens = 2048;  // of texts that are asked together

// The mask, the unknown token, the end: the first that the vocabulary has.
int64_t saying_nothing(const Tokenizer& tokenizer) {
  const SpecialIds& s = tokenizer.special();
  for (int64_t id : {s.mask, s.unk, s.eos, s.pad})
    if (id >= 0) return id;
  return -1;
}

}  // namespace

Erasing erasing_named(const std::string& name) {
  if (name == "replace") return Erasing::replace;
  require(name == "remove", "--erase: found '{}', expected replace or remove", name);
  return Erasing::remove;
}

std::string_view name(Erasing e) { return e == Erasing::replace ? "replace" : "remove"; }

Question::Question(const Model& model, const Tokenizer& tokenizer)
    : model_(model), replacement_(saying_nothing(tokenizer)) {
  if (replacement_ >= 0) replacement_name_ = tokenizer.piece(replacement_);
}

const Question::Look& Question::look() const {
  if (!look_) throw Error(Error::unsupported, "this model has no attention from its answer to the text");
  return *look_;
}

void Question::read(const Tokenizer& tokenizer, const std::string& text, const Tokens& tokens) {
  text_ = {.text = text, .ids = tokens.ids, .spans = tokens.spans, .types = tokens.types};
  for (size_t i = 0; i < tokens.ids.size(); ++i)
    text_.pieces.push_back(shown_piece(tokenizer, text, tokens.ids[i], tokens.spans[i]));
  text_.word_of = words_of_tokens({text_.text, text_.spans});
  text_.words = words_of(text_.text);
  // Of what the model does not read there are no words.
  const int64_t last = text_.word_of.empty() ? -1 : *std::max_element(text_.word_of.begin(), text_.word_of.end());
  text_.words.resize(std::min(text_.words.size(), static_cast<size_t>(last + 1)));
}

void Question::require_replacement(Erasing erasing) const {
  if (erasing == Erasing::replace && replacement_ < 0)
    throw Error(Error::unsupported, "the vocabulary has no token that says nothing; --erase remove needs none");
}

Tokens Question::left(const Erased& erased, Erasing erasing) const {
  require_replacement(erasing);
  require(erased.empty() || erased.size() == text_.words.size(), "question: found {} words, expected {}", erased.size(),
          text_.words.size());
  Tokens t;
  for (size_t i = 0; i < text_.ids.size(); ++i) {
    const int64_t word = text_.word_of[i];
    const bool gone = word >= 0 && !erased.empty() && erased[static_cast<size_t>(word)];
    if (gone && erasing == Erasing::remove) continue;
    t.ids.push_back(gone ? replacement_ : text_.ids[i]);
    t.spans.push_back(text_.spans[i]);
    if (!text_.types.empty()) t.types.push_back(text_.types[i]);
  }
  // Something has to be there to be looked at.
  if (t.ids.empty() && replacement_ >= 0) t.ids.push_back(replacement_), t.spans.push_back({0, 0});
  return t;
}

Tensor Question::odds(const Context& c, size_t times) const {
  return odds(std::vector<Erased>(times), Erasing::remove, c);
}

std::vector<double> Question::without(const std::vector<Erased>& variants, Erasing erasing) const {
  const size_t batch = std::max<size_t>(1, most_batch_tokens / std::max<size_t>(1, text_.ids.size()));
  std::vector<double> values;
  for (size_t begin = 0; begin < variants.size(); begin += batch) {
    const auto first = variants.begin() + static_cast<std::ptrdiff_t>(begin);
    const std::vector<Erased> some(first,
                                   first + static_cast<std::ptrdiff_t>(std::min(batch, variants.size() - begin)));
    for (double o : odds(some, erasing, {}).detach().values<double>()) values.push_back(value_of(o));
  }
  return values;
}

double Question::value_of(double odds) const { return is_number_ ? odds : 1 / (1 + std::exp(-odds)); }

double Question::slope_at(double odds) const {
  return is_number_ ? 1 : 1 / ((1 + std::exp(-odds)) * (1 + std::exp(odds)));
}

std::unique_ptr<Question> ask(const Model& model, const Tokenizer& tokenizer, const std::string& text,
                              const AskOptions& options) {
  if (can<Generator>(model)) return ask_token(model, tokenizer, text, options);
  if (can<TextLabeller>(model)) return ask_label(model, tokenizer, text, options);
  if (can<WordLabeller>(model) || can<TokenLabeller>(model)) return ask_tag(model, tokenizer, text, options);
  throw Error(Error::unsupported,
              "explain: found a model of family '{}', which gives no answer with a probability; expected one that "
              "labels texts or words, or writes",
              model.family());
}

}  // namespace fovea
