#include "fovea/train/sample_trainee.h"

#include <fmt/format.h>

namespace fovea {
namespace {

struct Position {
  Batches::State state;

  void fields(Fields& f) {
    f("epoch", state.epoch, "passes over the data");
    f("batch", state.batch, "batches of this pass");
    f("examples", state.examples, "examples of the data");
  }
};

}  // namespace

Examples read_with_notes(const Recipe& recipe, const Preparation& preparation) {
  check(recipe.examples);
  preparation.say(fmt::format("reading {}", fmt::join(recipe.examples.data, ", ")));
  Examples examples = recipe.read();
  if (const std::string bad = examples.data.bad().text(); !bad.empty()) preparation.say(bad);
  return examples;
}

void SampleTrainee::make_samples(const SampleOptions& options, const Preparation& preparation) {
  options_ = options;
  preparation.say(fmt::format("cutting {} examples into tokens", examples_.training.size()));
  for (int64_t i : examples_.training) training_.add(columns(examples_.data[i]));
  for (int64_t i : examples_.validation) validation_.add(columns(examples_.data[i]));
  batches_.emplace(training_, Batches::Options{.tokens = options.tokens,
                                               .longest = options.longest,
                                               .seed = static_cast<uint64_t>(recipe_.trainer.seed)});
  const std::string left_out =
      batches_->left_out() > 0 ? fmt::format(" ({} left out as too long)", batches_->left_out()) : "";
  preparation.say(fmt::format("{} examples in {} batches{}, {} to validate on; {} with {} weights",
                              training_.size() - batches_->left_out(), batches_->batches_in_epoch(), left_out,
                              validation_.size(), model().family(), count(model())));
}

StepLoss SampleTrainee::next(const Context& context) {
  const Batch batch = batches_->next();
  const Batches::State& at = batches_->state();
  const double share = static_cast<double>(at.batch) / static_cast<double>(batches_->batches_in_epoch());
  return {loss(batch, context), losses(batch), batch.tokens, static_cast<double>(at.epoch) + share};
}

std::vector<Score> SampleTrainee::validate() {
  double sum = 0;
  int64_t terms = 0;
  Batches batches(validation_, {.tokens = options_.tokens, .shuffle = false});
  for (int64_t i = 0; i < batches.batches_in_epoch(); ++i) {
    const Batch batch = batches.next();
    sum += loss(batch, {}).item();
    terms += losses(batch);
  }
  scores_ = metric();
  scores_.push_back({"loss", sum / static_cast<double>(terms), Score::lower});
  return scores_;
}

std::string SampleTrainee::position() const { return to_json(Position{batches_->state()}); }

void SampleTrainee::seek(const std::string& position) {
  Position p;
  from_json(position, p, "position in the data");
  batches_->restore(p.state);
}

void SampleTrainee::save(const std::filesystem::path& folder) {
  save_trained(folder, recipe_, model(), tokenizer(), scores_);
}

}  // namespace fovea
