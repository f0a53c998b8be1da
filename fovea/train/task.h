// What can be learned: a task knows its examples, what a model's loss on them is, and how answers are scored. One file each in
// tasks/; recipes, training, evaluation and the program's help find it there.
//
//   std::unique_ptr<Task> task = find<TaskKind>("translation").make();
//   Tensor loss = task->loss(pretrained, batch, context);
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/catalogue.h"
#include "fovea/data/batches.h"
#include "fovea/models/pretrained.h"
#include "fovea/train/examples.h"
#include "fovea/train/score.h"
#include "fovea/train/vocabulary.h"

namespace fovea {

// What a model says about examples, and what was expected, a line each; the tags of a sentence with spaces between.
struct Predictions {
  std::vector<std::string> hypotheses, references;
  std::vector<double> confidences = {};  // where they are written token by token: the mean log-probability of each

  // The confidence that all but a twentieth have; what is below is not to be trusted. 0 if it is not known.
  double unsure_below() const;
};

struct PredictOptions {
  bool draft = false;                                      // rather fast than as well as it goes: while training
  std::function<void(size_t ready)> done = [](size_t) {};  // hears of each so many examples that are ready
};

class Task {
 public:
  virtual ~Task() = default;

  virtual bool suits(const Abilities&) const = 0;     // whether models of a family with these can learn it
  virtual std::string_view first_family() const = 0;  // the one that is trained if none is named
  virtual void fields(Fields&) = 0;                   // what it has to be told beside the examples' files
  virtual bool reads_text() const { return true; }    // if not, no vocabulary is learned
  virtual VocabularyConfig vocabulary() const = 0;    // as it is if nothing else is said
  virtual std::string_view training()
      const = 0;                            // JSON: the fields of a recipe with which it begins; a family's come on top
  virtual std::string_view tuning() const;  // those with which it begins from a model of others

  virtual ExampleFormat format() const = 0;  // of its examples' files
  virtual std::unique_ptr<Tokenizer> learn(const VocabularyConfig&, const Examples&) const = 0;
  // An Error if nothing can be learned from them. The tokenizer of a task that reads no text is of no meaning.
  virtual DataFacts facts(const Examples&, const Tokenizer&) = 0;

  // What the examples say about a config beside the facts, and about a new model beside its weights, each of which was drawn by itself.
  virtual void fit(ModelConfig&, const Examples&) const {}
  virtual void begin(Model&) const {}

  virtual std::vector<Sequence> columns(const Pretrained&, const Example&) const = 0;
  // Where an example may be too long to be read at once: the columns of each of its parts.
  virtual std::vector<std::vector<Sequence>> parts(const Pretrained& p, const Example& e) const {
    return {columns(p, e)};
  }
  // Rows of ids to make batches of: one for each part of an example, unless a task packs several examples into one.
  virtual void add_samples(const Pretrained&, const Dataset&, const std::vector<int64_t>& numbers, Samples&);
  virtual int64_t batch_tokens() const = 0;  // of a batch of these columns, padding included
  virtual int64_t max_tokens() const = 0;    // examples with a longer column are left out; 0: none
  virtual Tensor loss(const Pretrained&, const Batch&, const Context&) const = 0;  // added up
  virtual int64_t losses(const Batch&) const = 0;                                  // how many these are

  virtual Predictions predict(const Pretrained&, const Dataset&, const std::vector<int64_t>& numbers,
                              const PredictOptions&) const = 0;
  virtual std::vector<Score> score(const Predictions&) const = 0;  // the first one says which model is the best
  // The scores of a validation whose losses are these, added up. A task that has all it needs in them predicts nothing while it
  // is trained.
  virtual std::vector<Score> score_losses(const Examples&, double /*sum*/, int64_t /*count*/) const { return {}; }
  // Takes over what belongs to the model that is gone on from, such as how its texts are searched for.
  virtual void go_on_from(const Pretrained&) {}
  // What its models' users need beside the model, with what the last validation saw of it.
  virtual void save(const std::filesystem::path&, const Predictions&) const {}
};

struct TaskKind {
  static constexpr std::string_view noun = "task";
  std::string_view name;
  std::string_view help;
  std::unique_ptr<Task> (*make)();
};

// The families whose models can learn it, the one that is trained if nothing is said first.
std::vector<std::string> families_for(const Task&);

}  // namespace fovea
