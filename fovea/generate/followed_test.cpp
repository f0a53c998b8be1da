// A search that is looked at: what it saw along the hypothesis that won is what one full pass over that hypothesis sees.
#include "fovea/generate/followed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fovea/generate/search.h"
#include "fovea/models/variants.h"
#include "fovea/nn/golden.h"

namespace fovea {
namespace {

class EverySearch : public testing::TestWithParam<Variant> {};
INSTANTIATE_TEST_SUITE_P(Models, EverySearch,
                         testing::ValuesIn(variants([](const Abilities& a) { return a.generates && !a.listens; })),
                         [](const auto& info) { return info.param.name; });

void expect_the_full_pass(const Variant& variant, const GenerationConfig& config) {
  const auto model = variant.make();
  const auto& writer = as<Generator>(*model);
  const auto* pictures = can<PictureEncoder>(*model);
  const PictureShape shape = pictures ? pictures->picture_shape() : PictureShape();
  const bool reads = pictures || can<Encoder>(*model);
  const std::vector<int64_t> given = {4, 7, 5, 9, 6, 3};
  const Tensor pixels = pictures ? normal({shape.channels, shape.height, shape.width}, Random(3)) : Tensor();
  const Request request = pictures ? Request{.pixels = pixels}
                          : reads  ? Request{.source = given}
                                   : Request{.prompt = given};
  Trace followed, whole;
  const Hypothesis best = generate(writer, {request}, config, {.trace = &followed})[0].at(0);

  std::vector<int64_t> read = reads ? std::vector<int64_t>{for_model(writer, config).start_id} : given;
  read.insert(read.end(), best.ids.begin(), best.ids.end());
  if (!best.ended) read.pop_back();  // the last token was written and not read
  const auto count = static_cast<int64_t>(read.size());
  const Source source = pictures ? Source{.pixels = pixels.unsqueeze(0)}
                        : reads  ? Source{tensor({1, 6}, given), {}}
                                 : Source{};
  const Tensor logits = writer.logits(source, tensor({1, count}, read), {.trace = &whole});

  ASSERT_EQ(followed.results().size(), whole.results().size() + 1);  // and what was likely
  for (const auto& [place, runs] : whole.results()) {
    SCOPED_TRACE(place);
    EXPECT_TRUE(same_bits(joined_weights(followed.results().at(place)), joined_weights(runs)));
  }
  // What was likely at each step is what the softmax of these logits has most of, in float64.
  const ProbeResult& likely = followed[likely_place];
  const auto written = static_cast<int64_t>(best.log_probabilities.size());
  ASSERT_EQ(likely.top_keys.shape(), (Shape{1, 1, written, likely_tokens}));
  for (int64_t i = 0; i < written; ++i) {
    const std::vector<double> row = logits.select(0, 0).select(0, count - written + i).values<double>();
    double sum = 0;
    for (double x : row) sum += std::exp(x);
    const auto best_id = std::max_element(row.begin(), row.end()) - row.begin();
    EXPECT_EQ(likely.top_keys.data<int64_t>()[i * likely_tokens], best_id);
    EXPECT_NEAR(likely.top_weights.data<float>()[i * likely_tokens], std::exp(row[static_cast<size_t>(best_id)]) / sum,
                1e-5);
  }
}

TEST_P(EverySearch, SeesWhatTheFullPassOverTheBestHypothesisSees) {
  expect_the_full_pass(GetParam(), {.beam_size = 1, .max_length = 9});
  expect_the_full_pass(GetParam(), {.beam_size = 4, .max_length = 9});
}

TEST_P(EverySearch, SamplesAreFollowedToo) {
  expect_the_full_pass(GetParam(), {.n_best = 3, .sample = true, .seed = 5, .max_length = 7});
}

TEST(FollowedTrace, IsOfOneRequest) {
  const auto model = writers().front().make();
  Trace trace;
  EXPECT_THROW(generate(as<Generator>(*model), {{.source = {4}}, {.source = {5}}}, {}, {.trace = &trace}), Error);
}

}  // namespace
}  // namespace fovea
