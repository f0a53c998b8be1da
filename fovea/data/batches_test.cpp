#include "fovea/data/batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "fovea/base/error.h"

namespace fovea {
namespace {

using Ids = std::vector<int64_t>;

// Example i has a source of 1 + i·37 mod 29 ids and a target of up to three more, all of them i + 1.
Samples some(int64_t count) {
  Samples samples;
  for (int64_t i = 0; i < count; ++i) {
    samples.add({{.ids = Ids(static_cast<size_t>(1 + i * 37 % 29), i + 1)},
                 {.ids = Ids(static_cast<size_t>(1 + i * 37 % 29 + i * 11 % 4), i + 1)}});
  }
  return samples;
}

std::vector<Ids> epoch_of(Batches& batches) {
  std::vector<Ids> result;
  do {
    result.push_back(batches.next().examples);
  } while (batches.state().batch < batches.batches_in_epoch());
  return result;
}

TEST(Collate, PadsToTheLongest) {
  const std::vector<Sequence> rows = {{.ids = {5, 6, 7}, .spans = {{0, 1}, {1, 2}, {3, 4}}}, {.ids = {}}, {.ids = {8}}};
  const Column c = collate(rows, 9);
  EXPECT_EQ(c.ids.shape(), (Shape{3, 3}));
  EXPECT_EQ(c.ids.values<int64_t>(), (Ids{5, 6, 7, 9, 9, 9, 8, 9, 9}));
  EXPECT_EQ(c.lengths.values<int64_t>(), (Ids{3, 0, 1}));
  EXPECT_FALSE(c.group_lengths);
  ASSERT_EQ(c.spans.size(), 3u);
  EXPECT_EQ(c.spans[0][2], (Span{3, 4}));
}

TEST(Collate, CharactersOfWords) {
  const std::vector<Sequence> rows = {{.ids = {1, 2, 3, 4}, .groups = {1, 0, 3}}, {.ids = {5, 6}, .groups = {2}}};
  const Column c = collate(rows, 0);
  EXPECT_EQ(c.ids.shape(), (Shape{2, 3, 3}));
  EXPECT_EQ(c.ids.values<int64_t>(), (Ids{1, 0, 0, 0, 0, 0, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(c.lengths.values<int64_t>(), (Ids{3, 1}));
  EXPECT_EQ(c.group_lengths.values<int64_t>(), (Ids{1, 0, 3, 2, 0, 0}));
  EXPECT_THROW(collate(std::vector<Sequence>{{.ids = {1, 2}, .groups = {1}}}), Error);
  EXPECT_THROW(collate(std::vector<Sequence>{{.ids = {1}, .groups = {1}}, {.ids = {1}}}), Error);
}

TEST(Samples, KeepIdsAndGroups) {
  Samples samples({.memory = 1});
  samples.add({{.ids = {1, -2, 2147483647}}, {.ids = {4, 5, 6}, .groups = {2, 1}}});
  samples.add({{.ids = {}}, {.ids = {}}});
  EXPECT_EQ(samples[0][0].ids, (Ids{1, -2, 2147483647}));
  EXPECT_EQ(samples[0][1].groups, (Ids{2, 1}));
  EXPECT_EQ(samples[0][1].ids, (Ids{4, 5, 6}));
  EXPECT_EQ(samples.lengths(0)[1], 2);
  EXPECT_EQ(samples[1][0].ids, Ids{});
  EXPECT_THROW(samples.add({{.ids = {1}}}), Error);
  EXPECT_THROW(samples.add({{.ids = {int64_t{1} << 31}}, {}}), Error);
}

TEST(Batches, EveryExampleOnceAnEpochWithinTheBudget) {
  const Samples samples = some(500);
  Batches batches(samples, {.tokens = 300, .seed = 3});
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::multiset<int64_t> seen;
    int64_t padded = 0, real = 0;
    do {
      const Batch b = batches.next();
      const auto rows = static_cast<int64_t>(b.examples.size());
      const int64_t size = rows * (b.columns[0].ids.size(1) + b.columns[1].ids.size(1));
      EXPECT_LE(size, 300);
      padded += size, real += b.tokens;
      seen.insert(b.examples.begin(), b.examples.end());
      for (size_t c = 0; c < 2; ++c) {
        const Ids ids = b.columns[c].ids.values<int64_t>(), lengths = b.columns[c].lengths.values<int64_t>();
        EXPECT_EQ(*std::max_element(lengths.begin(), lengths.end()), b.columns[c].ids.size(1));
        for (int64_t row = 0; row < rows; ++row) {
          for (int64_t t = 0; t < b.columns[c].ids.size(1); ++t) {
            const bool inside = t < lengths[static_cast<size_t>(row)];
            EXPECT_EQ(ids[static_cast<size_t>(row * b.columns[c].ids.size(1) + t)],
                      inside ? b.examples[static_cast<size_t>(row)] + 1 : 0);
          }
        }
      }
    } while (batches.state().batch < batches.batches_in_epoch());
    EXPECT_EQ(seen.size(), 500u);
    EXPECT_EQ(std::set<int64_t>(seen.begin(), seen.end()).size(), 500u);
    EXPECT_LT(static_cast<double>(padded), 1.25 * static_cast<double>(real)) << "bucketing leaves little padding";
  }
}

TEST(Batches, SeedsAndEpochsDifferButRepeat) {
  const Samples samples = some(300);
  Batches a(samples, {.tokens = 200, .seed = 1}), again(samples, {.tokens = 200, .seed = 1}),
      other(samples, {.tokens = 200, .seed = 2});
  const auto first = epoch_of(a), second = epoch_of(a);
  EXPECT_EQ(epoch_of(again), first);
  EXPECT_EQ(epoch_of(again), second);
  EXPECT_NE(first, second);
  EXPECT_NE(epoch_of(other), first);
  // Equal lengths meet other neighbours in the next epoch, and short batches do not all come first.
  std::set<Ids> sets;
  for (Ids batch : first) std::sort(batch.begin(), batch.end()), sets.insert(batch);
  size_t same = 0;
  for (Ids batch : second) std::sort(batch.begin(), batch.end()), same += sets.count(batch);
  EXPECT_LT(same, first.size() / 2);
}

// The order of one seed, written down: a change of it would make every saved state of a training worthless.
TEST(Batches, TheOrderOfASeedStaysWhatItIs) {
  const Samples samples = some(8);
  Batches batches(samples, {.tokens = 80, .seed = 7});
  EXPECT_EQ(epoch_of(batches), (std::vector<Ids>{{3}, {5, 2}, {6}, {7}, {4, 1}, {0}}));
}

TEST(Batches, AResumedRunGoesOnAsIfNothingHadHappened) {
  const Samples samples = some(200);
  const Batches::Options options = {.tokens = 150, .seed = 9};
  Batches whole(samples, options);
  const int64_t count = whole.batches_in_epoch();
  for (int64_t stop : {int64_t{0}, int64_t{1}, count - 1, count, count + 1, 2 * count + 3}) {
    Batches before(samples, options), straight(samples, options);
    for (int64_t i = 0; i < stop; ++i) before.next(), straight.next();
    Batches after(samples, options);
    after.restore(before.state());
    for (int64_t i = 0; i < count + 5; ++i) {
      const Batch x = straight.next(), y = after.next();
      ASSERT_EQ(x.examples, y.examples) << "stopped after " << stop << ", batch " << i;
      ASSERT_EQ(x.columns[0].ids.values<int64_t>(), y.columns[0].ids.values<int64_t>());
    }
    EXPECT_EQ(straight.state().epoch, after.state().epoch);
  }
  const Samples fewer = some(199);
  Batches wrong(fewer, options);
  EXPECT_THROW(wrong.restore(whole.state()), Error);
  EXPECT_THROW(whole.restore({.epoch = 0, .batch = 100000, .examples = 200}), Error);
}

TEST(Batches, LimitsAndOrderWithoutShuffling) {
  const Samples samples = some(50);
  Batches plain(samples, {.tokens = 100000, .examples = 7, .shuffle = false});
  Ids all;
  for (const Ids& batch : epoch_of(plain)) {
    EXPECT_LE(batch.size(), 7u);
    all.insert(all.end(), batch.begin(), batch.end());
  }
  Ids expected(50);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(all, expected);
  Batches tiny(samples, {.tokens = 1, .seed = 1});
  EXPECT_EQ(tiny.batches_in_epoch(), 50) << "what exceeds the budget stands alone";
  Batches shorter(samples, {.longest = 10});
  int64_t long_ones = 0;
  for (int64_t i = 0; i < 50; ++i) long_ones += 1 + i * 37 % 29 + i * 11 % 4 > 10;
  EXPECT_EQ(shorter.left_out(), long_ones);
  EXPECT_THROW(Batches(Samples(), {}), Error);
  Samples one;
  one.add({{.ids = Ids(20, 1)}});
  EXPECT_THROW(Batches(one, {.longest = 5}), Error);
  EXPECT_THROW(Batches(one, {.tokens = 0}), Error);
}

}  // namespace
}  // namespace fovea
