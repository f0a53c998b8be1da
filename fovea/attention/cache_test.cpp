#include "fovea/attention/cache.h"

#include <gtest/gtest.h>

#include <set>

#include "fovea/attention/attention.h"
#include "fovea/attention/probe.h"
#include "fovea/kernels/every_simd.h"
#include "fovea/tensor/index.h"

namespace fovea {
namespace {

constexpr char first = 1, second = 2;  // stand for attentions

using Numbers = std::vector<int64_t>;

bool same_bits(const Tensor& a, const Tensor& b) {
  const std::vector<float> x = a.values<float>(), y = b.values<float>();
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
}

TEST(PageTable, RowsSharePagesUntilOneWrites) {
  PageTable table(16);
  table.add_rows(1);
  table.extend(Numbers{0, 20});  // a full page and a quarter of one
  EXPECT_EQ(table.pages_in_use(), 2);
  table.reorder(Numbers{0, 0, 0});
  EXPECT_EQ(table.pages_in_use(), 2);
  EXPECT_EQ(table.copied(), 0);
  table.extend(Numbers{0, 1, 2, 3});  // all three go on: two need a page of their own, the last keeps the old one
  EXPECT_EQ(table.copied(), 2);
  EXPECT_EQ(table.pages_in_use(), 4);
  for (const PageTable::Copy& copy : table.copies()) EXPECT_EQ(copy.tokens, 4);
  std::set<int64_t> firsts, lasts;
  for (const PageTable::Row& row : table.rows()) firsts.insert(row.pages[0]), lasts.insert(row.pages[1]);
  EXPECT_EQ(firsts.size(), 1u);
  EXPECT_EQ(lasts.size(), 3u);
  table.extend(Numbers{0, 1, 2, 3});  // now each writes its own
  EXPECT_TRUE(table.copies().empty());
}

TEST(PageTable, AFullPageIsNeverCopied) {
  PageTable table(16);
  table.add_rows(1);
  table.extend(Numbers{0, 32});
  table.reorder(Numbers{0, 0});
  table.extend(Numbers{0, 5, 10});
  EXPECT_EQ(table.copied(), 0);
  EXPECT_EQ(table.pages_in_use(), 4);
}

TEST(PageTable, WhatNoRowHoldsIsUsedAgainAtOnce) {
  PageTable table(16);
  table.add_rows(3);
  table.extend(Numbers{0, 40, 41, 90});  // three pages, one and four
  EXPECT_EQ(table.pages_in_use(), 8);
  table.reorder(Numbers{1, 2});
  EXPECT_EQ(table.pages_in_use(), 5);
  table.extend(Numbers{0, 40, 40});
  EXPECT_EQ(table.pages_in_use(), 7);
  EXPECT_EQ(table.pages(), 8);
  table.reorder(Numbers{});
  EXPECT_EQ(table.pages_in_use(), 0);
}

// Thousands of sentences that come and go take no more pages than are in flight.
TEST(PageTable, ABatchThatIsFilledUpAgainDoesNotGrow) {
  PageTable table(16);
  table.add_rows(2);
  for (int sentence = 0; sentence < 1000; ++sentence) {
    table.extend(Numbers{0, 17, 34});
    table.reorder(Numbers{1});  // the first has ended
    table.reorder(Numbers{});   // and the second
    PageTable next(16);
    next.add_rows(2);
    next.extend(Numbers{0, 3, 30});
    EXPECT_EQ(table.append(next).size(), 3u);
  }
  EXPECT_LE(table.pages(), 6);
}

TEST(PageTable, SaysWhatDoesNotFit) {
  EXPECT_THROW(PageTable(24), Error);
  EXPECT_THROW(PageTable(512), Error);
  PageTable table(16), other(32);
  table.add_rows(2);
  EXPECT_THROW(table.extend(Numbers{0, 1}), Error);
  EXPECT_THROW(table.extend(Numbers{0, 3, 2}), Error);
  EXPECT_THROW(table.extend(Numbers{1, 2, 3}), Error);
  EXPECT_THROW(table.reorder(Numbers{2}), Error);
  EXPECT_THROW(table.append(other), Error);
}

// Random lives of rows: every row's attention has the bits of a pass over that row's own keys and values.
class Life final {
 public:
  explicit Life(int64_t page_tokens, Precision precision = Precision::f32)
      : options_{.mask = {.causal = true}, .softcap = 7, .precision = precision}, cache_(page_tokens) {}

  void step(const Numbers& tokens) {
    Numbers starts = {0};
    for (int64_t n : tokens) starts.push_back(starts.back() + n);
    const int64_t total = starts.back();
    const Tensor q = normal({1, total, 4, 20}, random(), 0, 1), k = normal({1, total, 2, 20}, random(), 0, 1),
                 v = normal({1, total, 2, 9}, random(), 0, 1);
    cache_.begin(starts);
    rows_.resize(tokens.size());
    KeyCache& keys = cache_.at("self");
    keys.append(k, v, scaled_dot, {}, kernel_precision(options_));
    const Tensor found = attend(q, keys, cache_.starts(), options_, {}).output;
    for (size_t r = 0; r < tokens.size(); ++r) {
      auto part = [&](const Tensor& x) { return x.slice(1, starts[r], starts[r + 1]); };
      Row& row = rows_[r];
      row.k = row.k ? concat({row.k, part(k)}, 1) : part(k);
      row.v = row.v ? concat({row.v, part(v)}, 1) : part(v);
      EXPECT_EQ(cache_.length(static_cast<int64_t>(r)), row.k.size(1));
      EXPECT_TRUE(same_bits(part(found), attend(part(q), row.k, row.v, options_, {}).output)) << "row " << r;
    }
  }
  void reorder(const Numbers& rows) {
    cache_.reorder(rows);
    std::vector<Row> next;
    for (int64_t r : rows) next.push_back(rows_[static_cast<size_t>(r)]);
    rows_ = next;
  }
  void append(Life&& other) {
    cache_.append(std::move(other.cache_));
    rows_.insert(rows_.end(), other.rows_.begin(), other.rows_.end());
  }
  int64_t draw(int64_t below) { return static_cast<int64_t>(Random(3).below(static_cast<uint32_t>(below), draws_++)); }
  int64_t rows() const { return cache_.rows(); }
  const PageTable& table() const { return cache_.tokens(); }

 private:
  struct Row {
    Tensor k, v;
  };
  Random random() { return Random(1000 + draws_++); }

  AttentionOptions options_;
  Cache cache_;
  std::vector<Row> rows_;
  uint64_t draws_ = 0;
};

void expect_bits_of_full_pass(Precision precision) {
  for (int64_t page : {16, 32, 256}) {
    SCOPED_TRACE(page);
    Life life(page, precision);
    life.step({5, 1, 40});
    for (int i = 0; i < 25; ++i) {
      Numbers rows, tokens;
      for (int64_t r = 0; r < 3; ++r) rows.push_back(life.draw(life.rows()));
      life.reorder(rows);
      if (i % 8 == 7) {
        Life other(page, precision);
        other.step({3, 18});
        life.append(std::move(other));
      }
      for (int64_t r = 0; r < life.rows(); ++r) tokens.push_back(life.draw(4) == 0 ? life.draw(20) : 1);
      life.step(tokens);
    }
  }
}

TEST(Cache, RowsOfAnyLifeHaveTheBitsOfTheirOwnFullPass) {
  for_each_simd([] {
    expect_bits_of_full_pass(Precision::f32);
    expect_bits_of_full_pass(Precision::f16);
  });
  for_each_simd([] { expect_bits_of_full_pass(Precision::bf16); }, emulated_simds());
}

TEST(Cache, PositionsAreThoseOfEachRow) {
  Cache cache;
  cache.begin(Numbers{0, 2, 3});
  EXPECT_EQ(cache.positions(), (Numbers{0, 1, 0}));
  cache.begin(Numbers{0, 1, 3});
  EXPECT_EQ(cache.positions(), (Numbers{2, 1, 2}));
  EXPECT_EQ(cache.length(0), 3);
}

TEST(Cache, AnAttentionThatMissesAStepIsAnError) {
  Cache cache;
  const Tensor token = zeros({1, 1, 1, 4});
  cache.begin(Numbers{0, 1});
  cache.at(&first).append(token, token, scaled_dot, {});
  EXPECT_THROW(cache.at(&first).append(token, token, scaled_dot, {}), Error);
  cache.begin(Numbers{0, 1});
  EXPECT_THROW(cache.at(&second).append(token, token, scaled_dot, {}), Error);
  cache.begin(Numbers{0, 1});
  EXPECT_THROW(cache.at(&first).append(token, token, scaled_dot, {}), Error);
}

TEST(Cache, RowsOfACacheThatAnAttentionDidNotRunInAreAnError) {
  Cache cache, other;
  const Tensor token = zeros({1, 1, 1, 4});
  const Numbers one = {0, 1};
  for (Cache* c : {&cache, &other}) c->begin(one);
  cache.at(&first).append(token, token, scaled_dot, {});
  other.at("second").append(token, token, scaled_dot, {});
  cache.append(std::move(other));
  EXPECT_EQ(cache.rows(), 2);
  const Numbers two = {0, 1, 2};
  EXPECT_THROW(attend(zeros({1, 2, 1, 4}), cache.at(&first), two, {}, {}), Error);
}

TEST(Cache, SaysWhatDoesNotFit) {
  Cache cache;
  cache.begin(Numbers{0, 2});
  KeyCache& keys = cache.at(&first);
  EXPECT_THROW(keys.append(zeros({1, 3, 1, 4}), zeros({1, 3, 1, 4}), scaled_dot, {}), Error);
  EXPECT_THROW(keys.append(zeros({2, 1, 1, 4}), zeros({2, 1, 1, 4}), scaled_dot, {}), Error);
  keys.append(zeros({1, 2, 1, 4}), zeros({1, 2, 1, 4}), scaled_dot, {});
  const Numbers starts = {0, 2};
  const Tensor q = zeros({1, 2, 1, 4});
  EXPECT_THROW(attend(q, keys, Numbers{0, 1}, {}, {}), Error);
  EXPECT_THROW(attend(q, keys, starts, {}, {.training = true}), Error);
  EXPECT_THROW(attend(q, keys, starts, {.mask = {.key_lengths = tensor({1}, Numbers{2})}}, {}), Error);
  EXPECT_NO_THROW(attend(q, keys, starts, {}, {}));
}

}  // namespace
}  // namespace fovea
