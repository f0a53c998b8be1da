#include "fovea/train/pairs.h"

#include <nlohmann/json.hpp>
#include <set>

#include "fovea/generate/translate.h"
#include "fovea/models/checkpoint.h"
#include "fovea/train/sample_trainee.h"

namespace fovea {
namespace {

class PairsRecipe final : public Recipe {
 public:
  explicit PairsRecipe(const PairsTask& pairs_task)
      : Recipe(pairs_task.name, {"transformer", "seq2seq"}),
        pairs(pairs_task),
        source_key(pairs_task.source_key),
        target_key(pairs_task.target_key),
        max_tokens(pairs_task.max_tokens) {
    generation.beam_size = 5;
    generation.max_length = pairs_task.max_length;
    generation.max_ratio = 3;
    generation.piece_tokens = pairs_task.piece_tokens;
    choose_family(family);
  }

  std::unique_ptr<Trainee> prepare(const Preparation&) override;
  Examples read() const override;
  Predictions predict(const std::filesystem::path&, const Dataset&, const std::vector<int64_t>&,
                      const std::function<void(size_t)>& done) const override;
  // What is read and what is to be written.
  std::pair<const std::string&, const std::string&> sides(const Example& e) const {
    return reverse ? std::pair<const std::string&, const std::string&>(e.target, e.source)
                   : std::pair<const std::string&, const std::string&>(e.source, e.target);
  }

  PairsTask pairs;
  std::vector<std::string> target_data, target_validation;
  std::string source_key, target_key;
  bool reverse = false;
  int64_t batch_tokens = 4096, max_tokens;
  double label_smoothing = 0.1;
  GenerationConfig generation;

 private:
  void task_fields(Fields& f) override {
    f("target_data", target_data, "if given: line n of these files belongs to line n of --data");
    f("target_validation", target_validation, "the same for --validation");
    f("source_key", source_key, "JSON lines: the key of the source");
    f("target_key", target_key, "JSON lines: the key of the target");
    f("reverse", reverse, "learn from the second text to the first");
    f("batch_tokens", batch_tokens, "tokens of a batch, both sides and padding included");
    f("max_tokens", max_tokens, "leave out pairs in which a side has more tokens; 0: none");
    f("label_smoothing", label_smoothing, "share of the target's probability that is spread over all tokens");
    f("beam_size", generation.beam_size, "generation_config.json: open hypotheses of beam search");
    f("length_penalty", generation.length_penalty,
      "generation_config.json: scores are divided by length to this power");
    f("max_length", generation.max_length, "generation_config.json: the most tokens");
    f("piece_tokens", generation.piece_tokens,
      "generation_config.json: longer texts are read in pieces; 0: as a whole");
    f("max_ratio", generation.max_ratio, "generation_config.json: the most tokens for each of the source's");
    f("keep_wordless", generation.keep_wordless,
      "generation_config.json: a text without a letter that the vocabulary knows stays as it is");
  }
  std::string model_defaults() const override {
    if (family == "seq2seq") return R"({"dropout": 0.2})";
    return R"({"width": 256, "heads": 4, "hidden": 1024, "encoder_layers": 3, "decoder_layers": 3, "norm": "pre"})";
  }
  void default_end() override { trainer.minutes = 30; }
  void trainer_defaults() override {
    trainer.validate_every = trainer.checkpoint_every = 300;
    trainer.patience = 10;
    trainer.average = 0.999;
    trainer.optimiser.beta2 = 0.98;
    trainer.optimiser.learning_rate = family == "seq2seq" ? 1e-3 : 2e-3;
    trainer.schedule.warmup = family == "seq2seq" ? 200 : 1000;
  }
};

class PairsTrainee final : public SampleTrainee {
 public:
  PairsTrainee(PairsRecipe& recipe, Examples examples, const Preparation& preparation)
      : SampleTrainee(recipe, std::move(examples)), recipe_(recipe) {
    if (preparation.resumed.empty()) {
      preparation.say(fmt::format("learning a vocabulary ({}) from {} examples", recipe.vocabulary.kind,
                                  this->examples().training.size()));
      tokenizer_ = learn_vocabulary(recipe.vocabulary, texts());
    } else {
      tokenizer_ = load_tokenizer(preparation.resumed);
    }
    const SpecialIds& special = tokenizer_->special();
    const nlohmann::json known = {
        {"vocabulary", tokenizer_->size()}, {"padding", special.pad}, {"start", special.bos}, {"end", special.eos}};
    model_ = model_as<Seq2SeqModel>(recipe.make_model(known.dump()), "training");
    make_samples({.tokens = recipe.batch_tokens, .longest = recipe.max_tokens}, preparation);
  }

  void save(const std::filesystem::path& folder) override {
    SampleTrainee::save(folder);
    write_generation_config(folder, recipe_.generation);
  }

 private:
  Model& model() override { return *model_; }
  const Tokenizer& tokenizer() const override { return *tokenizer_; }

  TextSource texts() const {
    return [this, i = size_t{0}](std::string& text) mutable {
      if (i == 2 * examples().training.size()) return false;
      const Example e = examples().data[examples().training[i / 2]];
      text = i++ % 2 == 0 ? e.source : e.target;
      return true;
    };
  }

  // The source with its end; the target with its start and its end.
  std::vector<Sequence> columns(const Example& e) const override {
    const auto& [source, target] = recipe_.sides(e);
    std::vector<int64_t> ids = tokenizer_->encode(target).ids;
    ids.insert(ids.begin(), tokenizer_->special().bos);
    ids.push_back(tokenizer_->special().eos);
    return {{.ids = source_ids(*tokenizer_, tokenizer_->encode(source))}, {.ids = std::move(ids)}};
  }

  int64_t losses(const Batch& batch) const override {
    int64_t tokens = 0;
    for (size_t i = 0; i < batch.examples.size(); ++i) tokens += batch.columns[1].lengths.data<int64_t>()[i] - 1;
    return tokens;
  }

  Tensor loss(const Batch& batch, const Context& context) const override {
    const Column &source = batch.columns[0], &target = batch.columns[1];
    const int64_t tokens = target.ids.size(1);
    const Tensor inputs = target.ids.slice(1, 0, tokens - 1).contiguous();
    const Tensor targets = target.ids.slice(1, 1, tokens).contiguous();
    const CrossEntropyOptions options = {
        .smoothing = context.training ? static_cast<float>(recipe_.label_smoothing) : 0,
        .ignored = tokenizer_->special().pad,
        .reduction = Reduction::sum};
    return model_->loss({source.ids, source.lengths}, inputs, targets, options, context);
  }

  std::vector<Score> metric() override {
    std::vector<std::string> sources, references, hypotheses;
    for (int64_t i : examples().validation) {
      const Example e = examples().data[i];
      const auto& [source, target] = recipe_.sides(e);
      sources.push_back(source);
      references.push_back(target);
    }
    GenerationConfig greedy = recipe_.generation;
    greedy.beam_size = 1;
    for (Translations& t : translate(*model_, *tokenizer_, sources, greedy)) hypotheses.push_back(t.found[0].text);
    return recipe_.pairs.score(hypotheses, references);
  }

  PairsRecipe& recipe_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::unique_ptr<Seq2SeqModel> model_;
};

std::unique_ptr<Trainee> PairsRecipe::prepare(const Preparation& preparation) {
  return std::make_unique<PairsTrainee>(*this, read_with_notes(*this, preparation), preparation);
}

Examples PairsRecipe::read() const {
  require(target_data.empty() || target_data.size() == examples.data.size(),
          "training: found {} files of --target-data for {} of --data, expected as many", target_data.size(),
          examples.data.size());
  require(target_data.empty() || target_validation.size() == examples.validation.size(),
          "training: found {} files of --target-validation for {} of --validation, expected as many",
          target_validation.size(), examples.validation.size());
  ExampleFormat format;
  format.target_data = target_data;
  format.target_validation = target_validation;
  if (!examples.data.empty() && is_json(examples.data[0])) {
    format.columns.source = source_key;
    format.columns.target = target_key;
  }
  return read_examples(examples, format);
}

// Each source once, with its first target.
Predictions PairsRecipe::predict(const std::filesystem::path& folder, const Dataset& data,
                                 const std::vector<int64_t>& numbers, const std::function<void(size_t)>& done) const {
  Predictions p;
  std::vector<std::string> sources;
  std::set<std::string> seen;
  for (int64_t i : numbers) {
    const Example e = data[i];
    const auto& [source, target] = sides(e);
    if (!seen.insert(source).second) continue;
    sources.push_back(source);
    p.references.push_back(target);
  }
  const auto model = load_model_as<Seq2SeqModel>(folder);
  const auto tokenizer = load_tokenizer(model_folder(folder));
  const GenerationConfig config = read_generation_config(model_folder(folder));
  for (Translations& t :
       translate(*model, *tokenizer, sources, config, {.on_result = [&](size_t, const Translations&) { done(1); }}))
    p.hypotheses.push_back(t.found[0].text);
  return p;
}

}  // namespace

std::unique_ptr<Recipe> pairs_recipe(const PairsTask& task) { return std::make_unique<PairsRecipe>(task); }

}  // namespace fovea
