#include "fovea/train/pairs_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "fovea/data/text/unknown_words.h"
#include "fovea/generate/translate.h"
#include "fovea/models/copying.h"
#include "fovea/train/next_tokens.h"

namespace fovea {
namespace {

class PairsTask final : public Task {
 public:
  explicit PairsTask(const Pairs& pairs) : pairs_(pairs), max_tokens_(pairs.max_tokens) {
    generation_.beam_size = usual_beams;
    generation_.max_length = pairs.max_length;
    generation_.max_ratio = 3;
    generation_.piece_tokens = pairs.piece_tokens;
  }

  bool suits(const Abilities& a) const override { return a.encodes && a.generates; }
  std::string_view first_family() const override { return "transformer"; }
  VocabularyConfig vocabulary() const override { return {}; }
  std::string_view training() const override {
    return R"({"validate_every": -1, "checkpoint_every": -1, "patience": 10, "average": 0.999, "beta2": 0.98})";
  }

  void fields(Fields& f) override {
    f("source_column", source_column_, "the source: a column's name, its number from 1, or a key of JSON");
    f("target_column", target_column_, "the target, likewise");
    f("prefix", prefix_, "what stands before every source, as T5 was told its task: \"translate English to German: \"");
    f("reverse", reverse_, "learn from the second text to the first");
    f("batch_tokens", batch_tokens_, "tokens of a batch, both sides and padding included");
    f("max_tokens", max_tokens_, "leave out pairs in which a side has more tokens; 0: none");
    f("label_smoothing", label_smoothing_, "share of the target's probability that is spread over all tokens");
    f("beam_size", generation_.beam_size, "generation_config.json: open hypotheses of beam search");
    f("length_penalty", generation_.length_penalty,
      "generation_config.json: scores are divided by length to this power");
    f("max_length", generation_.max_length, "generation_config.json: the most tokens");
    f("piece_tokens", generation_.piece_tokens,
      "generation_config.json: longer texts are read in pieces; 0: as a whole");
    f("max_ratio", generation_.max_ratio, "generation_config.json: the most tokens for each of the source's");
    f("keep_wordless", generation_.keep_wordless,
      "generation_config.json: a text without a letter that the vocabulary knows stays as it is");
    f("source_language", generation_.source_language,
      "generation_config.json: as ISO 639 names it; addresses, numbers and capitals come through if both are known");
    f("target_language", generation_.target_language, "generation_config.json: likewise");
    f("carriers", generation_.carriers,
      "generation_config.json: what the data has for words that are not to be translated, as text:WORD or number:WORD");
  }

  ExampleFormat format() const override {
    return {.kind = ExampleKind::pairs, .columns = {.source = source_column_, .target = target_column_}};
  }

  std::unique_ptr<Tokenizer> learn(const VocabularyConfig& config, const Examples& examples) const override {
    return learn_vocabulary(config, [&, i = size_t{0}](std::string& text) mutable {
      if (i == 2 * examples.training.size()) return false;
      const Example e = examples.data[examples.training[i / 2]];
      text = i++ % 2 == 0 ? e.source : e.target;
      return true;
    });
  }
  DataFacts facts(const Examples&, const Tokenizer& tokenizer) override {
    const SpecialIds& ids = tokenizer.special();
    require(
        tokenizer.frames() || (ids.pad >= 0 && ids.bos >= 0 && ids.eos >= 0),
        "--tokenizer: found one whose padding, start and end have the ids {}, {} and {}, expected all of them; fovea "
        "tokenize --train makes one",
        ids.pad, ids.bos, ids.eos);
    return {
        .needs = {.encodes = true, .generates = true}, .vocabulary = tokenizer.size(), .special = tokenizer.special()};
  }

  // The source as it is framed, or with its end; the target likewise, behind what the model begins to write with. Words that the
  // vocabulary lacks are numbered if the model can copy them.
  std::vector<Sequence> columns(const Pretrained& p, const Example& e) const override {
    const auto& [source, target] = sides(e);
    const Tokenizer& tokenizer = *p.tokenizer;
    Tokens read = tokenizer.encode(source), written = tokenizer.encode(target);
    UnknownWords words(tokenizer);
    if (copies(p.as<Generator>())) read.ids = words.add(source, read);
    written.ids = words.find(target, written);
    std::vector<int64_t> ids = source_ids(tokenizer, written);
    ids.insert(ids.begin(), p.as<Generator>().special_ids().bos);
    const std::vector<int64_t> task = prefix_.empty() ? std::vector<int64_t>() : tokenizer.encode(prefix_).ids;
    return {{.ids = source_tokens(tokenizer, read, task).ids}, {.ids = std::move(ids)}};
  }
  int64_t batch_tokens() const override { return batch_tokens_; }
  int64_t max_tokens() const override { return max_tokens_; }

  int64_t losses(const Batch& batch) const override { return count_next_tokens(batch.columns[1]); }
  Tensor loss(const Pretrained& p, const Batch& batch, const Context& context) const override {
    const Column& source = batch.columns[0];
    const NextTokens target = next_tokens(batch.columns[1]);
    const CrossEntropyOptions options = {
        .smoothing = context.training ? label_smoothing_ : 0, .ignored = no_target, .reduction = Reduction::sum};
    return p.as<Generator>().loss({source.ids, source.lengths}, target.read, target.wanted, options, context);
  }

  // Each source once, with its first target; a draft all of them, by greedy search.
  Predictions predict(const Pretrained& p, const Dataset& data, const std::vector<int64_t>& numbers,
                      const PredictOptions& options) const override {
    Predictions predictions;
    std::vector<std::string> sources;
    std::set<std::string> seen;
    for (int64_t i : numbers) {
      const Example e = data[i];
      const auto& [source, target] = sides(e);
      if (!options.draft && !seen.insert(source).second) continue;
      sources.push_back(source);
      predictions.references.push_back(target);
    }
    GenerationConfig config = options.draft ? generation_ : read_generation_config(p.folder);
    if (options.draft) config.beam_size = 1, config.protect = false;
    for (Translations& t :
         translate(p.as<Generator>(), *p.tokenizer, sources, config,
                   {.task = prefix_, .on_result = [&](size_t, const Translations&) { options.done(1); }})) {
      predictions.hypotheses.push_back(t.found[0].text);
      predictions.confidences.push_back(confidence(t.found[0]));
    }
    return predictions;
  }
  std::vector<Score> score(const Predictions& p) const override { return pairs_.score(p); }
  // Its texts are searched for as before, but for what was said otherwise.
  void go_on_from(const Pretrained& p) override {
    if (!p.model->foreign()) return;
    const GenerationConfig said = generation_;
    generation_ = read_generation_config(p.folder);
    if (said.beam_size != usual_beams) generation_.beam_size = said.beam_size;
    if (said.max_length != pairs_.max_length) generation_.max_length = said.max_length;
    if (said.length_penalty != 1) generation_.length_penalty = said.length_penalty;
  }
  void save(const std::filesystem::path& folder, const Predictions& validated) const override {
    GenerationConfig config = generation_;
    config.unsure_below = validated.unsure_below();
    write_generation_config(folder, config);
  }

 private:
  static constexpr int64_t usual_beams = 5;

  // What is read and what is to be written.
  std::pair<const std::string&, const std::string&> sides(const Example& e) const {
    return reverse_ ? std::pair<const std::string&, const std::string&>(e.target, e.source)
                    : std::pair<const std::string&, const std::string&>(e.source, e.target);
  }

  Pairs pairs_;
  std::string prefix_, source_column_, target_column_;  // found by their usual names if empty
  bool reverse_ = false;
  int64_t batch_tokens_ = 4096, max_tokens_;
  double label_smoothing_ = 0.1;
  GenerationConfig generation_;
};

}  // namespace

std::unique_ptr<Task> pairs_task(const Pairs& pairs) { return std::make_unique<PairsTask>(pairs); }

}  // namespace fovea
