#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "fovea/formats/matrix_text.h"
#include "fovea/generate/classify.h"
#include "fovea/train/metrics/accuracy.h"
#include "fovea/train/metrics/label_sets.h"
#include "fovea/train/metrics/regression.h"
#include "fovea/train/task.h"

namespace fovea {
namespace {

float number_of(const std::string& label) { return static_cast<float>(parse_number(label, "label")); }

class Classification final : public Task {
 public:
  bool suits(const Abilities& a) const override { return a.labels_texts; }
  std::string_view first_family() const override { return "classifier"; }
  VocabularyConfig vocabulary() const override { return {.kind = "words", .size = 20000, .lower_case = true}; }
  std::string_view training() const override {
    return R"({"validate_every": -1, "checkpoint_every": -1, "patience": 10, "average": 0.99,
               "schedule": "constant", "warmup": 50})";
  }
  void fields(Fields& f) override {
    f("labelling", labelling_, "one: a text has one label, several: any number of them, number: a value");
    f("text_column", text_column_, "the text: a column's name, its number from 1, or a key of JSON");
    f("text_b_column", text_b_column_, "the second of two texts that are read together, likewise");
    f("label_column", label_column_, "the label, likewise");
    f("label_separator", separator_, "several: what stands between the labels of a cell, as | or ,");
    f("names", names_, "other names for labels, as 0=negative 1=positive");
    f("balance", balance_, "labels count the more the rarer they are; the best model is that of the best macro F1");
    f("batch_tokens", batch_tokens_, "tokens of a batch, padding included");
    f("max_tokens", max_tokens_, "leave out texts of more tokens; 0: none");
  }
  ExampleFormat format() const override {
    return {
        .kind = several() ? ExampleKind::label_sets : ExampleKind::labelled,
        .columns = {.source = text_column_, .text_b = text_b_column_, .label = label_column_, .separator = separator_},
        .names = names_,
        .learns_labels = !is_number()};
  }

  std::unique_ptr<Tokenizer> learn(const VocabularyConfig& config, const Examples& examples) const override {
    return learn_vocabulary(config, [&, i = size_t{0}](std::string& text) mutable {
      if (i == examples.training.size()) return false;
      text = text_of(examples.data[examples.training[i++]]);
      return true;
    });
  }

  DataFacts facts(const Examples& examples, const Tokenizer& tokenizer) override {
    check_labelling();
    DataFacts facts = {.needs = {.labels_texts = true},
                       .vocabulary = tokenizer.size(),
                       .labelling = labelling_,
                       .special = tokenizer.special()};
    for (int64_t i : examples.training) facts.pairs = facts.pairs || !examples.data[i].text_b.empty();
    if (is_number()) {
      facts.labels = {"number"};
      add_moments(examples, facts);
      return facts;
    }
    const std::map<std::string, int64_t> counts = counts_of(examples);
    require(counts.size() > (several() ? 0u : 1u), "training: found {} label{}, expected at least two different ones",
            counts.empty() ? "no" : "the", counts.empty() ? "" : fmt::format(" '{}' alone", counts.begin()->first));
    require(counts.size() <= 10000,
            "training: found {} different labels, expected at most 10,000; numbers are learned with --labelling number",
            counts.size());
    double all = 0;
    for (const auto& [label, count] : counts) facts.labels.push_back(label), all += static_cast<double>(count);
    for (const auto& [label, count] : counts)
      if (balance_) weights_[label] = all / static_cast<double>(counts.size()) / static_cast<double>(count);
    return facts;
  }

  std::vector<Sequence> columns(const Pretrained& p, const Example& e) const override {
    const TextLabeller& model = p.as<TextLabeller>();
    Sequence wanted;
    if (is_number()) wanted.ids = {std::bit_cast<int32_t>(number_of(e.label))};
    for (const std::string& label : is_number() ? std::vector<std::string>() : labels_of(e)) {
      const std::vector<std::string>& known = model.labels().names();
      const auto found = std::find(known.begin(), known.end(), label);
      if (found == known.end()) throw_unknown("label", label, known);
      wanted.ids.push_back(found - known.begin());
    }
    Tokens tokens = labeller_tokens(*p.tokenizer, text_of(e), model).tokens;
    std::vector<Sequence> columns = {{.ids = std::move(tokens.ids)}, std::move(wanted)};
    if (p.tokenizer->frames()) columns.push_back({.ids = std::move(tokens.types)});
    return columns;
  }
  int64_t batch_tokens() const override { return batch_tokens_; }
  int64_t max_tokens() const override { return max_tokens_; }
  int64_t losses(const Batch& batch) const override { return static_cast<int64_t>(batch.examples.size()); }

  Tensor loss(const Pretrained& p, const Batch& batch, const Context& context) const override {
    const TextLabeller& model = p.as<TextLabeller>();
    const Column& text = batch.columns[0];
    const Tensor types = batch.columns.size() > 2 ? batch.columns[2].ids : Tensor();
    return model.loss({text.ids, text.lengths, types}, wanted(model.labels(), batch.columns[1]), context);
  }

  Predictions predict(const Pretrained& p, const Dataset& data, const std::vector<int64_t>& numbers,
                      const PredictOptions& options) const override {
    Predictions predictions;
    std::vector<std::string> texts;
    for (int64_t i : numbers) {
      const Example e = data[i];
      texts.push_back(text_of(e));
      predictions.references.push_back(fmt::format("{}", fmt::join(labels_of(e), "\t")));
    }
    const TextLabeller& model = p.as<TextLabeller>();
    for (const Classified& c : classify(model, *p.tokenizer, texts, {.on_batch = options.done}))
      predictions.hypotheses.push_back(answer(c, model.labels()));
    return predictions;
  }

  std::vector<Score> score(const Predictions& p) const override {
    if (is_number()) return number_scores(p);
    if (several()) {
      const LabelSetScores scores = score_label_sets(sets_of(p.references), sets_of(p.hypotheses));
      std::vector<Score> all = {{"micro_f1", scores.micro.f1, Score::higher},
                                {"macro_f1", scores.macro.f1, Score::higher},
                                {"exact_match", scores.exact_match, Score::higher}};
      if (balance_) std::swap(all[0], all[1]);
      return all;
    }
    const LabelScores scores = score_labels(p.references, p.hypotheses);
    std::vector<Score> all = {{"accuracy", scores.accuracy, Score::higher},
                              {"macro_f1", scores.macro.f1, Score::higher}};
    if (balance_) std::swap(all[0], all[1]);
    return all;
  }

 private:
  bool several() const { return labelling_ == "several"; }
  bool is_number() const { return labelling_ == "number"; }
  std::vector<std::string> labels_of(const Example& e) const {
    return several() ? e.labels : std::vector<std::string>{e.label};
  }
  static std::string text_of(const Example& e) { return e.text_b.empty() ? e.source : e.source + "\t" + e.text_b; }

  void check_labelling() const {
    check_choice("classification", "labelling", labelling_, {"one", "several", "number"});
    require(!balance_ || !is_number(), "--balance: found it beside --labelling number, which has no labels");
    require(separator_.empty() || several(), "--label-separator: found it beside --labelling {}, expected several",
            labelling_);
  }

  std::map<std::string, int64_t> counts_of(const Examples& examples) const {
    std::map<std::string, int64_t> counts;
    for (int64_t i : examples.training)
      for (const std::string& label : labels_of(examples.data[i])) ++counts[label];
    return counts;
  }

  static void add_moments(const Examples& examples, DataFacts& facts) {
    double sum = 0, squares = 0;
    const auto n = static_cast<double>(examples.training.size());
    for (int64_t i : examples.training) sum += number_of(examples.data[i].label);
    facts.mean = sum / n;
    for (int64_t i : examples.training) squares += std::pow(number_of(examples.data[i].label) - facts.mean, 2);
    facts.deviation = std::sqrt(squares / n);
    require(facts.deviation > 0, "training: found the number {} alone, expected different ones", facts.mean);
  }

  // A label that no example has is never wanted, whatever it counts.
  Tensor label_weights(const Labels& labels) const {
    std::vector<double> weights;
    for (const std::string& name : labels.names()) weights.push_back(weights_.contains(name) ? weights_.at(name) : 1);
    return tensor({labels.size()}, weights);
  }

  WantedLabels wanted(const Labels& labels, const Column& column) const {
    WantedLabels wanted;
    if (balance_) wanted.weights = label_weights(labels);
    const int64_t batch = column.ids.size(0), most = column.ids.size(1), *ids = column.ids.data<int64_t>();
    if (labels.kind() == Labels::one) wanted.labels = column.ids.squeeze(1);
    if (labels.kind() == Labels::number) {
      std::vector<float> numbers;
      for (int64_t i = 0; i < batch; ++i) numbers.push_back(std::bit_cast<float>(static_cast<int32_t>(ids[i])));
      wanted.labels = tensor({batch, 1}, numbers);
    }
    if (labels.kind() != Labels::several) return wanted;
    wanted.labels = zeros({batch, labels.size()});
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t i = 0; i < column.lengths.data<int64_t>()[b]; ++i)
        wanted.labels.data<float>()[b * labels.size() + ids[b * most + i]] = 1;
    return wanted;
  }

  static std::string answer(const Classified& c, const Labels& labels) {
    if (labels.kind() == Labels::number) return fmt::format("{}", c.probabilities[0]);
    if (labels.kind() == Labels::one) return labels.names()[c.best];
    std::vector<std::string> chosen;
    for (size_t i : c.chosen()) chosen.push_back(labels.names()[i]);
    return fmt::format("{}", fmt::join(chosen, "\t"));
  }

  static std::vector<std::vector<std::string>> sets_of(const std::vector<std::string>& lines) {
    std::vector<std::vector<std::string>> sets;
    for (const std::string& line : lines)
      sets.push_back(line.empty() ? std::vector<std::string>() : split_text(line, '\t'));
    return sets;
  }

  static std::vector<Score> number_scores(const Predictions& p) {
    std::vector<double> references, hypotheses;
    for (const std::string& line : p.references) references.push_back(number_of(line));
    for (const std::string& line : p.hypotheses) hypotheses.push_back(number_of(line));
    const NumberScores scores = score_numbers(references, hypotheses);
    return {{"pearson", scores.pearson, Score::higher},
            {"spearman", scores.spearman, Score::higher},
            {"mean_squared_error", scores.mean_squared_error, Score::lower}};
  }

  std::string labelling_ = "one", text_column_, text_b_column_, label_column_, separator_;
  std::vector<std::string> names_;
  bool balance_ = false;
  int64_t batch_tokens_ = 512, max_tokens_ = 400;
  std::map<std::string, double> weights_;  // of each label, once the data is known
};

}  // namespace

extern const TaskKind classification = {
    .name = "classification",
    .help = "labels for a text, or a number, learned from labelled texts",
    .make = []() -> std::unique_ptr<Task> { return std::make_unique<Classification>(); },
};

}  // namespace fovea
