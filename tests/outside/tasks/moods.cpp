// Classification under another name and with a score of its own, added from outside.
#include "fovea/train/task.h"

namespace fovea {
namespace {

class Moods final : public Task {
 public:
  bool suits(const Abilities& a) const override { return inner_->suits(a); }
  std::string_view first_family() const override { return "average"; }
  void fields(Fields& f) override { inner_->fields(f); }
  VocabularyConfig vocabulary() const override { return {.kind = "words", .size = 100}; }
  std::string_view training() const override { return R"({"warmup": 5, "schedule": "constant", "steps": 60})"; }
  ExampleFormat format() const override { return inner_->format(); }
  std::unique_ptr<Tokenizer> learn(const VocabularyConfig& c, const Examples& e) const override {
    return inner_->learn(c, e);
  }
  DataFacts facts(const Examples& e, const Tokenizer& t) override { return inner_->facts(e, t); }
  std::vector<Sequence> columns(const Pretrained& p, const Example& e) const override { return inner_->columns(p, e); }
  int64_t batch_tokens() const override { return 200; }
  int64_t max_tokens() const override { return 0; }
  Tensor loss(const Pretrained& p, const Batch& b, const Context& c) const override { return inner_->loss(p, b, c); }
  int64_t losses(const Batch& b) const override { return inner_->losses(b); }
  Predictions predict(const Pretrained& p, const Dataset& d, const std::vector<int64_t>& numbers,
                      const PredictOptions& o) const override {
    return inner_->predict(p, d, numbers, o);
  }
  std::vector<Score> score(const Predictions& p) const override {
    double right = 0;
    for (size_t i = 0; i < p.references.size(); ++i) right += p.references[i] == p.hypotheses[i] ? 1 : 0;
    return {{"right", right / static_cast<double>(p.references.size()), Score::higher}};
  }

 private:
  std::unique_ptr<Task> inner_ = find<TaskKind>("classification").make();
};

}  // namespace

extern const TaskKind moods = {
    .name = "moods",
    .help = "the mood of a text, added from outside",
    .make = []() -> std::unique_ptr<Task> { return std::make_unique<Moods>(); },
};

}  // namespace fovea
