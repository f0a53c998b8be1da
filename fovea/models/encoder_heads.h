// What models of BERT's kind do with the hidden states of a text, as the "architectures" of their config say.
//
//   extern const Family bert = headed_family<Bert>("BERT: …", variants);           // one class for each head, made by the config
//
// A Kin says what differs between BERT, RoBERTa and DistilBERT: its `name`, the `class_name` that its architectures begin with, Config
// and Body (states of a packed source, weights), the `prefix` of the body's weights below a head, and what the weights of its two
// larger heads are called.
#pragma once

#include <algorithm>
#include <string>

#include "fovea/models/family.h"
#include "fovea/models/packed_source.h"
#include "fovea/nn/dropout.h"
#include "fovea/nn/embedding.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/norm.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/reduce.h"

namespace fovea {

inline constexpr const char *masked_head = "ForMaskedLM", *text_head = "ForSequenceClassification",
                            *token_head = "ForTokenClassification", *answer_head = "ForQuestionAnswering";

inline bool has_head(const std::vector<std::string>& architectures, std::string_view head) {
  const bool pretrained = head == masked_head && !architectures.empty() && architectures[0].ends_with("ForPreTraining");
  return pretrained || (!architectures.empty() && architectures[0].ends_with(head));
}

// The head that does what is needed; none if no head has to.
inline const char* head_for(const Abilities& needs) {
  if (needs.fills_gaps) return masked_head;
  if (needs.labels_texts) return text_head;
  if (needs.labels_tokens) return token_head;
  return needs.finds_answers ? answer_head : nullptr;
}

// What Hugging Face calls the meaning of labels.
inline std::string problem_type_of(std::string_view labelling) {
  if (labelling == "number") return "regression";
  return labelling == "several" ? "multi_label_classification" : "single_label_classification";
}

// Masked words: logits = norm(act(W x)) Eᵀ + b, with the embedding E or a matrix of its own
class GapHead final {
 public:
  struct Config {
    int64_t width = 0, vocabulary = 0;
    double epsilon = 1e-12;
    Activation activation = Activation::gelu;
    bool tied = true;
    const char *dense, *norm, *bias, *decoder;  // what its weights are called
  };
  explicit GapHead(const Config& c)
      : config_(c), dense_({c.width, c.width}), norm_({c.width, c.epsilon}), bias_(Shape{c.vocabulary}) {
    if (!c.tied) decoder_ = Weight({c.vocabulary, c.width}, Weight::Use::product);
  }

  Tensor operator()(const Tensor& x, const Embedding& words) const {
    return linear(norm_(dense_(x, config_.activation)), decoder_ ? decoder_ : words.weight(), bias_);
  }
  void weights(Weights& w) {
    w(config_.dense, dense_), w(config_.norm, norm_);
    w(config_.bias, bias_, {Init::zeros});
    if (decoder_) w(config_.decoder, decoder_, {Init::normal, 0.02});
  }

 private:
  Config config_;
  Linear dense_;
  LayerNorm norm_;
  Weight bias_, decoder_;
};

// Labels of texts: logits = C act(W x)
class TextHead final {
 public:
  struct Config {
    int64_t width = 0, labels = 0;
    Activation activation = Activation::tanh;
    double before = 0, after = 0;  // shares that are dropped
    const char *dense, *output;
  };
  explicit TextHead(const Config& c)
      : config_(c), before_(c.before), after_(c.after), dense_({c.width, c.width}), output_({c.width, c.labels}) {}

  Tensor operator()(const Tensor& x, const Context& c) const {
    return output_(after_(dense_(before_(x, c.at("first")), config_.activation), c.at("second")));
  }
  void weights(Weights& w) { w(config_.dense, dense_), w(config_.output, output_); }

 private:
  Config config_;
  Dropout before_, after_;
  Linear dense_, output_;
};

// Hidden states and no head; with one, its weights come behind those of the body.
template <class Kin>
class Headed : public Model, public Encoder {
 public:
  using Config = typename Kin::Config;
  explicit Headed(const Config& c) : config_(c), body_(Kin::body(c)) {}

  Tensor encode(const Source& source, const Context& c) const final {
    const PackedSource p = packed(source);
    return unpacked(body_(p, c), p, source.ids.size(1));
  }

  int64_t longest() const override { return body_.longest(); }

  void weights(Weights& w) override { body_.weights(w); }
  std::string_view family() const final { return Kin::name; }
  std::string config() const final { return family_json(Kin::name, config_); }
  int64_t vocabulary() const final { return config_.vocab_size; }
  bool foreign() const final { return true; }
  std::string weight_path(const std::string& stored) const final {
    const std::string plain = Kin::plain_name(stored);
    if (Kin::useless(plain, config_)) return {};
    return Kin::in_body(plain) && has_some_head() ? std::string(Kin::prefix) + plain : plain;
  }

 protected:
  virtual bool has_some_head() const { return false; }
  void headed_weights(Weights& w) { w(Kin::prefix.substr(0, Kin::prefix.size() - 1), body_); }

  Config config_;
  typename Kin::Body body_;
};

template <class Kin>
class FillsGaps final : public Headed<Kin>, public GapFiller {
 public:
  explicit FillsGaps(const typename Kin::Config& c) : Headed<Kin>(c), head_(Kin::for_gaps(c)) {}

  Tensor gap_logits(const Source& source, const Tensor& places, const Context& c) const override {
    const PackedSource p = packed(source);
    const int64_t tokens = source.ids.size(1);
    std::vector<int64_t> in_packed;
    for (int64_t place : places.values<int64_t>()) {
      const auto row = static_cast<size_t>(std::max<int64_t>(0, place) / tokens);
      require(place >= 0 && row + 1 < p.starts.size() && place % tokens < p.starts[row + 1] - p.starts[row],
              "gaps: found place {}, expected one of the {} rows' tokens", place, p.rows());
      in_packed.push_back(p.starts[row] + place % tokens);
    }
    const Tensor states = rows(this->body_(p, c).squeeze(0), tensor(places.shape(), in_packed));
    return head_(states, this->body_.words());
  }
  int64_t longest() const override { return this->body_.longest(); }
  void weights(Weights& w) override { this->headed_weights(w), head_.weights(w); }

 private:
  bool has_some_head() const override { return true; }
  GapHead head_;
};

template <class Kin>
class LabelsTexts final : public Headed<Kin>, public TextLabeller {
 public:
  explicit LabelsTexts(const typename Kin::Config& c)
      : Headed<Kin>(c),
        labels_(Kin::name, {.names = c.id2label, .kind = kind_of(c)}),
        head_(Kin::for_texts(c, labels_.size())) {}

  // What decides is read off the first token.
  Tensor logits(const Source& source, const Context& c) const override {
    const PackedSource p = packed(source);
    return head_(first_tokens(this->body_(p, c), p), c.at("head"));
  }
  Tensor loss(const Source& source, const WantedLabels& wanted, const Context& c) const override {
    return sum(labels_.losses(logits(source, c), wanted));
  }
  const Labels& labels() const override { return labels_; }
  bool pairs() const override { return true; }
  int64_t longest() const override { return this->body_.longest(); }
  // What the first token looks at in the last layer, the mean over heads.
  Tensor token_weights(const Source& source, const Context& context) const override {
    Trace trace({.row_range = {0, 1}, .weights = true});
    trace.places = {this->body_.last_attention()};
    Context c = context;
    c.trace = &trace, c.place = {};
    this->body_(packed(source), c);
    const Tensor seen = mean(trace[trace.places[0]].weights.select(2, 0), {1});  // [batch, tokens of the longest]
    const int64_t missing = source.ids.size(1) - seen.size(1);
    return missing == 0 ? seen : concat({seen, zeros({seen.size(0), missing})}, 1);
  }
  void weights(Weights& w) override { this->headed_weights(w), head_.weights(w); }

 private:
  static std::string kind_of(const typename Kin::Config& c) {
    check_choice(Kin::name, "problem_type", c.problem_type,
                 {"", "single_label_classification", "multi_label_classification", "regression"});
    if (c.problem_type == "multi_label_classification") return "several";
    return c.problem_type == "regression" || (c.problem_type.empty() && c.id2label.size() == 1) ? "number" : "one";
  }
  bool has_some_head() const override { return true; }

  Labels labels_;
  TextHead head_;
};

template <class Kin>
class LabelsTokens final : public Headed<Kin>, public TokenLabeller {
 public:
  explicit LabelsTokens(const typename Kin::Config& c)
      : Headed<Kin>(c), dropout_(c.head_dropout()), classifier_({c.hidden_size, checked(c.id2label)}) {}

  Tensor token_logits(const Source& source, const Context& c) const override {
    const PackedSource p = packed(source);
    return unpacked(classifier_(dropout_(this->body_(p, c), c.at("head"))), p, source.ids.size(1));
  }
  const std::vector<std::string>& token_labels() const override { return this->config_.id2label; }
  int64_t longest() const override { return this->body_.longest(); }
  void weights(Weights& w) override { this->headed_weights(w), w("classifier", classifier_); }

 private:
  static int64_t checked(const std::vector<std::string>& labels) {
    check_labels(Kin::name, labels);
    return static_cast<int64_t>(labels.size());
  }
  bool has_some_head() const override { return true; }

  Dropout dropout_;
  Linear classifier_;
};

template <class Kin>
class FindsAnswers final : public Headed<Kin>, public AnswerFinder {
 public:
  explicit FindsAnswers(const typename Kin::Config& c) : Headed<Kin>(c), edges_({c.hidden_size, 2}) {}

  Tensor edge_logits(const Source& source, const Context& c) const override {
    const PackedSource p = packed(source);
    return unpacked(edges_(this->body_(p, c)), p, source.ids.size(1));
  }
  int64_t longest() const override { return this->body_.longest(); }
  void weights(Weights& w) override { this->headed_weights(w), w("qa_outputs", edges_); }

 private:
  bool has_some_head() const override { return true; }
  Linear edges_;
};

template <class Kin>
class HeadedConfig final : public ModelConfig {
 public:
  void fields(Fields& f) override { config_.fields(f); }
  void fit(const DataFacts& facts) override {
    const char* head = head_for(facts.needs);
    if (!head) return;
    config_.architectures = {std::string(Kin::class_name) + head};
    if (head == text_head || head == token_head) config_.id2label = facts.labels;
    config_.problem_type = head == text_head ? problem_type_of(facts.labelling) : "";
  }
  std::unique_ptr<Model> make() const override {
    config_.check(Kin::name);
    if (config_.has(masked_head)) return std::make_unique<FillsGaps<Kin>>(config_);
    if (config_.has(text_head)) return std::make_unique<LabelsTexts<Kin>>(config_);
    if (config_.has(token_head)) return std::make_unique<LabelsTokens<Kin>>(config_);
    if (config_.has(answer_head)) return std::make_unique<FindsAnswers<Kin>>(config_);
    if (config_.architectures.empty() || config_.has("Model")) return std::make_unique<Headed<Kin>>(config_);
    throw Error(Error::unsupported,
                "{}: found the architecture {}, expected one that ends with Model, {}, {}, {} or {}", Kin::name,
                config_.architectures[0], masked_head, text_head, token_head, answer_head);
  }

 private:
  typename Kin::Config config_;
};

// From nothing: pieces of words, framed as these models read a text.
inline constexpr std::string_view headed_training =
    R"({"tokenizer": "wordpiece", "vocabulary": 8000, "zero_digits": false, "learning_rate": 3e-4, "warmup": -1})";

template <class Kin>
constexpr Family headed_family(std::string_view help, std::string_view variants, std::string_view training = "{}") {
  return {Kin::name,
          help,
          []() -> std::unique_ptr<ModelConfig> { return std::make_unique<HeadedConfig<Kin>>(); },
          {.encodes = true, .labels_texts = true, .labels_tokens = true, .fills_gaps = true, .finds_answers = true},
          variants,
          training};
}

}  // namespace fovea
