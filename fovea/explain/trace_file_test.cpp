#include "fovea/explain/trace_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fovea/base/file.h"
#include "fovea/explain/window.h"
#include "fovea/formats/npy.h"
#include "fovea/formats/safetensors.h"
#include "fovea/models/zoo.h"
#include "fovea/nn/golden.h"
#include "test_paths.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

fs::path temporary(const char* name) { return fs::path(testing::TempDir()) / name; }

const Pretrained& en_de() {
  static const Pretrained model = load_pretrained(find_model("en-de"));
  return model;
}

Recording bank(const RecordOptions& options = {}) {
  Recording seen = record(*en_de().model, *en_de().tokenizer, "The bank approved the loan.", options);
  name_model(seen, en_de());
  return seen;
}

TEST(Recording, HasEveryPlaceOfTheModelOverItsSequences) {
  const Recording seen = bank();
  EXPECT_EQ(seen.model, "en-de");
  EXPECT_EQ(seen.sequences.at("source").pieces.back(), "</s>");
  EXPECT_EQ(seen.sequences.at("prefix").size(), seen.sequences.at("target").size());
  ASSERT_EQ(seen.places.size(), en_de().model->places().size());
  for (const RecordedPlace& p : seen.places) {
    EXPECT_EQ(p.rows(), static_cast<int64_t>(seen.rows_of(p).size()));
    EXPECT_EQ(p.columns(), static_cast<int64_t>(seen.columns_of(p).size()));
    EXPECT_EQ(p.weights.size(0), p.place.heads);
    for (size_t h = 0; h < p.heads.size(); ++h) {
      const std::vector<double> w = p.part(h, {}, {}).values<double>();
      for (int64_t i = 0; i < p.rows(); ++i) {
        double sum = 0;
        for (int64_t j = 0; j < p.columns(); ++j) sum += w[static_cast<size_t>(i * p.columns() + j)];
        EXPECT_NEAR(sum, 1, 1e-5);
      }
    }
  }
}

TEST(Recording, KeptAttentionsHaveTheBitsOfWholeWeights) {
  const Recording whole = bank(), kept = bank({.most_whole_tokens = 0});
  for (size_t i = 0; i < whole.places.size(); ++i) {
    SCOPED_TRACE(whole.places[i].place.path);
    for (size_t h = 0; h < whole.places[i].heads.size(); ++h)
      EXPECT_TRUE(same_bits(whole.places[i].part(h, {}, {}), kept.places[i].part(h, {}, {})));
  }
  EXPECT_TRUE(kept.places[0].kept && !kept.places[0].weights);
}

// At every step: softmax, in float64, of the logits that the model gives behind what was written.
TEST(Recording, AlternativesAreTheMostProbableOtherTokensOfEachStep) {
  const Pretrained classic = load_pretrained(find_model("en-de-bahdanau"));
  for (const Pretrained* p : {&en_de(), &classic}) {
    const std::string text = "The bank approved the loan.";
    RecordOptions options;
    options.generation = read_generation_config(p->folder);
    const Recording seen = record(*p->model, *p->tokenizer, text, options);
    const RecordedSequence& target = seen.sequences.at("target");
    const auto& writer = as<Generator>(*p->model);
    const std::vector<int64_t> source = source_ids(*p->tokenizer, p->tokenizer->encode(text));
    const std::vector<int64_t>& read = seen.sequences.at("prefix").ids;
    const Tensor logits = writer.logits({.ids = tensor({1, static_cast<int64_t>(source.size())}, source)},
                                        tensor({1, static_cast<int64_t>(read.size())}, read), {});
    ASSERT_EQ(target.alternatives.size(), target.size());
    for (size_t i = 0; i < target.size(); ++i) {
      const std::vector<double> row = logits.select(0, 0).select(0, static_cast<int64_t>(i)).values<double>();
      double sum = 0;
      for (double x : row) sum += std::exp(x);
      std::vector<std::pair<double, int64_t>> falling;
      for (size_t id = 0; id < row.size(); ++id)
        if (static_cast<int64_t>(id) != target.ids[i]) falling.push_back({-std::exp(row[id]) / sum, id});
      std::sort(falling.begin(), falling.end());
      EXPECT_NEAR(target.probabilities[i], std::exp(row[static_cast<size_t>(target.ids[i])]) / sum, 1e-5);
      ASSERT_EQ(target.alternatives[i].size(), most_alternatives);
      for (size_t k = 0; k < most_alternatives; ++k) {
        EXPECT_EQ(target.alternatives[i][k].id, falling[k].second) << i << ", " << k;
        EXPECT_NEAR(target.alternatives[i][k].probability, -falling[k].first, 1e-5);
      }
    }
  }
}

TEST(TraceFile, GivesBackWhatWasRecorded) {
  const Recording seen = bank();
  const fs::path file = temporary("whole.safetensors");
  write_trace(file, seen);
  const TraceFile read(file);
  EXPECT_EQ(read.recording().text, seen.text);
  EXPECT_EQ(read.recording().answer, seen.answer);
  EXPECT_EQ(read.recording().precision, seen.precision);
  EXPECT_EQ(read.recording().sequences.at("target").pieces, seen.sequences.at("target").pieces);
  EXPECT_EQ(read.recording().sequences.at("source").spans, seen.sequences.at("source").spans);
  const RecordedSequence &target = seen.sequences.at("target"), &again = read.recording().sequences.at("target");
  ASSERT_EQ(again.alternatives.size(), target.size());
  EXPECT_EQ(again.alternatives[1].size(), most_alternatives);
  EXPECT_EQ(again.alternatives[1][0].piece, target.alternatives[1][0].piece);
  EXPECT_NEAR(again.alternatives[1][0].probability, target.alternatives[1][0].probability, 1e-6);
  ASSERT_EQ(read.places().size(), seen.places.size());
  for (const RecordedPlace& p : seen.places)
    EXPECT_TRUE(same_bits(read.recording().at(p.place.path).weights, p.weights));
}

// Reduced, a cell is computed from q, k and the log-sum-exp.
TEST(TraceFile, CellsThatWereNotKeptAreComputed) {
  const Recording whole = bank(), kept = bank({.most_whole_tokens = 0});
  const fs::path file = temporary("reduced.safetensors");
  write_trace(file, kept, {.most_weights = 1, .tiles = 2, .top = 2});
  const TraceFile read(file);
  const RecordedPlace& p = whole.at("encoder.1.self");
  for (size_t h = 0; h < p.heads.size(); ++h) {
    const std::vector<double> w = p.part(h, {}, {}).values<double>();
    for (int64_t i = 0; i < p.rows(); ++i)
      for (int64_t j = 0; j < p.columns(); ++j)
        EXPECT_NEAR(read.weight("encoder.1.self", h, i, j), w[static_cast<size_t>(i * p.columns() + j)], 1e-5);
  }
  // Read as a recording, windows of it are those of the whole.
  const RecordedPlace& stored = read.recording().at("encoder.1.self");
  for (const int64_t level : {0, 1, 2, 3}) {
    const Pooled a = pooled(stored, 1, {.level = level}), b = pooled(p, 1, {.level = level});
    ASSERT_EQ(a.largest.size(), b.largest.size());
    for (size_t i = 0; i < a.largest.size(); ++i) {
      EXPECT_NEAR(a.largest[i], b.largest[i], 1e-5);
      EXPECT_NEAR(a.mean[i], b.mean[i], 1e-5);
    }
  }
  EXPECT_NO_THROW(pooled(read.recording().at("decoder.0.cross"), 0, {.level = 3}));
  EXPECT_THROW(pooled(read.recording().at("decoder.0.cross"), 0, {.level = 0}), Error);
  EXPECT_THROW(read.weight("decoder.0.cross", 0, 0, 0), Error);  // a cache had its keys: tiles and the largest alone
  EXPECT_TRUE(read.tensors().contains("decoder.0.cross.top_weights"));
}

TEST(TraceFile, TilesAreTheLargestAndTheMeanOfTheirSquares) {
  RecordedPlace p = {.place = {.path = "a"}, .heads = {0}, .weights = uniform({1, 37, 29}, Random(3))};
  const std::vector<double> w = p.weights.values<double>();
  for (const int64_t most : {1, 4, 10, 64}) {
    const fs::path file = temporary("tiles.safetensors");
    Recording seen;
    seen.places = {p};
    write_trace(file, seen, {.most_weights = 1, .tiles = most});
    const int64_t level = level_of_tiles(p, most), side = int64_t{1} << level;
    const SafeTensors read(file);
    const Tensor &most_of = read[fmt::format("a.tiles.{}.max", level)],
                 &mean_of = read[fmt::format("a.tiles.{}.mean", level)];
    EXPECT_LE(most_of.size(1), most);
    for (int64_t i = 0; i < most_of.size(1); ++i) {
      for (int64_t j = 0; j < most_of.size(2); ++j) {
        double largest = 0, sum = 0, count = 0;
        for (int64_t r = i * side; r < std::min<int64_t>(37, (i + 1) * side); ++r)
          for (int64_t c = j * side; c < std::min<int64_t>(29, (j + 1) * side); ++c, ++count)
            largest = std::max(largest, w[static_cast<size_t>(r * 29 + c)]), sum += w[static_cast<size_t>(r * 29 + c)];
        const auto at = static_cast<size_t>(i * most_of.size(2) + j);
        EXPECT_EQ(most_of.values<double>()[at], largest);
        EXPECT_NEAR(mean_of.values<double>()[at], sum / count, 1e-6);
      }
    }
  }
}

TEST(TraceFile, HasTheSameNumbersForNumPyAndForSafetensors) {
  const Recording kept = bank({.most_whole_tokens = 0});
  for (const TraceOptions& options : {TraceOptions{}, {.most_weights = 1, .tiles = 4, .top = 3}, {.rows = {0, 2}}}) {
    write_trace(temporary("heads.safetensors"), kept, options);
    write_trace(temporary("heads.npz"), kept, options);
    const NamedTensors arrays = read_npz(temporary("heads.npz"));
    const SafeTensors read(temporary("heads.safetensors"));
    EXPECT_EQ(read.tensors().size() + 1, arrays.size());
    for (const auto& [name, t] : read.tensors()) EXPECT_TRUE(same_bits(t, arrays.at(name))) << name;
  }
}

TEST(TraceFile, IsWrittenForNumPyToo) {
  const Recording seen = bank();
  const fs::path file = temporary("seen.npz");
  write_trace(file, seen);
  const NamedTensors arrays = read_npz(file);
  EXPECT_TRUE(same_bits(arrays.at("decoder.1.cross.weights"), seen.at("decoder.1.cross").weights));
  const Tensor& bytes = arrays.at("fovea");
  const std::string text(reinterpret_cast<const char*>(bytes.data<int8_t>()), static_cast<size_t>(bytes.elements()));
  EXPECT_EQ(nlohmann::json::parse(text)["sequences"]["target"]["pieces"].get<std::vector<std::string>>(),
            seen.sequences.at("target").pieces);
}

TEST(TraceFile, ChosenRowsAreThoseOfTheWhole) {
  const Recording seen = bank();
  const fs::path file = temporary("rows.safetensors");
  write_trace(file, seen, {.rows = {1, 3}});
  const SafeTensors read(file);
  const Tensor rows = read["encoder.0.self.row_weights"];
  EXPECT_TRUE(same_bits(rows.select(0, 2).select(0, 1), seen.places[0].weights.select(0, 2).select(0, 3)));
  EXPECT_EQ(read["encoder.0.self.row_numbers"].values<int64_t>(), (std::vector<int64_t>{1, 3}));
}

// Written by Python's safetensors, with weights computed there in float64 (make_trace.py).
TEST(TraceFile, ReadsWhatPythonWrote) {
  const TraceFile read(fs::path(test_data) / "golden/trace.safetensors");
  EXPECT_EQ(read.recording().sequences.at("text").pieces, (std::vector<std::string>{"I", "love", "naïve", "🙂"}));
  for (size_t h = 0; h < 2; ++h)
    for (int64_t i = 0; i < 4; ++i)
      for (int64_t j = 0; j < 4; ++j) EXPECT_NEAR(read.weight("parts", h, i, j), read.weight("whole", h, i, j), 1e-6);
}

TEST(TraceFile, DamagedFilesAreErrors) {
  const fs::path file = temporary("damaged.safetensors");
  write_trace(file, bank());
  const std::string good = read_text(file);
  for (size_t size : {size_t{0}, size_t{7}, size_t{200}, good.size() / 2, good.size() - 1}) {
    std::ofstream(file, std::ios::binary) << good.substr(0, size);
    EXPECT_THROW(TraceFile{file}, Error) << size;
  }
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"\\\"size\\\":[8", "\\\"size\\\":[9"},
                                 {"\\\"kind\\\":\\\"self", "\\\"kind\\\":\\\"sel_"},
                                 {"\\\"format\\\":1", "\\\"format\\\":2"},
                                 {"\\\"spans\\\":[[0,", "\\\"spans\\\":[[9,"}}) {
    std::string bad = good;
    const size_t at = bad.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    bad.replace(at, from.size(), to);
    std::ofstream(file, std::ios::binary) << bad;
    EXPECT_THROW(TraceFile{file}, Error) << to;
  }
}

}  // namespace
}  // namespace fovea
