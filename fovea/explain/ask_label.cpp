// Questions about the label of a text.
#include <algorithm>

#include "fovea/base/catalogue.h"
#include "fovea/explain/question.h"
#include "fovea/generate/classify.h"
#include "fovea/generate/framed.h"
#include "fovea/tensor/softmax.h"

namespace fovea {
namespace {

class LabelQuestion final : public Question {
 public:
  LabelQuestion(const Model& model, const Tokenizer& tokenizer, const std::string& text, const AskOptions& options)
      : Question(model, tokenizer), labeller_(as<TextLabeller>(model)), padding_(tokenizer.special().pad) {
    read(tokenizer, text, labeller_tokens(tokenizer, text, labeller_).tokens);
    is_number_ = labeller_.labels().kind() == Labels::number;
    const Source source = sources({{}}, Erasing::remove);
    choose(options.answer, labeller_.labels().answers(labeller_.logits(source, {})).detach().values<double>());
    // Where the model says how much each token counted, it is the last attention to them, as it is seen from the first row.
    if (!labeller_.token_weights(source, {})) return;
    for (const Place& place : model.places())
      if (place.columns == "source") look_ = Look{place.path, 0};
  }

  using Question::odds;
  Tensor odds(const std::vector<Erased>& variants, Erasing erasing, const Context& c) const override {
    const Tensor logits = labeller_.logits(sources(variants, erasing), c);
    switch (labeller_.labels().kind()) {
      case Labels::one:
        return log_odds(logits, label_);
      case Labels::several:
        return logits.select(-1, label_);
      default:
        return labeller_.labels().answers(logits).select(-1, 0);
    }
  }

 private:
  void choose(const std::string& wanted, const std::vector<double>& answers) {
    const std::vector<std::string>& names = labeller_.labels().names();
    if (is_number_) {
      require(wanted.empty(), "--answer: found '{}' for a model that gives a number, expected none", wanted);
      answer_ = names.empty() ? "number" : names[0], probability_ = answers.at(0);
      return;
    }
    for (const std::string& name : names) choices_.push_back({name, name});
    const auto found = wanted.empty()
                           ? names.begin() + (std::max_element(answers.begin(), answers.end()) - answers.begin())
                           : std::find(names.begin(), names.end(), wanted);
    if (found == names.end()) throw_unknown("label", wanted, names);
    label_ = found - names.begin();
    answer_ = *found, probability_ = answers.at(static_cast<size_t>(label_));
  }

  Source sources(const std::vector<Erased>& variants, Erasing erasing) const {
    std::vector<Framed> read;
    for (const Erased& erased : variants) read.push_back({left(erased, erasing)});
    return source_of(read, padding_);
  }

  const TextLabeller& labeller_;
  int64_t padding_, label_ = 0;
};

}  // namespace

std::unique_ptr<Question> ask_label(const Model& model, const Tokenizer& tokenizer, const std::string& text,
                                    const AskOptions& options) {
  return std::make_unique<LabelQuestion>(model, tokenizer, text, options);
}

}  // namespace fovea
