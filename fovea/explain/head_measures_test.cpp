#include "fovea/explain/head_measures.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "fovea/explain/head_map.h"
#include "fovea/explain/svg_texts.h"

namespace fovea {
namespace {

using Matrix = std::vector<std::vector<double>>;

RecordedSequence words(const std::vector<std::string>& pieces) {
  RecordedSequence s;
  std::map<std::string, int64_t> ids;
  for (const std::string& piece : pieces) {
    const auto begin = static_cast<int64_t>(s.text.size());
    const bool special = piece.front() == '<' || piece.front() == '[';
    s.ids.push_back(ids.emplace(piece, static_cast<int64_t>(ids.size())).first->second);
    s.pieces.push_back(piece);
    if (!special) s.text += piece;
    s.spans.push_back({begin, static_cast<int64_t>(s.text.size())});
    if (!special) s.text += " ";
  }
  return s;
}

// One attention of a text over itself, or of a target over a source, with a matrix for each head.
Recording recording(const std::vector<std::string>& rows, const std::vector<std::string>& columns,
                    const std::vector<Matrix>& heads, Place place) {
  std::vector<double> all;
  std::vector<int64_t> numbers;
  for (const Matrix& head : heads) {
    numbers.push_back(static_cast<int64_t>(numbers.size()));
    for (const std::vector<double>& row : head) all.insert(all.end(), row.begin(), row.end());
  }
  place.path = place.path.empty() ? "layer.0" : place.path, place.heads = static_cast<int64_t>(heads.size());
  Recording seen;
  seen.sequences[place.rows] = words(rows), seen.sequences[place.columns] = words(columns);
  const Shape shape = {place.heads, static_cast<int64_t>(rows.size()), static_cast<int64_t>(columns.size())};
  seen.places.push_back({place, numbers, tensor(shape, all).to(DType::f32), nullptr});
  return seen;
}

const Place self = {.rows = "text", .columns = "text"};

// `on` of the weight at the column that the row is given, if it is there, and the rest over all columns that are seen alike.
Matrix pointing(size_t size, const std::function<int64_t(int64_t)>& column, double on, bool causal = false) {
  Matrix m;
  for (size_t i = 0; i < size; ++i) {
    const size_t seen = causal ? i + 1 : size;
    std::vector<double> row(size);
    const int64_t at = column(static_cast<int64_t>(i));
    const bool there = at >= 0 && at < static_cast<int64_t>(seen);
    for (size_t j = 0; j < seen; ++j) row[j] = (there ? 1 - on : 1) / static_cast<double>(seen);
    if (there) row[static_cast<size_t>(at)] += on;
    m.push_back(row);
  }
  return m;
}

std::string named(const Recording& seen, size_t head = 0) {
  HeadMeasures measures;
  measures.add(seen);
  return measures.heads()[head].name;
}

const std::vector<std::string> sentence = {"[CLS]", "the", "cat", ",", "the", "dog", "and", "a", "mouse", ".", "[SEP]"};

TEST(HeadMeasures, NamesConstructedHeadsByWhatTheyDo) {
  const size_t n = sentence.size();
  const std::pair<const char*, Matrix> cases[] = {
      {"previous token", pointing(
                             n, [](int64_t i) { return i - 1; }, 0.7)},
      {"next token", pointing(
                         n, [](int64_t i) { return i + 1; }, 0.7)},
      {"same token", pointing(
                         n, [](int64_t i) { return i; }, 0.7)},
      {"first token", pointing(
                          n, [](int64_t) { return 0; }, 0.7)},
      {"separator", pointing(
                        n, [](int64_t) { return 10; }, 0.7)},
      {"punctuation", pointing(
                          n, [](int64_t i) { return i % 2 == 0 ? 3 : 9; }, 0.7)},
      {"broad", pointing(
                    n, [](int64_t) { return -1; }, 0)},
      {"mixed", pointing(
                    n, [](int64_t i) { return i * 7 % 11; }, 0.7)},
  };
  for (const auto& [name, matrix] : cases) EXPECT_EQ(named(recording(sentence, sentence, {matrix}, self)), name);
}

// The formulas in float64: entropy −Σ w ln w / ln n, distance Σ w |i − j|, focus the mean of the largest.
TEST(HeadMeasures, NumbersAreThoseOfTheirFormulas) {
  const Matrix m = {{0.5, 0.25, 0.25}, {0.1, 0.8, 0.1}, {0.2, 0.2, 0.6}};
  HeadMeasures measures;
  measures.add(recording({"a", "b", "."}, {"a", "b", "."}, {m}, self));
  const HeadMeasure h = measures.heads()[0];
  double entropy = 0, distance = 0;
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 3; ++j) {
      entropy -= m[i][j] * std::log(m[i][j]) / std::log(3.0) / 3;
      distance += m[i][j] * std::abs(static_cast<double>(i) - static_cast<double>(j)) / 3;
    }
  EXPECT_NEAR(h.entropy, entropy, 1e-6);
  EXPECT_NEAR(h.distance, distance, 1e-6);
  EXPECT_NEAR(h.focus, (0.5 + 0.8 + 0.6) / 3, 1e-6);
  EXPECT_NEAR(h[LookedAt::previous].weight, (0.1 + 0.2) / 2, 1e-6);
  EXPECT_NEAR(h[LookedAt::next].weight, (0.25 + 0.1) / 2, 1e-6);
  EXPECT_NEAR(h[LookedAt::same].weight, (0.5 + 0.8 + 0.6) / 3, 1e-6);
  EXPECT_NEAR(h[LookedAt::first].weight, (0.5 + 0.1 + 0.2) / 3, 1e-6);
  EXPECT_NEAR(h[LookedAt::first].chance, 1.0 / 3, 1e-6);
  EXPECT_NEAR(h[LookedAt::punctuation].weight, (0.25 + 0.1 + 0.6) / 3, 1e-6);
  EXPECT_EQ(h[LookedAt::separator].rows, 0);
}

// a b c d a b c d: the second b looks at the first c. A head that finds the earlier b itself is one of duplicates.
TEST(HeadMeasures, InductionIsWhatFollowedTheSameToken) {
  const std::vector<std::string> twice = {"<s>", "a", "b", "c", "d", "e", "a", "b", "c", "d", "e"};
  Place causal = self;
  causal.causal = true;
  const size_t n = twice.size();
  const Matrix copies = pointing(
      n, [](int64_t i) { return i > 5 ? i - 4 : -1; }, 0.9, true);
  const Matrix finds = pointing(
      n, [](int64_t i) { return i > 5 ? i - 5 : -1; }, 0.9, true);
  const Matrix back = pointing(
      n, [](int64_t i) { return i - 1; }, 0.9, true);
  HeadMeasures measures;
  measures.add_repeated(recording(twice, twice, {copies, finds, back}, causal));
  const std::vector<HeadMeasure> heads = measures.heads();
  EXPECT_EQ(heads[0].name, "induction");
  EXPECT_EQ(heads[1].name, "duplicate token");
  double expected = 0;
  for (int i = 6; i < 11; ++i) expected += (0.9 + 0.1 / (i + 1)) / 5;
  EXPECT_NEAR(heads[0].repeated_induction.weight, expected, 1e-6);
  EXPECT_LT(heads[2].repeated_induction.weight, 0.05);
}

TEST(HeadMeasures, AFixedPositionIsOnlyNamedOverSeveralTexts) {
  const auto text = [](size_t n) {
    std::vector<std::string> words;
    for (size_t i = 0; i < n; ++i) words.push_back("w" + std::to_string(i * n));
    return recording(words, words,
                     {pointing(
                         n, [](int64_t) { return 2; }, 0.8)},
                     self);
  };
  HeadMeasures one, several;
  one.add(text(12));
  for (size_t n : {9, 10, 11, 12, 13}) several.add(text(n));
  EXPECT_EQ(one.heads()[0].name, "mixed");
  EXPECT_EQ(several.heads()[0].name, "position 2");
  EXPECT_EQ(several.heads()[0].texts, 5);
}

const Place cross = {.kind = Place::Kind::cross, .rows = "target", .columns = "source"};

TEST(HeadMeasures, CrossAttentionAlongTheDiagonalIsAlignment) {
  const std::vector<std::string> source = {"a", "b", "c", "d", "e", "</s>"};
  const size_t n = source.size();
  const Matrix along = pointing(
                   n, [](int64_t i) { return i; }, 1),
               end = pointing(
                   n, [](int64_t) { return 5; }, 1);
  const Matrix back = pointing(
                   n, [](int64_t i) { return 5 - i; }, 1),
               even = pointing(
                   n, [](int64_t) { return -1; }, 0);
  HeadMeasures measures;
  measures.add(recording(source, source, {along, end, back, even}, cross));
  const std::vector<HeadMeasure> heads = measures.heads();
  EXPECT_EQ(heads[0].name, "alignment");
  EXPECT_NEAR(heads[0].diagonality, 1, 1e-6);
  EXPECT_NEAR(heads[0].monotonicity, 1, 1e-6);
  EXPECT_EQ(heads[1].name, "separator");
  EXPECT_NEAR(heads[1].monotonicity, 0, 1e-6);
  EXPECT_NEAR(heads[2].monotonicity, -1, 1e-6);
  EXPECT_NEAR(heads[3].diagonality, 0, 1e-6);
  EXPECT_EQ(heads[3].name, "broad");
}

// A head that goes backwards aligns, too, if what is known says so.
TEST(HeadMeasures, AgreementIsTheShareOfKnownLinksThatAreFound) {
  const std::vector<std::string> source = {"a", "b", "c", "d"};
  const Matrix back = pointing(
      4, [](int64_t i) { return 3 - i; }, 0.9);
  HeadMeasures measures([](const Recording&) { return Alignment{{3, 0}, {2, 1}, {1, 2}, {1, 3}}; });
  measures.add(recording(source, source, {back}, cross));
  EXPECT_DOUBLE_EQ(measures.heads()[0].agreement, 0.75);
  EXPECT_EQ(measures.heads()[0].name, "alignment");
}

TEST(HeadMap, ShowsEveryHeadWithItsNameInsideOfThePage) {
  const size_t n = sentence.size();
  HeadMeasures measures;
  measures.add(recording(sentence, sentence,
                         {pointing(
                              n, [](int64_t i) { return i - 1; }, 0.7),
                          pointing(
                              n, [](int64_t) { return 0; }, 0.9),
                          pointing(
                              n, [](int64_t) { return -1; }, 0)},
                         self));
  const std::vector<HeadMeasure> heads = measures.heads();
  const std::string svg = head_map("<model>", heads);
  std::vector<std::string> texts;
  for (const SvgText& t : svg_texts(svg)) {
    EXPECT_TRUE(svg_size(svg).holds(t.box)) << t.text;
    texts.push_back(t.text);
  }
  for (const char* text : {"<model>", "layer.0", "prev", "first", "broad", "previous token (1)", "broad (1)"})
    EXPECT_EQ(std::count(texts.begin(), texts.end(), text), 1) << text;
  const auto json = nlohmann::json::parse(to_json(heads));
  EXPECT_EQ(json["heads"].size(), 3u);
  EXPECT_EQ(json["heads"][0]["name"], "previous token");
  EXPECT_NE(to_text(heads).find("previous token"), std::string::npos);
}

}  // namespace
}  // namespace fovea
