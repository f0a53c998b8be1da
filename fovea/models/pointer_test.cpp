// Models that copy, held to PyTorch's numbers (tests/golden/make_pointer.py), and to themselves in other batches.
#include "fovea/models/pointer.h"

#include <cmath>

#include "fovea/models/copiers.h"
#include "fovea/models/golden.h"
#include "fovea/tensor/activation.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

Tensor probabilities(const Tensor& logits) {
  std::vector<double> p = logits.values<double>();
  for (double& x : p) x = std::exp(x);
  return tensor(logits.shape(), p);
}

template <class M>
void check_gradients(M& model, const std::string& name, double allowed, const Context& context) {
  const SafeTensors& file = pointer_file();
  const Source source = {file["source"], file["lengths"]};
  require_gradients(model);
  const Tensor logits = model.logits(source, file["inputs"], context);
  gradient_check::expect_near(probabilities(logits), probabilities(file[name + ".logits"]), allowed, "probabilities");
  const Tensor loss = model.loss(source, file["inputs"], file["targets"], {.ignored = 0}, context);
  EXPECT_NEAR(loss.item(), file[name + ".loss"].item(), allowed);
  loss.backward();
  size_t weights = 0;
  for_each_tensor(model, [&](const std::string& path, Tensor& w, const Init&) {
    ASSERT_TRUE(w.gradient()) << path;
    gradient_check::expect_near(w.gradient(), file[name + ".gradient." + path], allowed, "gradient of " + path);
    ++weights;
  });
  EXPECT_EQ(weights, golden(file, name + ".gradient.").size());
}

template <class Make>
void check_pointer_golden(const std::string& name, Make make, const Context& context = {}) {
  SCOPED_TRACE(name);
  for_each_arithmetic([&](DType type) {
    auto model = make();
    load(model, golden(pointer_file(), name + ".weight."));
    convert(model, type);
    check_gradients(model, name, type == DType::f64 ? 1e-6 : 2e-5, context);
  });
}

TEST(Pointer, TransformerEqualsPyTorch) {
  for (const std::string norm : {"post", "pre"})
    check_pointer_golden("transformer_" + norm + "_pointer", [&] { return Transformer(golden_transformer(norm)); });
}

TEST(Pointer, RecurrentDecodersEqualPyTorch) {
  for (const std::string order : {"bahdanau", "luong"}) {
    check_pointer_golden(order, [&] { return Seq2Seq(golden_recurrent(order, false)); });
    check_pointer_golden(order + "_coverage", [&] { return Seq2Seq(golden_recurrent(order, true)); },
                         {.training = true});
  }
}

class EveryCopier : public testing::TestWithParam<Variant> {
 protected:
  std::shared_ptr<const Generator> model_ = GetParam().make_as<Generator>();
  StrangeSentences s_;
};
INSTANTIATE_TEST_SUITE_P(Models, EveryCopier, testing::ValuesIn(copiers()),
                         [](const auto& info) { return info.param.name; });

TEST_P(EveryCopier, GivesADistributionOverTheVocabularyAndTheWordsOfItsOwnSource) {
  const Tensor p = probabilities(model_->logits(s_.source, s_.inputs, {}));
  ASSERT_EQ(p.size(2), 15);
  for (double total : sum(p, {-1}).values<double>()) EXPECT_NEAR(total, 1, 1e-5);
  for (int64_t row = 0; row < 4; ++row) {
    if (s_.width(row) < 15) EXPECT_EQ(sum(p.select(0, row).slice(1, s_.width(row), 15)).item(), 0) << "row " << row;
    for (double x : p.select(0, row).slice(1, 0, s_.width(row)).values<double>()) EXPECT_GT(x, 0) << "row " << row;
  }
}

TEST_P(EveryCopier, HasTheSameBitsAloneStepByStepAndFilledUp) {
  const Tensor full = model_->logits(s_.source, s_.inputs, {});
  for (int64_t row = 0; row < 4; ++row) {
    const Tensor alone = model_->logits(s_.alone(row), s_.inputs.slice(0, row, row + 1).contiguous(), {});
    ASSERT_EQ(alone.size(2), s_.width(row));
    ASSERT_TRUE(same_bits(alone, full.slice(0, row, row + 1).slice(2, 0, s_.width(row)))) << "row " << row;
  }
  auto some = [&](int64_t begin, int64_t end, int64_t tokens) {
    return Source{s_.source.ids.slice(0, begin, end).slice(1, 0, tokens).contiguous(),
                  s_.source.lengths.slice(0, begin, end).contiguous()};
  };
  auto state = model_->start(some(0, 2, 7), {});
  for (int64_t t = 0; t < 5; ++t) {
    const Tensor y = model_->step(*state, s_.column(t).slice(0, 0, 2).contiguous(), {});
    ASSERT_EQ(y.size(1), 13);
    ASSERT_TRUE(same_bits(y, full.slice(0, 0, 2).select(1, t).slice(1, 0, 13))) << "step " << t;
  }
  state->append(std::move(*model_->start(some(2, 4, 17), {})));
  const std::vector<int64_t> rows = {0, 2};
  state->reorder(rows);
  for (int64_t t = 0; t < 4; ++t) {
    const std::vector<int64_t> ids = {s_.inputs.data<int64_t>()[5 + t], s_.inputs.data<int64_t>()[2 * 19 + t]};
    const Tensor y = model_->step(*state, tensor({2}, ids), {});
    ASSERT_TRUE(same_bits(y.select(0, 0), full.select(0, 0).select(0, 5 + t)));
    ASSERT_TRUE(same_bits(y.select(0, 1), full.select(0, 2).select(0, t)));
  }
}

// With a gradient the weights come out of the values, without one out of the probe.
TEST_P(EveryCopier, LearningChangesNothingOfWhatItSays) {
  const Tensor before = model_->logits(s_.source, s_.inputs, {});
  const std::unique_ptr<Model> model = GetParam().make();
  require_gradients(*model);
  const Tensor after = as<Generator>(*model).logits(s_.source, s_.inputs, {});
  gradient_check::expect_near(probabilities(after), probabilities(before), 1e-5, "probabilities");
}

TEST(Pointer, ConfigsThatCannotCopyAreErrors) {
  const Seq2Seq::Config plain = {.vocabulary = 11, .pointer = true};
  auto error = [&](auto change) {
    Seq2Seq::Config c = plain;
    change(c);
    return error_of([&] { Seq2Seq{c}; });
  };
  EXPECT_NE(error([](auto& c) { c.attention = "none"; }).find("expected a form of attention"), std::string::npos);
  EXPECT_NE(error([](auto& c) { c.selection = "hard"; }).find("and soft"), std::string::npos);
  EXPECT_NE(error([](auto& c) { c.source_vocabulary = 12; }).find("share"), std::string::npos);
  EXPECT_NE(error([](auto& c) { c.unknown = 11; }).find("id of what is unknown"), std::string::npos);
}

}  // namespace
}  // namespace fovea
