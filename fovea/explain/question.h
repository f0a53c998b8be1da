// One answer of a model to one text, which can be asked for again of the text without some of its words: what every explanation
// of the answer stands on.
//
//   const auto question = ask(*model, *tokenizer, "A wonderful film.");     // how sure is it that this is positive?
//   question->probability();   question->without({{true, false, false}}, Erasing::replace);
//
// The answer is a label of the text, the tag of one of its words, or the next token that the model writes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fovea/data/text/tokenizer.h"
#include "fovea/generate/config.h"
#include "fovea/models/abilities.h"

namespace fovea {

// How words are taken away: by putting a token into their place that says nothing (the mask, or else the unknown token), or by
// leaving them out, so that the others move together.
enum class Erasing { replace, remove };
Erasing erasing_named(const std::string& name);
std::string_view name(Erasing);

using Erased = std::vector<bool>;  // of each word: whether it is gone

// The text as the model reads it. A token of no word is one of the model's own, which stays.
struct AskedText {
  std::string text = {};
  std::vector<int64_t> ids = {};
  std::vector<std::string> pieces = {};
  std::vector<Span> spans = {};       // of tokens; empty for the model's own
  std::vector<int64_t> word_of = {};  // −1: none
  std::vector<Span> words = {};
  std::vector<int64_t> types = {};  // if the model tells texts apart
};

class Question {
 public:
  virtual ~Question() = default;

  const AskedText& text() const { return text_; }
  const std::string& answer() const { return answer_; }  // "positive", "London: B-LOC", "Katze"
  // What could be asked about instead, as AskOptions::answer takes it and as it is shown.
  struct Choice {
    std::string answer = {}, shown = {};
  };
  const std::vector<Choice>& choices() const { return choices_; }
  double probability() const { return probability_; }  // of the answer; the number itself if the model gives one
  bool is_number() const { return is_number_; }
  const std::string& sequence() const { return sequence_; }  // what the text is to the model: "source" or "text"
  const Model& model() const { return model_; }

  // Where the answer looks at the text last, and as which row; an Error of kind unsupported if it does not.
  struct Look {
    std::string place = {};
    int64_t row = 0;
  };
  const Look& look() const;

  // ln p / (1 − p) of the answer, or the number, for the text without these words: [variants], with what leads back from it.
  virtual Tensor odds(const std::vector<Erased>&, Erasing, const Context&) const = 0;
  Tensor odds(const Context& c, size_t times = 1) const;  // of the text as it is, so many times

  // The probabilities, or numbers, in batches of a bounded size.
  std::vector<double> without(const std::vector<Erased>&, Erasing) const;
  double value_of(double odds) const;  // the probability of such odds
  double slope_at(double odds) const;  // its derivative, p (1 − p)

  // The token that stands for a word that is gone; −1: the vocabulary has none, and words can only be removed.
  int64_t replacement() const { return replacement_; }
  std::string replacement_name() const { return replacement_name_; }
  // Words that removing keeps: the one whose tag is asked for.
  virtual bool stays(size_t /*word*/) const { return false; }

 protected:
  Question(const Model& model, const Tokenizer& tokenizer);
  void require_replacement(Erasing) const;
  // The text, its tokens, and the words between its white space.
  void read(const Tokenizer&, const std::string& text, const Tokens&);
  // The ids and types without some of the words.
  Tokens left(const Erased&, Erasing) const;

  const Model& model_;
  AskedText text_;
  std::string answer_, sequence_ = "source", replacement_name_;
  std::vector<Choice> choices_;
  std::optional<Look> look_;
  double probability_ = 0;
  bool is_number_ = false;
  int64_t replacement_ = -1;
};

struct AskOptions {
  // Which answer: a label; the number or text of a word, perhaps with a tag behind a colon, "London:B-LOC"; the number of a token
  // that is written. Empty: the most probable label, the first word that has a tag other than O, the first token.
  std::string answer = {};
  GenerationConfig generation = {};  // of models that write
};

// An Error for an answer that the model cannot give, and for models that neither label nor write.
std::unique_ptr<Question> ask(const Model&, const Tokenizer&, const std::string& text, const AskOptions& = {});

// One of the three kinds each.
std::unique_ptr<Question> ask_label(const Model&, const Tokenizer&, const std::string& text, const AskOptions&);
std::unique_ptr<Question> ask_tag(const Model&, const Tokenizer&, const std::string& text, const AskOptions&);
std::unique_ptr<Question> ask_token(const Model&, const Tokenizer&, const std::string& text, const AskOptions&);

}  // namespace fovea
