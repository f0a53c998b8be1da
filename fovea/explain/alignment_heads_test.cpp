#include "fovea/explain/alignment_heads.h"

#include <gtest/gtest.h>

#include <numeric>

#include "fovea/explain/dictionary.h"

namespace fovea {
namespace {

RecordedSequence words(size_t count, char first) {
  RecordedSequence s;
  for (size_t i = 0; i < count; ++i) {
    const auto begin = static_cast<int64_t>(s.text.size());
    s.text += std::string(1, static_cast<char>(first + i)) + " ";
    s.ids.push_back(static_cast<int64_t>(i)), s.pieces.push_back(s.text.substr(static_cast<size_t>(begin), 1));
    s.spans.push_back({begin, begin + 1});
  }
  return s;
}

// Two layers of two heads, each looking at the column that it is given for a row.
Recording seen(size_t count, const std::vector<std::function<size_t(size_t)>>& heads) {
  Recording r;
  r.sequences["source"] = words(count, 'a'), r.sequences["target"] = words(count, 'A');
  const auto n = static_cast<int64_t>(count);
  for (size_t layer = 0; layer < heads.size() / 2; ++layer) {
    std::vector<double> weights;
    for (size_t h = 0; h < 2; ++h)
      for (size_t i = 0; i < count; ++i)
        for (size_t j = 0; j < count; ++j)
          weights.push_back(heads[layer * 2 + h](i) == j ? 0.6 : 0.4 / static_cast<double>(count));
    const Place place = {"decoder." + std::to_string(layer) + ".cross", Place::Kind::cross, 2, 2, "target", "source"};
    r.places.push_back({place, {0, 1}, tensor({2, n, n}, weights).to(DType::f32), nullptr});
  }
  return r;
}

// Verbs go to the end, as in German; one head knows it, one goes straight on, one looks at the end, one is shifted.
const std::vector<std::function<size_t(size_t)>> four = {
    [](size_t) { return size_t{5}; }, [](size_t i) { return i == 0 ? 0 : i - 1; },
    [](size_t i) { return i < 2    ? i
                          : i == 5 ? 2
                                   : i + 1; }, [](size_t i) { return i; }};
const GoldAlignment gold = {{{0, 0}, {1, 1}, {3, 2}, {4, 3}, {5, 4}, {2, 5}},
                            {{0, 0}, {1, 1}, {3, 2}, {4, 3}, {5, 4}, {2, 5}}};

TEST(AlignmentHeads, ASmallGoldSetFindsTheHeadThatKnows) {
  AlignmentHeadSearch search;
  search.add(seen(6, four), gold);
  const FoundAlignmentHeads found = search.find();
  EXPECT_EQ(found.heads, (std::vector<AlignmentHead>{{1, 0}}));
  EXPECT_EQ(found.scores->error_rate(), 0);
  EXPECT_GT(found.last_layer->error_rate(), 0);
  EXPECT_EQ(found.candidates[2].place, "decoder.1.cross");
  EXPECT_EQ(search.score(found.heads).error_rate(), 0);
}

// Each of two heads knows half of the words, and is unsure of the rest: their mean knows all.
TEST(AlignmentHeads, HeadsThatCompleteEachOtherAreTakenTogether) {
  const auto half = [](size_t count, bool even) {
    Recording r = seen(count, {[](size_t i) { return i; }, [](size_t i) { return i; }});
    std::vector<double> weights;
    for (int h = 0; h < 2; ++h)
      for (size_t i = 0; i < count; ++i)
        for (size_t j = 0; j < count; ++j) {
          const bool knows = (i % 2 == 0) == (h == 0) && even;
          const size_t wrong = (i + 1) % count;
          weights.push_back(knows ? (i == j ? 0.9 : 0.02) : j == wrong ? 0.4 : 0.3);
        }
    const auto n = static_cast<int64_t>(count);
    r.places[0].weights = tensor({2, n, n}, weights).to(DType::f32);
    return r;
  };
  GoldAlignment straight;
  for (int64_t i = 0; i < 4; ++i) straight.sure.insert({i, i}), straight.possible.insert({i, i});
  AlignmentHeadSearch search;
  search.add(half(4, true), straight);
  const FoundAlignmentHeads found = search.find();
  EXPECT_EQ(found.heads.size(), 2u);
  EXPECT_EQ(found.scores->error_rate(), 0);
}

TEST(AlignmentHeads, WithoutGoldThoseThatGoAlongAndAgreeAreFound) {
  AlignmentHeadSearch search;
  for (size_t n : {6, 6, 6}) search.add(seen(n, four));
  const FoundAlignmentHeads found = search.find();
  EXPECT_FALSE(found.scores);
  for (const AlignmentHead& h : found.heads) EXPECT_NE(h, (AlignmentHead{0, 0}));
  EXPECT_EQ(found.candidates[0].monotonicity, 0);
  EXPECT_DOUBLE_EQ(found.candidates[3].monotonicity, 1);
}

TEST(AlignmentHeads, AModelWithoutASourceIsAnError) {
  Recording none;
  AlignmentHeadSearch search;
  EXPECT_THROW(search.add(none), Error);
  EXPECT_THROW(search.find(), Error);
}

// Model 1 on sentences in which only the order of co-occurrence tells: the classic house, book, the, a.
TEST(Dictionary, LearnsWhichWordsBelongTogether) {
  const Dictionary d =
      Dictionary::learned({{"the house", "das Haus"}, {"the book", "das Buch"}, {"a book", "ein Buch"}});
  EXPECT_EQ(d.links("The book, a house.", "Das Buch, ein Haus."), (Alignment{{0, 0}, {1, 1}, {2, 2}, {3, 3}}));
  EXPECT_TRUE(d.links("unknown", "unbekannt").empty());
}

}  // namespace
}  // namespace fovea
