#include "fovea/generate/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "fovea/generate/sentence.h"
#include "fovea/models/families/seq2seq.h"
#include "fovea/models/families/transformer.h"
#include "fovea/models/variants.h"
#include "fovea/nn/golden.h"
#include "fovea/tensor/index.h"
#include "test_paths.h"

namespace fovea {
namespace {

using Ids = std::vector<int64_t>;

// Logits that depend on the last token alone: padding 0, start 1, end 2.
class Bigrams final : public Model, public Generator {
 public:
  explicit Bigrams(Tensor table) : table_(std::move(table)) {}
  Bigrams(int64_t vocabulary, uint64_t seed) : table_(normal({vocabulary, vocabulary}, Random(seed), 0, 1.5)) {}

  Tensor logits(const Source&, const Tensor& ids, const Context&) const override { return rows(table_, ids); }
  std::unique_ptr<DecoderState> start(const Source&, const Context&) const override {
    struct Nothing final : DecoderState {
      int64_t rows() const override { return 0; }
      void reorder(std::span<const int64_t>) override {}
      void append(DecoderState&&) override {}
    };
    return std::make_unique<Nothing>();
  }
  Tensor steps(DecoderState&, const Tensor& ids, std::span<const int64_t> starts, const Context&) const override {
    std::vector<int64_t> last;
    for (size_t r = 1; r < starts.size(); ++r) last.push_back(starts[r] - 1);
    return rows(table_, rows(ids, tensor({static_cast<int64_t>(last.size())}, last)));
  }
  void weights(Weights& w) override { w("table", table_, {}); }
  std::string_view family() const override { return "bigrams"; }
  std::string config() const override { return "{}"; }
  int64_t vocabulary() const override { return table_.size(0); }
  SpecialIds special_ids() const override { return {}; }
  std::string source_attention() const override { return ""; }

  const Tensor& table() const { return table_; }

 private:
  Tensor table_;
};

struct Scored {
  Ids ids;
  double score;
};

std::vector<double> log_softmax64(const std::vector<double>& logits) {
  double largest = *std::max_element(logits.begin(), logits.end()), sum = 0;
  for (double x : logits) sum += std::exp(x - largest);
  std::vector<double> result;
  for (double x : logits) result.push_back(x - largest - std::log(sum));
  return result;
}

// Log-probabilities of what follows `ids`, by the full pass.
std::vector<double> following(const Generator& model, const Ids& source, const Ids& ids) {
  Ids inputs = {model.special_ids().bos};
  inputs.insert(inputs.end(), ids.begin(), ids.end());
  const int64_t tokens = static_cast<int64_t>(inputs.size());
  const Source given = {tensor({1, static_cast<int64_t>(source.size())}, source), {}};
  const Tensor logits = model.logits(given, tensor({1, tokens}, inputs), {});
  return log_softmax64(logits.select(0, 0).select(0, tokens - 1).values<double>());
}

// Every sequence there is, best first: written down without any search.
void all_sequences(const Generator& model, const Ids& source, const GenerationConfig& c, const Ids& ids, double sum,
                   std::vector<Scored>& found) {
  const std::vector<double> next = following(model, source, ids);
  const int64_t tokens = static_cast<int64_t>(ids.size()) + 1;
  auto score = [&](double s) { return s / std::pow(static_cast<double>(tokens), c.length_penalty); };
  found.push_back({ids, score(sum + next[2])});
  for (int64_t id = 3; id < static_cast<int64_t>(next.size()); ++id) {
    Ids longer = ids;
    longer.push_back(id);
    const double s = sum + next[static_cast<size_t>(id)];
    if (tokens == c.max_length)
      found.push_back({longer, score(s)});
    else
      all_sequences(model, source, c, longer, s, found);
  }
}

void check_against_all(const Generator& model, const Ids& source, GenerationConfig c) {
  std::vector<Scored> all;
  all_sequences(model, source, c, {}, 0, all);
  std::stable_sort(all.begin(), all.end(), [](const Scored& a, const Scored& b) { return a.score > b.score; });
  c.beam_size = static_cast<int64_t>(all.size());
  for (const int64_t n : {int64_t{1}, int64_t{5}, static_cast<int64_t>(all.size())}) {
    c.n_best = n;
    const Hypotheses found = generate(model, {{.source = source}}, c)[0];
    ASSERT_EQ(found.size(), static_cast<size_t>(n));
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i].score, all[i].score, 1e-5) << "place " << i << " of " << n;
      const bool alone = (i == 0 || all[i - 1].score - all[i].score > 1e-5) &&
                         (i + 1 == all.size() || all[i].score - all[i + 1].score > 1e-5);
      if (alone) {
        EXPECT_EQ(found[i].ids, all[i].ids) << "place " << i << " of " << n;
      }
    }
  }
}

TEST(Search, AWideBeamFindsWhatTryingEverythingFinds) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    for (const double penalty : {0.0, 0.6, 1.0, 2.0, -0.7}) {
      SCOPED_TRACE(fmt::format("seed {}, penalty {}", seed, penalty));
      check_against_all(Bigrams(6, seed), {3}, {.length_penalty = penalty, .max_length = 4});
    }
  }
}

TEST(Search, AWideBeamOfAModelFindsWhatTryingEverythingFinds) {
  Transformer transformer(
      {.vocabulary = 6, .encoder_layers = 1, .decoder_layers = 1, .stack = {.width = 12, .heads = 2, .hidden = 17}});
  Variant::randomise(transformer);
  check_against_all(transformer, {3, 5, 4, 4}, {.length_penalty = 0.8, .max_length = 4});
  Seq2Seq recurrent({.vocabulary = 6, .embedding = 9, .encoder_width = 10, .decoder_width = 20});
  Variant::randomise(recurrent);
  check_against_all(recurrent, {3, 5, 4, 4}, {.length_penalty = 0.8, .max_length = 4});
}

// Models that are searched as we do it: those of others are held to Transformers (transformers_test.cpp).
std::vector<Variant> our_writers() {
  std::vector<Variant> all = writers();
  std::erase_if(all, [](const Variant& v) { return v.shaped()->foreign(); });
  return all;
}

TEST(Search, ABeamOfOneTakesTheMostProbableTokenEachTime) {
  for (const Variant& m : our_writers()) {
    SCOPED_TRACE(m.name);
    const auto model = m.make_as<Generator>();
    const Ids source = {4, 9, 3};
    Ids expected;
    bool ended = false;
    while (!ended && expected.size() < 12) {
      std::vector<double> next = following(*model, source, expected);
      next[0] = next[1] = -1e30;
      const int64_t id = std::max_element(next.begin(), next.end()) - next.begin();
      if (!(ended = id == 2)) expected.push_back(id);
    }
    const Hypotheses found = generate(*model, {{.source = source}}, {.max_length = 12})[0];
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].ids, expected);
    EXPECT_EQ(found[0].ended, ended);
    EXPECT_EQ(found[0].log_probabilities.size(), expected.size() + ended);
    for (size_t i = 0; i < expected.size(); ++i) {
      const Ids before(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_NEAR(found[0].log_probabilities[i], following(*model, source, before)[static_cast<size_t>(expected[i])],
                  1e-5);
    }
  }
}

std::vector<Request> many_requests() {
  std::vector<Request> requests;
  for (uint64_t i = 0; i < 11; ++i) {
    Request r;
    for (uint64_t j = 0; j < Random(5).below(12, i); ++j)
      r.source.push_back(3 + static_cast<int64_t>(Random(6 + i).below(8, j)));
    if (i % 5 == 4) r.prefix = {5, 7};
    requests.push_back(r);
  }
  return requests;
}

bool same(const Hypotheses& a, const Hypotheses& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].ids != b[i].ids || a[i].score != b[i].score || a[i].log_probabilities != b[i].log_probabilities)
      return false;
    if (bool(a[i].attention) != bool(b[i].attention)) return false;
    if (a[i].attention && a[i].attention.values<float>() != b[i].attention.values<float>()) return false;
  }
  return true;
}

TEST(Search, SameBitsForAnyBatchSizeAndThreadCount) {
  const std::vector<Request> requests = many_requests();
  const int before = threads();
  for (const Variant& m : test_sanitized ? first_of_each_family(writers()) : writers()) {
    SCOPED_TRACE(m.name);
    const auto model = m.make_as<Generator>();
    const GenerationOptions options = {.attention = !model->source_attention().empty()};
    GenerationConfig beam = {.beam_size = 4, .n_best = 3, .max_length = 10}, sampled = {.n_best = 3, .sample = true};
    sampled.max_length = 10, sampled.top_k = 5, sampled.top_p = 0.95;
    for (GenerationConfig c : {beam, sampled}) {
      c.batch_size = 1;
      set_threads(1);
      const std::vector<Hypotheses> alone = generate(*model, requests, c, options);
      struct Way {
        int64_t batch;
        int threads;
      };
      for (const auto& [batch, count] : {Way{3, 1}, {32, 1}, {2, 2}, {32, 3}, {32, 64}}) {  // in flight, and flights
        if (test_sanitized && count != 3) continue;
        c.batch_size = batch;
        set_threads(count);
        const std::vector<Hypotheses> together = generate(*model, requests, c, options);
        for (size_t i = 0; i < requests.size(); ++i) ASSERT_TRUE(same(alone[i], together[i])) << batch << ", " << i;
      }
    }
  }
  set_threads(before);
}

TEST(Search, ConstraintsHold) {
  const std::vector<Request> requests = many_requests();
  for (const size_t number : {size_t{0}, size_t{6}, size_t{8}}) {
    const Variant m = our_writers()[number];
    SCOPED_TRACE(m.name);
    const auto model = m.make_as<Generator>();
    for (const bool sample : {false, true}) {
      GenerationConfig c = {.beam_size = sample ? 1 : 4, .n_best = 3, .sample = sample};
      c.min_length = 5, c.max_length = 9, c.no_repeat_ngram = 2;
      const std::vector<Hypotheses> found = generate(*model, requests, c);
      for (size_t i = 0; i < requests.size(); ++i) {
        ASSERT_EQ(found[i].size(), 3u);
        for (size_t n = 0; n < 3; ++n) {
          const Hypothesis& h = found[i][n];
          if (n > 0) {
            EXPECT_GE(found[i][n - 1].score, h.score);
          }
          EXPECT_GE(h.ids.size(), 5u);
          EXPECT_LE(h.ids.size() + h.ended, 9u);
          EXPECT_TRUE(h.ended || h.ids.size() == 9);
          std::set<std::pair<int64_t, int64_t>> pairs;
          for (size_t t = 0; t < h.ids.size(); ++t) {
            EXPECT_GE(h.ids[t], 3);
            if (t > 0) {
              EXPECT_TRUE(pairs.insert({h.ids[t - 1], h.ids[t]}).second) << "repeated pair";
            }
            if (t < requests[i].prefix.size()) {
              EXPECT_EQ(h.ids[t], requests[i].prefix[t]);
            }
          }
          double sum = 0;
          for (double p : h.log_probabilities) sum += p;
          EXPECT_NEAR(h.score, sum / static_cast<double>(h.log_probabilities.size()), 1e-9);
        }
      }
    }
  }
}

TEST(Search, OutputIsNeverEndless) {
  Tensor table = zeros({4, 4});
  for (int64_t i = 0; i < 4; ++i) table.data<float>()[i * 4 + 2] = -1e9f;  // the end is all but impossible
  const Hypotheses found = generate(Bigrams(table), {{}}, {.beam_size = 3, .n_best = 1, .max_length = 50})[0];
  EXPECT_EQ(found[0].ids, Ids(50, 3));
  EXPECT_FALSE(found[0].ended);
}

TEST(Search, EndsWhereNothingElseMayFollow) {
  const Hypotheses found = generate(Bigrams(4, 1), {{}}, {.min_length = 30, .max_length = 40, .no_repeat_ngram = 1})[0];
  EXPECT_EQ(found[0].ids, Ids{3});
  EXPECT_TRUE(found[0].ended);
}

TEST(Search, RepetitionPenaltyDividesOrMultiplies) {
  std::vector<float> logits = {1, -2, 3, -4};
  penalise_repetition(logits, {2, 3, 2}, 2);
  EXPECT_EQ(logits, (std::vector<float>{1, -2, 1.5, -8}));
  Tensor table = zeros({5, 5});
  for (int64_t i = 0; i < 5; ++i) table.data<float>()[i * 5 + 3] = 3, table.data<float>()[i * 5 + 4] = 2;
  const Bigrams model(table);
  EXPECT_EQ(generate(model, {{}}, {.max_length = 3})[0][0].ids, (Ids{3, 3, 3}));
  EXPECT_EQ(generate(model, {{}}, {.max_length = 3, .repetition_penalty = 2})[0][0].ids, (Ids{3, 4, 3}));
}

TEST(Search, RepeatingNgramsAreFound) {
  EXPECT_EQ(repeating({5, 6, 7, 5, 6}, 3), Ids{7});
  EXPECT_EQ(repeating({5, 6, 5, 8, 5}, 2), (Ids{6, 8}));
  EXPECT_EQ(repeating({5, 6}, 1), (Ids{5, 6}));
  EXPECT_EQ(repeating({5}, 2), Ids{});
  EXPECT_EQ(repeating({}, 1), Ids{});
}

// How often each first token is drawn.
std::vector<double> shares(const Bigrams& model, GenerationConfig c) {
  c.sample = true, c.n_best = 20000, c.max_length = 1;
  std::vector<double> share(static_cast<size_t>(model.vocabulary()));
  const Hypotheses drawn = generate(model, {{}}, c)[0];
  for (const Hypothesis& h : drawn) share[static_cast<size_t>(h.ended ? 2 : h.ids[0])] += 1.0 / 20000;
  return share;
}

TEST(Search, SamplesFollowTheProbabilities) {
  Tensor table = zeros({7, 7});
  const std::vector<double> probabilities = {0, 0, 0.1, 0.4, 0.05, 0.25, 0.2};
  for (int64_t i = 0; i < 49; ++i)
    table.data<float>()[i] = static_cast<float>(std::log(probabilities[static_cast<size_t>(i % 7)] + 1e-30));
  const Bigrams model(table);
  auto expect = [&](const GenerationConfig& c, std::vector<double> expected) {
    double total = 0;
    for (double& p : expected) total += p;
    const std::vector<double> found = shares(model, c);
    for (size_t i = 0; i < 7; ++i) {
      EXPECT_NEAR(found[i], expected[i] / total, 0.02) << "token " << i;
      if (expected[i] == 0) {
        EXPECT_EQ(found[i], 0);
      }
    }
  };
  expect({}, probabilities);
  expect({.top_k = 2}, {0, 0, 0, 0.4, 0, 0.25, 0});
  expect({.top_p = 0.8}, {0, 0, 0, 0.4, 0, 0.25, 0.2});
  std::vector<double> squared;
  for (double p : probabilities) squared.push_back(p * p);
  expect({.temperature = 0.5}, squared);
  EXPECT_NE(shares(model, {.seed = 1}), shares(model, {.seed = 2}));
}

TEST(Search, ResultsAreHandedOnInOrder) {
  const std::vector<Request> requests = many_requests();
  const auto model = writers()[0].make_as<Generator>();
  std::vector<size_t> order;
  std::vector<Hypotheses> handed;
  const std::vector<Hypotheses> found = generate(*model, requests, {.max_length = 5, .batch_size = 1},
                                                 {.on_result = [&](size_t number, const Hypotheses& h) {
                                                   order.push_back(number);
                                                   handed.push_back(h);
                                                 }});
  ASSERT_EQ(order.size(), requests.size());
  for (size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(order[i], i);
    EXPECT_TRUE(same(handed[i], found[i]));
  }
  EXPECT_TRUE(generate(*model, {}, {}).empty());
}

TEST(Search, AttentionIsThatOfTheFullPass) {
  const Request request = {.source = {4, 9, 3, 3, 7}};
  for (const Variant& m : writers()) {
    const auto model = m.make_as<Generator>();
    if (!m.name.starts_with("transformer")) continue;
    SCOPED_TRACE(m.name);
    const Hypothesis h = generate(*model, {request}, {.beam_size = 3, .max_length = 9}, {.attention = true})[0][0];
    const int64_t tokens = static_cast<int64_t>(h.log_probabilities.size());
    ASSERT_EQ(h.attention.shape(), (Shape{tokens, 5}));
    Ids inputs = {1};
    inputs.insert(inputs.end(), h.ids.begin(), h.ids.end());
    inputs.resize(static_cast<size_t>(tokens));
    Trace trace;
    model->logits({tensor({1, 5}, request.source), {}}, tensor({1, tokens}, inputs), {.trace = &trace});
    const Tensor w = trace[model->source_attention()].weights;
    for (int64_t t = 0; t < tokens; ++t) {
      for (int64_t j = 0; j < 5; ++j) {
        double mean = 0;
        for (int64_t head = 0; head < w.size(1); ++head)
          mean += w.select(0, 0).select(0, head).select(0, t).select(0, j).item() / static_cast<double>(w.size(1));
        EXPECT_NEAR(h.attention.select(0, t).select(0, j).item(), mean, 1e-6);
      }
    }
  }
}

TEST(Search, WhatCannotBeHonouredIsAnError) {
  const Bigrams model(5, 1);
  EXPECT_THROW(generate(model, {{}}, {.beam_size = 0}), Error);
  EXPECT_THROW(generate(model, {{}}, {.beam_size = 2, .n_best = 3}), Error);
  EXPECT_THROW(generate(model, {{}}, {.beam_size = 2, .sample = true}), Error);
  EXPECT_THROW(generate(model, {{}}, {.temperature = 0}), Error);
  EXPECT_THROW(generate(model, {{}}, {.top_p = 1.5}), Error);
  EXPECT_THROW(generate(model, {{}}, {.max_length = 0}), Error);
  EXPECT_THROW(generate(model, {{.prefix = {9}}}, {}), Error);
  EXPECT_THROW(generate(model, {{.prefix = {2}}}, {}), Error);
  EXPECT_THROW(generate(model, {{.prefix = {3, 3, 3}}}, {.max_length = 2}), Error);
  EXPECT_THROW(generate(model, {{}}, {}, {.attention = true}), Error);
  EXPECT_THROW(generate(Bigrams(full({5, 5}, std::numeric_limits<double>::quiet_NaN())), {{}}, {}), Error);
}

TEST(Search, AModelWithPositionsEndsAtItsLast) {
  Transformer model({.vocabulary = 11,
                     .encoder_layers = 1,
                     .decoder_layers = 1,
                     .stack = {.width = 12, .heads = 2, .hidden = 17, .positions = "learned", .longest = 6}});
  Variant::randomise(model);
  const Hypothesis found = generate(model, {{.source = {4, 5}}}, {.min_length = 20, .max_length = 20})[0][0];
  EXPECT_EQ(found.ids.size(), 6u);
  EXPECT_FALSE(found.ended);
  EXPECT_THROW(generate(model, {{.source = Ids(7, 4)}}, {}), Error);
}

TEST(Search, AnEmptySourceGivesOutput) {
  for (const Variant& m : writers()) {
    SCOPED_TRACE(m.name);
    const Hypotheses found = generate(*m.make_as<Generator>(), {{}, {.source = {3, 4}}}, {.max_length = 4})[0];
    for (double p : found.at(0).log_probabilities) EXPECT_TRUE(std::isfinite(p));
  }
}

TEST(Search, ALanguageModelContinuesItsPrefix) {
  const auto model = variants([](const Abilities& a) { return a.generates && !a.encodes && !a.encodes_pictures; })[0]
                         .make_as<Generator>();
  const std::vector<Hypotheses> found =
      generate(*model, {{.prefix = {4, 5, 6}}, {.prefix = {7}}}, {.beam_size = 2, .min_length = 5, .max_length = 8});
  EXPECT_EQ(Ids(found[0][0].ids.begin(), found[0][0].ids.begin() + 3), (Ids{4, 5, 6}));
  EXPECT_EQ(found[1][0].ids[0], 7);
  EXPECT_THROW(generate(*model, {{.source = {4}}}, {}), Error);
}

TEST(Search, TheConfigIsKeptInTheFolder) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "fovea_generation";
  std::filesystem::create_directories(folder);
  std::filesystem::remove(folder / "generation_config.json");
  EXPECT_EQ(read_generation_config(folder).beam_size, 1);
  write_generation_config(folder, {.beam_size = 5, .length_penalty = 0.6});
  EXPECT_EQ(read_generation_config(folder).beam_size, 5);
  EXPECT_EQ(read_generation_config(folder).length_penalty, 0.6);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace fovea
