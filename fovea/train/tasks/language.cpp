// Learning to go on with a text: the loss of a token is −log p(token | all before it), of as many as fit into the model's context.
#include <cmath>

#include "fovea/generate/config.h"
#include "fovea/train/metrics/perplexity.h"
#include "fovea/train/next_tokens.h"
#include "fovea/train/packing.h"
#include "fovea/train/task.h"

namespace fovea {
namespace {

class Language final : public Task {
 public:
  Language() {
    generation_.sample = true;
    generation_.temperature = 0.8;
    generation_.max_length = 200;
  }

  bool suits(const Abilities& a) const override { return a.writes_on(); }
  std::string_view first_family() const override { return "gpt2"; }
  VocabularyConfig vocabulary() const override { return {.kind = "byte-bpe", .size = 4000}; }
  std::string_view training() const override {
    return R"({"validate_every": -1, "checkpoint_every": -1, "patience": 10, "hold_out": 10, "warmup": -1, "beta2": 0.99,
               "weight_decay": 0.1})";
  }
  void fields(Fields& f) override {
    f("text_column", text_column_, "the text: a key of JSON, or a column's name or number from 1");
    f("documents", documents_, "file: a plain text is one document; paragraphs or lines: each of them is one");
    f("context", context_, "tokens that are read at once; 0: as many as the model can, at most 1,024");
    f("stride", stride_,
      "evaluating: tokens from window to window, of which each is predicted from what the window before has too; 0: "
      "the "
      "context");
    f("batch_tokens", batch_tokens_, "tokens of a batch");
    f("max_length", generation_.max_length, "generation_config.json: the most tokens that are written");
    f("temperature", generation_.temperature, "generation_config.json: of what is drawn");
  }
  ExampleFormat format() const override {
    return {.kind = ExampleKind::documents, .columns = {.source = text_column_, .documents = documents_}};
  }

  std::unique_ptr<Tokenizer> learn(const VocabularyConfig& config, const Examples& examples) const override {
    return learn_vocabulary(config, [&, i = size_t{0}](std::string& text) mutable {
      if (i == examples.training.size()) return false;
      text = examples.data[examples.training[i++]].source;
      return true;
    });
  }
  DataFacts facts(const Examples&, const Tokenizer& tokenizer) override {
    SpecialIds ids = tokenizer.special();
    if (ids.eos < 0) ids.eos = ids.bos;
    if (ids.bos < 0) ids.bos = ids.eos;
    require(ids.eos >= 0, "--tokenizer: found one without a token for the end of a text, expected one");
    generation_.end_ids = {ids.eos};
    return {.needs = {.generates = true}, .vocabulary = tokenizer.size(), .special = ids};
  }

  std::vector<Sequence> columns(const Pretrained& p, const Example& e) const override {
    return {{.ids = p.tokenizer->encode(e.source).ids}};
  }
  void add_samples(const Pretrained& p, const Dataset& data, const std::vector<int64_t>& numbers,
                   Samples& into) override {
    window_ = context_of(p);
    const TokenStream stream = stream_of(p, data, numbers);
    require(stream.size() > 1, "training: found {} tokens, expected more", stream.size());
    for (const StreamWindow& w : windows(stream.size(), {.context = window_})) into.add({{.ids = stream.ids(w)}});
  }
  int64_t batch_tokens() const override { return std::max<int64_t>(batch_tokens_ / window_, 1) * (window_ + 1); }
  int64_t max_tokens() const override { return 0; }

  int64_t losses(const Batch& batch) const override {
    return batch.tokens - static_cast<int64_t>(batch.examples.size());
  }
  Tensor loss(const Pretrained& p, const Batch& batch, const Context& context) const override {
    const NextTokens t = next_tokens(batch.columns[0]);
    return p.as<Generator>().loss({}, t.read, t.wanted, {.ignored = no_target, .reduction = Reduction::sum}, context);
  }

  // The log-probabilities of each document's tokens, beside the document.
  Predictions predict(const Pretrained& p, const Dataset& data, const std::vector<int64_t>& numbers,
                      const PredictOptions& options) const override {
    const TokenStream stream = stream_of(p, data, numbers);
    std::vector<double> logs(static_cast<size_t>(stream.size()));
    const int64_t context = context_of(p);
    for (const StreamWindow& w : windows(stream.size(), {.context = context, .stride = std::min(stride_, context)})) {
      const std::vector<Sequence> row = {{.ids = stream.ids(w)}};
      const NextTokens t = next_tokens(collate(row));
      const Tensor loss = p.as<Generator>().loss({}, t.read, t.wanted, {.reduction = Reduction::none}, {});
      for (int64_t i = w.fresh; i < w.end; ++i)
        logs[static_cast<size_t>(i)] = std::min(-double{loss.data<float>()[i - 1 - w.begin]}, 0.0);
    }
    Predictions predictions;
    for (size_t d = 0; d < numbers.size(); ++d) {
      const int64_t begin = std::max<int64_t>(stream.starts()[d], 1);
      const int64_t end = d + 1 < numbers.size() ? stream.starts()[d + 1] : stream.size();
      std::string line;
      for (int64_t i = begin; i < end; ++i)
        line += fmt::format("{}{}", i > begin ? " " : "", logs[static_cast<size_t>(i)]);
      predictions.hypotheses.push_back(std::move(line));
      predictions.references.push_back(data[numbers[d]].source);
      options.done(1);
    }
    return predictions;
  }

  std::vector<Score> score(const Predictions& p) const override {
    double sum = 0;
    int64_t count = 0, bytes = 0;
    for (size_t i = 0; i < p.hypotheses.size(); ++i) {
      for (double log : parse_log_probabilities(p.hypotheses[i], "prediction")) sum -= log, ++count;
      bytes += static_cast<int64_t>(p.references[i].size());
    }
    return scores_of(sum, count, bytes);
  }
  std::vector<Score> score_losses(const Examples& examples, double sum, int64_t count) const override {
    int64_t bytes = 0;
    for (int64_t i : examples.validation) bytes += static_cast<int64_t>(examples.data[i].source.size());
    return scores_of(sum, count, bytes);
  }
  void save(const std::filesystem::path& folder, const Predictions&) const override {
    write_generation_config(folder, generation_);
  }

 private:
  static std::vector<Score> scores_of(double sum, int64_t count, int64_t bytes) {
    const Perplexity p = {.log_probability = -sum, .tokens = count, .words = 0, .bytes = bytes};
    return {{"loss", sum / static_cast<double>(count), Score::lower},
            {"perplexity", p.of_tokens(), Score::lower},
            {"bits_per_byte", p.bits_per_byte(), Score::lower}};
  }

  static TokenStream stream_of(const Pretrained& p, const Dataset& data, const std::vector<int64_t>& numbers) {
    TokenStream stream(p.as<Generator>(), *p.tokenizer);
    for (int64_t i : numbers) stream.add(data[i].source);
    return stream;
  }

  int64_t context_of(const Pretrained& p) const {
    const int64_t longest = p.as<Generator>().longest();
    require(context_ >= 0 && (longest == 0 || context_ <= longest),
            "--context: found {}, expected at most the {} tokens that a text of this model may have", context_,
            longest);
    require(stride_ >= 0, "--stride: found {}, expected 0 or more", stride_);
    return context_ > 0 ? context_ : std::min<int64_t>(longest > 0 ? longest : 1024, 1024);
  }

  std::string text_column_, documents_ = "file";
  int64_t context_ = 0, stride_ = 0, batch_tokens_ = 4096;
  int64_t window_ = 1024;  // the context, once the model is known
  GenerationConfig generation_;
};

}  // namespace

extern const TaskKind language = {
    .name = "language",
    .help = "how a text goes on, learned from texts",
    .make = []() -> std::unique_ptr<Task> { return std::make_unique<Language>(); },
};

}  // namespace fovea
