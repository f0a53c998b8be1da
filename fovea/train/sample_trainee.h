// A trainee whose examples become rows of ids: what all tasks on text share.
//
//   class Tagging final : public SampleTrainee { … columns(example), loss(batch, context), metric() … };
#pragma once

#include <optional>

#include "fovea/data/batches.h"
#include "fovea/train/recipe.h"

namespace fovea {

struct SampleOptions {
  int64_t tokens = 4096;  // of a batch, padding included
  int64_t longest = 0;    // examples with a longer column are left out; 0: none
};

// The recipe's examples, with what is to be said about them. An Error if there is nothing to learn from or to validate on.
Examples read_with_notes(const Recipe&, const Preparation&);

class SampleTrainee : public Trainee {
 public:
  void weights(Weights& w) override { model().weights(w); }
  StepLoss next(const Context&) override;
  std::vector<Score> validate() override;  // metric(), and the mean loss
  std::string position() const override;
  void seek(const std::string& position) override;
  void save(const std::filesystem::path& folder) override;

 protected:
  SampleTrainee(Recipe& recipe, Examples examples) : recipe_(recipe), examples_(std::move(examples)) {}

  // To be called once a model and a tokenizer are there.
  void make_samples(const SampleOptions&, const Preparation&);

  virtual Model& model() = 0;
  virtual const Tokenizer& tokenizer() const = 0;
  virtual std::vector<Sequence> columns(const Example&) const = 0;
  virtual Tensor loss(const Batch&, const Context&) const = 0;  // added up
  virtual int64_t losses(const Batch&) const = 0;               // how many
  virtual std::vector<Score> metric() = 0;                      // on the validation's examples, the task's own first

  const Examples& examples() const { return examples_; }

 private:
  Recipe& recipe_;
  Examples examples_;
  SampleOptions options_;
  Samples training_, validation_;
  std::optional<Batches> batches_;
  std::vector<Score> scores_;
};

}  // namespace fovea
