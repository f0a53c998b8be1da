#include "fovea/explain/profile.h"

#include <gtest/gtest.h>

#include <thread>

#include "fovea/attention/attention.h"
#include "fovea/base/threads.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/norm.h"
#include "fovea/tensor/reduce.h"
#include "fovea/train/optimiser.h"

namespace fovea {
namespace {

struct Counting final : Watcher {
  std::mutex mutex;
  std::vector<Work> seen;
  void knows(const std::string&, const void*) override {}
  void saw(const Work& w) override {
    const std::lock_guard lock(mutex);
    seen.push_back(w);
  }
};

TEST(Work, IsToldWithItsOperationsAndBytes) {
  Linear layer({.inputs = 6, .outputs = 5});
  LayerNorm norm({.width = 5});
  initialise(layer, Random(1)), initialise(norm, Random(2));
  const Tensor x = ones({3, 6});
  Counting watcher;
  {
    Watched watched(&watcher);
    norm(layer(x));
    attend(ones({1, 4, 2, 8}), ones({1, 7, 2, 8}), ones({1, 7, 2, 3}), {}, {});
  }
  norm(layer(x));
  ASSERT_EQ(watcher.seen.size(), 3u);
  EXPECT_EQ(watcher.seen[0].kind, Work::Kind::linear);
  EXPECT_EQ(watcher.seen[0].flops, 2 * 3 * 6 * 5);
  EXPECT_EQ(watcher.seen[0].bytes, 4 * (3 * 6 + 6 * 5 + 3 * 5));
  EXPECT_EQ(watcher.seen[1].kind, Work::Kind::norm);
  EXPECT_EQ(watcher.seen[2].flops, 2.0 * 2 * 4 * 7 * (8 + 3));
  for (const Work& w : watcher.seen) EXPECT_GE(w.seconds, 0);
}

TEST(Work, OfATrainingIsToldToo) {
  Linear layer({.inputs = 6, .outputs = 5});
  initialise(layer, Random(1));
  Optimiser optimiser({}, list_weights(layer));
  Profile profile;
  {
    Watched watched(&profile);
    sum(layer(ones({3, 6}))).backward();
    optimiser.step({});
  }
  std::string told;
  for (const ProfileLine& l : profile.report().lines) told += l.layer + ":" + l.work + " ";
  EXPECT_EQ(told.substr(0, told.find(":the rest")), ":linear :backward :update ");
}

// Sequences that stand side by side do not look at each other, and a padded row has no more pairs than its real part.
TEST(Work, OfAttentionIsWhatAMaskLeaves) {
  const Tensor x = ones({1, 9, 2, 4}), padded = ones({2, 6, 2, 4});
  Counting watcher;
  {
    Watched watched(&watcher);
    attend(x, x, x, {.mask = {.query_starts = tensor({4}, std::vector<int64_t>{0, 2, 5, 9})}}, {});
    attend(padded, padded, padded, {.mask = {.causal = true, .key_lengths = tensor({2}, std::vector<int64_t>{6, 3})}},
           {});
  }
  ASSERT_EQ(watcher.seen.size(), 2u);
  EXPECT_EQ(watcher.seen[0].flops, 2.0 * 2 * (2 * 2 + 3 * 3 + 4 * 4) * (4 + 4));
  EXPECT_EQ(watcher.seen[1].flops, 2.0 * 2 * (6 * 6 + 6 * 3) / 2 * (4 + 4));
}

// Whoever watches one thread hears of its loops' bodies, wherever they run, and of nothing else.
TEST(Work, AWatcherGoesAlongIntoTheLoopsOfItsThreadAlone) {
  set_threads(3);
  Linear layer({.inputs = 4, .outputs = 4});
  initialise(layer, Random(1));
  Counting first, second;
  const auto run = [&](Counting& watcher, int count) {
    Watched watched(&watcher);
    parallel_for(count, [&](int64_t) { layer(ones({1, 4})); });
  };
  std::thread other([&] { run(second, 50); });
  run(first, 20);
  parallel_for(10, [&](int64_t) { layer(ones({1, 4})); });
  other.join();
  set_threads(0);
  EXPECT_EQ(first.seen.size(), 20u);
  EXPECT_EQ(second.seen.size(), 50u);
  EXPECT_EQ(watcher(), nullptr);
}

TEST(Profile, TheLayerOfAWeightIsItsPathUpToTheFirstNumber) {
  EXPECT_EQ(layer_of("encoder.layer.3.attention.self.query.weight"), "encoder.layer.3");
  EXPECT_EQ(layer_of("encoder.block.0.layer.1.DenseReluDense.wi.weight"), "encoder.block.0");
  EXPECT_EQ(layer_of("transformer.wte.weight"), "transformer.wte");
  EXPECT_EQ(layer_of("weight"), "weight");
}

TEST(Profile, AddsUpByLayerAndKindOfWork) {
  Profile profile;
  const int a = 0, b = 0;
  profile.knows("encoder.0.query.weight", &a);
  profile.knows("encoder.1.query.weight", &b);
  profile.saw({.kind = Work::Kind::linear, .weight = &a, .flops = 100, .precision = Precision::f32, .seconds = 0.25});
  profile.saw({.kind = Work::Kind::attention, .flops = 10, .how = "fused", .seconds = 0.125});
  profile.saw({.kind = Work::Kind::linear, .weight = &b, .flops = 7, .precision = Precision::int8, .seconds = 0.5});
  profile.saw({.kind = Work::Kind::linear, .weight = &a, .flops = 100, .precision = Precision::f32, .seconds = 0.25});
  const ProfileReport r = profile.report();
  ASSERT_GE(r.lines.size(), 3u);
  EXPECT_EQ(r.lines[0].layer + " " + r.lines[0].work + " " + r.lines[0].kernel, "encoder.0 linear f32 panels");
  EXPECT_EQ(r.lines[0].calls, 2);
  EXPECT_EQ(r.lines[0].seconds, 0.5);
  EXPECT_EQ(r.lines[0].flops, 200);
  EXPECT_EQ(r.lines[1].layer + " " + r.lines[1].work + " " + r.lines[1].kernel, "encoder.0 attention fused");
  EXPECT_EQ(r.lines[2].layer + " " + r.lines[2].kernel.substr(0, 11),
            "encoder.1 int8 panels");  // and the unit, if there is one
  EXPECT_GT(r.flops_limit, 1e8);
  EXPECT_NEAR(r.lines[0].of_limit, 200 / 0.5 / r.flops_limit, 1e-9);
  EXPECT_NE(to_text(r).find("encoder.1"), std::string::npos);
  EXPECT_NE(to_json(r).find("\"int8_limit\""), std::string::npos);
}

}  // namespace
}  // namespace fovea
