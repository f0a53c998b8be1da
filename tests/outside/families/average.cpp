// The mean of a text's embeddings, and a linear layer (Joulin et al. 2017), added from outside.
#include "fovea/models/family.h"
#include "fovea/models/padding.h"
#include "fovea/nn/embedding.h"
#include "fovea/nn/linear.h"
#include "fovea/tensor/matmul.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

class Average final : public Model, public TextLabeller {
 public:
  struct Config {
    int64_t vocabulary = 0, width = 16, padding = 0;
    std::vector<std::string> labels = {};

    void fields(Fields& f) {
      f.from_data("vocabulary", vocabulary, "size of the vocabulary");
      f.from_data("labels", labels, "what a text can be");
      f("width", width, "width of an embedded token");
      f.from_data("padding", padding, "id of padding");
    }
  };
  explicit Average(const Config& c)
      : config_(c),
        labels_("average", {.names = c.labels}),
        embedding_({.entries = c.vocabulary, .width = c.width, .padding = c.padding}),
        output_({.inputs = c.width, .outputs = labels_.size()}) {}

  Tensor logits(const Source& source, const Context&) const override {
    const Tensor x = embedding_(only_real(source.ids, source.lengths, config_.padding));
    return output_(matmul(token_weights(source, {}).unsqueeze(1), x).squeeze(1));
  }
  Tensor loss(const Source& source, const WantedLabels& wanted, const Context& c) const override {
    return sum(labels_.losses(logits(source, c), wanted));
  }
  const Labels& labels() const override { return labels_; }
  Tensor token_weights(const Source& source, const Context&) const override {
    return mean_weights(source.lengths, source.ids.shape(), embedding_.weight().dtype()).squeeze(1);
  }

  void weights(Weights& w) override { w("embedding", embedding_), w("output", output_); }
  std::string_view family() const override { return "average"; }
  std::string config() const override { return family_json(family(), config_); }
  int64_t vocabulary() const override { return config_.vocabulary; }

 private:
  Config config_;
  Labels labels_;
  Embedding embedding_;
  Linear output_;
};

}  // namespace

extern const Family average = family_of<Average>("average", "the mean of a text's embeddings, added from outside",
                                                 R"([{"width": 5}])", R"({"learning_rate": 0.02})");

}  // namespace fovea
