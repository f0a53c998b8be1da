// Learning to fill gaps (Devlin et al. 2019): windows of a text among [CLS] and [SEP], some of whose tokens are hidden anew each time.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "fovea/train/masking.h"
#include "fovea/train/metrics/perplexity.h"
#include "fovea/train/task.h"

namespace fovea {
namespace {

class Masked final : public Task {
 public:
  bool suits(const Abilities& a) const override { return a.fills_gaps; }
  std::string_view first_family() const override { return "bert"; }
  VocabularyConfig vocabulary() const override { return {.kind = "wordpiece", .size = 8000, .lower_case = true}; }
  std::string_view training() const override {
    return R"({"validate_every": -1, "checkpoint_every": -1, "patience": 10, "hold_out": 10, "warmup": -1, "beta2": 0.98})";
  }
  void fields(Fields& f) override {
    f("text_column", text_column_, "the text: a key of JSON, or a column's name or number from 1");
    f("documents", documents_, "file: a plain text is one document; paragraphs or lines: each of them is one");
    f("context", context_, "tokens of a row; 0: as many as the model can read, at most 512");
    f("share", share_, "of the tokens that are to be guessed");
    f("batch_tokens", batch_tokens_, "tokens of a batch, padding included");
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
    require(
        tokenizer.special().mask >= 0 && tokenizer.frames(),
        "--tokenizer: found one ({}) without a mask or without tokens around a text, expected both, as wordpiece has "
        "them",
        tokenizer.kind());
    require(share_ > 0 && share_ < 1, "--share: found {}, expected more than 0 and less than 1", share_);
    return {.needs = {.fills_gaps = true}, .vocabulary = tokenizer.size(), .special = tokenizer.special()};
  }

  std::vector<Sequence> columns(const Pretrained& p, const Example& e) const override {
    return {{.ids = p.tokenizer->frame(p.tokenizer->encode(e.source)).ids}};
  }
  void add_samples(const Pretrained& p, const Dataset& data, const std::vector<int64_t>& numbers,
                   Samples& into) override {
    rules_ = rules_of(p);
    add_rows(p, data, numbers, into);
  }
  int64_t batch_tokens() const override { return batch_tokens_; }
  int64_t max_tokens() const override { return 0; }

  int64_t losses(const Batch& batch) const override {
    int64_t count = 0;
    for (size_t row = 0; row < batch.examples.size(); ++row) count += masked_count(ids_of(batch, row), rules_);
    return count;
  }
  Tensor loss(const Pretrained& p, const Batch& batch, const Context& context) const override {
    return losses_of(p, batch, rules_, Reduction::sum, context);
  }

  // The log-probability of each token that was hidden, in a line for each batch.
  Predictions predict(const Pretrained& p, const Dataset& data, const std::vector<int64_t>& numbers,
                      const PredictOptions& options) const override {
    Samples samples;
    add_rows(p, data, numbers, samples);
    Batches batches(samples, {.tokens = batch_tokens_, .shuffle = false});
    Predictions predictions;
    for (int64_t i = 0; i < batches.batches_in_epoch(); ++i) {
      std::vector<double> logs;
      for (float loss : losses_of(p, batches.next(), rules_of(p), Reduction::none, {}).values<float>())
        logs.push_back(std::min(-double{loss}, 0.0));
      predictions.hypotheses.push_back(fmt::format("{}", fmt::join(logs, " ")));
    }
    options.done(numbers.size());
    return predictions;
  }
  std::vector<Score> score(const Predictions& p) const override {
    double sum = 0;
    int64_t count = 0;
    for (const std::string& line : p.hypotheses)
      for (double log : parse_log_probabilities(line, "prediction")) sum -= log, ++count;
    return scores_of(sum, count);
  }
  std::vector<Score> score_losses(const Examples&, double sum, int64_t count) const override {
    return scores_of(sum, count);
  }

 private:
  static std::span<const int64_t> ids_of(const Batch& batch, size_t row) {
    const Column& text = batch.columns[0];
    return {text.ids.data<int64_t>() + static_cast<int64_t>(row) * text.ids.size(1),
            static_cast<size_t>(text.lengths.data<int64_t>()[row])};
  }

  static std::vector<Score> scores_of(double sum, int64_t count) {
    const double loss = sum / static_cast<double>(count);
    return {{"loss", loss, Score::lower}, {"perplexity", std::exp(loss), Score::lower}};
  }

  MaskingRules rules_of(const Pretrained& p) const {
    MaskingRules rules = {.mask = p.tokenizer->special().mask,
                          .vocabulary = p.tokenizer->size(),
                          .kept = p.tokenizer->frame({}).ids,
                          .share = share_};
    if (p.tokenizer->special().pad >= 0) rules.kept.push_back(p.tokenizer->special().pad);
    return rules;
  }

  // The documents' tokens follow each other, with the mark that ends a text between, and every row is as long as the context.
  void add_rows(const Pretrained& p, const Dataset& data, const std::vector<int64_t>& numbers, Samples& into) const {
    const std::vector<int64_t> frame = p.tokenizer->frame({}).ids;
    const int64_t room = context_of(p) - static_cast<int64_t>(frame.size());
    require(room > 0, "--context: found {}, expected more than the {} tokens around a text", context_of(p),
            frame.size());
    Tokens row;
    auto add_row = [&] { into.add({{.ids = p.tokenizer->frame(std::exchange(row, {})).ids}}); };
    auto add_token = [&](int64_t id) {
      row.ids.push_back(id);
      row.spans.emplace_back();
      if (static_cast<int64_t>(row.ids.size()) == room) add_row();
    };
    for (int64_t i : numbers) {
      if (!row.ids.empty()) add_token(frame.back());
      for (int64_t id : p.tokenizer->encode(data[i].source).ids) add_token(id);
    }
    if (!row.ids.empty()) add_row();
  }

  // Which tokens are hidden follows from the context's randomness and the row's number.
  static Tensor losses_of(const Pretrained& p, const Batch& batch, const MaskingRules& rules, Reduction reduction,
                          const Context& context) {
    const Column& text = batch.columns[0];
    Tensor ids = text.ids.clone();
    std::vector<int64_t> places, wanted;
    for (size_t row = 0; row < batch.examples.size(); ++row) {
      const int64_t first = static_cast<int64_t>(row) * ids.size(1);
      const Random random = context.random.fork("masks").fork(static_cast<uint64_t>(batch.examples[row]));
      const MaskedRow hidden = mask_tokens(ids_of(batch, row), rules, random);
      std::ranges::copy(hidden.ids, ids.data<int64_t>() + first);
      for (int64_t place : hidden.places) places.push_back(first + place);
      wanted.insert(wanted.end(), hidden.wanted.begin(), hidden.wanted.end());
    }
    const auto count = static_cast<int64_t>(places.size());
    const Tensor logits = p.as<GapFiller>().gap_logits({ids, text.lengths}, tensor({count}, places), context);
    return cross_entropy(logits, tensor({count}, wanted), {.reduction = reduction});
  }

  int64_t context_of(const Pretrained& p) const {
    const int64_t longest = p.as<GapFiller>().longest();
    require(context_ >= 0 && (longest == 0 || context_ <= longest),
            "--context: found {}, expected at most the {} tokens that this model can read", context_, longest);
    return context_ > 0 ? context_ : std::min<int64_t>(longest > 0 ? longest : 512, 512);
  }

  std::string text_column_, documents_ = "file";
  int64_t context_ = 0, batch_tokens_ = 4096;
  double share_ = 0.15;
  MaskingRules rules_;
};

}  // namespace

extern const TaskKind masked = {
    .name = "masked",
    .help = "the words that are missing in a text, learned from texts",
    .make = []() -> std::unique_ptr<Task> { return std::make_unique<Masked>(); },
};

}  // namespace fovea
