#include "fovea/models/families/tagger.h"

#include "fovea/models/labels_golden.h"
#include "fovea/models/pretrained.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

const std::vector<std::string> four = {"O", "B-PER", "I-PER", "B-LOC"};

SpelledWords golden_input() {
  const SafeTensors& file = label_golden_file();
  return {file["words"], file["lengths"], file["characters"], file["character_lengths"]};
}

WordTagger::Config golden_config(const std::string& cell, const std::string& attention, bool crf) {
  return {.vocabulary = 11,
          .characters = 7,
          .labels = four,
          .cell = cell,
          .embedding = 4,
          .width = 3,
          .layers = cell == "gru" ? 2 : 1,
          .character_embedding = 2,
          .character_width = 3,
          .attention = attention,
          .crf = crf};
}

// The scores beyond the lengths mean nothing; the file has zeros there.
Tensor real_scores(const WordTagger& model, const SpelledWords& x) {
  Tensor scores = model.scores(x, {}).detach().clone();
  const std::vector<int64_t> lengths = x.lengths.values<int64_t>();
  for (int64_t b = 0; b < scores.size(0); ++b)
    scores.select(0, b).slice(0, lengths[static_cast<size_t>(b)], scores.size(1)).fill(0);
  return scores;
}

TEST(Tagger, EqualsPyTorch) {
  auto check = [](const std::string& name, const WordTagger::Config& c) {
    check_label_golden(
        name, [&] { return WordTagger(c); }, [](const WordTagger& m) { return real_scores(m, golden_input()); },
        [](const WordTagger& m) { return m.loss(golden_input(), label_golden_file()["tags"], {}); });
  };
  check("tagger_lstm_crf", golden_config("lstm", "scaled-dot", true));
  check("tagger_gru_softmax", golden_config("gru", "additive", false));
  check("tagger_plain", golden_config("lstm", "none", true));
}

// Sentences of 7, 1, 17, 0 and 5 words of up to 6 characters; beyond the lengths stands what would be an error elsewhere.
struct Sentences {
  std::vector<int64_t> lengths = {7, 1, 17, 0, 5};
  SpelledWords x;
  Tensor labels;

  Sentences() {
    const int64_t batch = static_cast<int64_t>(lengths.size()), words = 17;
    x = {random_ids({batch, words}, 3, 30, 1), tensor({batch}, lengths), random_ids({batch, words, 6}, 1, 8, 2),
         random_ids({batch, words}, 0, 7, 3)};
    labels = random_ids({batch, words}, 0, 4, 4);
    for (int64_t b = 0; b < batch; ++b) {
      for (Tensor* t : {&x.words, &x.characters, &x.character_lengths, &labels})
        t->select(0, b).slice(0, lengths[static_cast<size_t>(b)], words).fill(999);
    }
  }
  SpelledWords alone(int64_t b) const {
    const int64_t n = lengths[static_cast<size_t>(b)];
    auto cut = [&](const Tensor& t) { return t.slice(0, b, b + 1).slice(1, 0, n).contiguous(); };
    return {cut(x.words), tensor({1}, std::vector<int64_t>{n}), cut(x.characters), cut(x.character_lengths)};
  }
};

WordTagger::Config small(const std::string& attention, bool crf = true) {
  return {.vocabulary = 33,
          .characters = 9,
          .labels = four,
          .embedding = 9,
          .width = 10,
          .character_embedding = 5,
          .character_width = 7,
          .attention = attention,
          .crf = crf,
          .dropout = 0};
}

const std::vector<std::string> forms = {"scaled-dot", "dot", "general", "additive", "concat", "none"};

TEST(Tagger, GradientsOfAllWeightsEqualFiniteDifferences) {
  for (const std::string& form : forms) {
    SCOPED_TRACE(form);
    WordTagger::Config c = golden_config(form == "dot" ? "gru" : "lstm", form, form != "concat");
    c.width = 2, c.layers = 1, c.embedding = 2, c.character_width = 1;
    WordTagger model(c);
    randomise(model);
    convert(model, DType::f64);
    check_weight_gradients(model, [&] { return model.loss(golden_input(), label_golden_file()["tags"], {}); });
  }
}

TEST(Tagger, PaddedHasTheBitsOfAlone) {
  const Sentences s;
  for (const std::string& form : forms) {
    SCOPED_TRACE(form);
    WordTagger model(small(form));
    randomise(model);
    for_each_simd([&] {
      const Tensor together = model.scores(s.x, {});
      const Tensor p = model.probabilities(together, s.x.lengths), best = model.best(together, s.x.lengths);
      for (int64_t b = 0; b < 5; ++b) {
        const int64_t n = s.lengths[static_cast<size_t>(b)];
        if (n == 0) continue;
        const Tensor alone = model.scores(s.alone(b), {}), length = tensor({1}, std::vector<int64_t>{n});
        ASSERT_TRUE(same_bits(alone, together.slice(0, b, b + 1).slice(1, 0, n))) << "sentence " << b;
        ASSERT_TRUE(same_bits(model.probabilities(alone, length), p.slice(0, b, b + 1).slice(1, 0, n)));
        ASSERT_TRUE(same_bits(model.best(alone, length), best.slice(0, b, b + 1).slice(1, 0, n)));
      }
    });
  }
}

TEST(Tagger, SameBitsForAnyThreadCount) {
  const Sentences s;
  for (const bool crf : {true, false}) {
    WordTagger::Config c = small("scaled-dot", crf);
    c.dropout = 0.3, c.word_dropout = 0.2;
    WordTagger model(c);
    randomise(model);
    expect_same_bits_for_any_threads([&] {
      require_gradients(model);
      const Tensor loss = model.loss(s.x, s.labels, {.training = true, .random = Random(3)});
      loss.backward();
      std::vector<Tensor> seen = {loss.detach()};
      for_each_tensor(model, [&](const std::string&, Tensor& w, const Init&) { seen.push_back(w.gradient()); });
      return seen;
    });
  }
}

TEST(Tagger, SavedAndLoadedHasTheSameBits) {
  const Sentences s;
  for (const std::string& form : forms) {
    WordTagger model(small(form));
    randomise(model);
    const std::filesystem::path folder = fresh_model_folder("tagger");
    save_model(folder, model);
    const auto loaded = load_model(folder);
    const WordLabeller& labeller = as<WordLabeller>(*loaded);
    EXPECT_EQ(loaded->config(), model.config());
    EXPECT_EQ(labeller.labels(), four);
    EXPECT_TRUE(same_bits(labeller.scores(s.x, {}), model.scores(s.x, {})));
    EXPECT_EQ(labeller.loss(s.x, s.labels, {}).item(), model.loss(s.x, s.labels, {}).item());
    std::filesystem::remove_all(folder);
  }
}

TEST(Tagger, AttentionIsTracedOverTheWords) {
  const Sentences s;
  for (const std::string& form : forms) {
    WordTagger model(small(form));
    randomise(model);
    Trace trace;
    model.scores(s.x, {.trace = &trace});
    if (form == "none") {
      EXPECT_EQ(model.attention_place(), "");
      EXPECT_TRUE(trace.results().empty());
      continue;
    }
    const Tensor w = trace[model.attention_place()].weights;
    EXPECT_EQ(w.shape(), Shape({5, 1, 17, 17}));
    for (double total : sum(w.select(0, 0).slice(1, 0, 7), {-1}).values<double>()) EXPECT_NEAR(total, 1, 1e-5);
    EXPECT_EQ(sum(w.select(0, 0).slice(-1, 7, 17)).item(), 0);
  }
}

TEST(Tagger, WordsCharactersAndNeighboursMatter) {
  Sentences s;
  WordTagger model(small("additive"));
  randomise(model);
  const Tensor before = model.scores(s.x, {});
  auto changed = [&](Tensor& ids, int64_t place, int64_t value) {
    int64_t& id = ids.data<int64_t>()[place];
    const int64_t kept = std::exchange(id, value);
    const Tensor after = model.scores(s.x, {});
    id = kept;
    return after;
  };
  s.x.character_lengths.data<int64_t>()[0] = 3;  // word 0 of sentence 0
  const Tensor spelled = model.scores(s.x, {});
  for (const Tensor& after : {changed(s.x.words, 0, 3 + (s.x.words.data<int64_t>()[0] - 2) % 30),
                              changed(s.x.characters, 1, 1 + s.x.characters.data<int64_t>()[1] % 8)}) {
    EXPECT_FALSE(same_bits(after.select(0, 0).select(0, 0), spelled.select(0, 0).select(0, 0)));
    EXPECT_FALSE(same_bits(after.select(0, 0).select(0, 6), spelled.select(0, 0).select(0, 6)));
    EXPECT_TRUE(same_bits(after.select(0, 2), before.select(0, 2)));
  }
}

TEST(Tagger, SoftmaxLabelsAreThoseOfEachWord) {
  const Sentences s;
  WordTagger model(small("none", false));
  randomise(model);
  const Tensor scores = model.scores(s.x, {});
  const std::vector<int64_t> best = model.best(scores, s.x.lengths).values<int64_t>();
  const std::vector<double> p = model.probabilities(scores, s.x.lengths).values<double>(), e = scores.values<double>();
  double loss = 0;
  for (size_t i = 0; i < best.size(); ++i) {
    const bool real = static_cast<int64_t>(i % 17) < s.lengths[i / 17];
    const double* x = e.data() + i * 4;
    double total = 0;
    for (int l = 0; l < 4; ++l) total += std::exp(x[l]);
    for (size_t l = 0; l < 4; ++l) EXPECT_NEAR(p[i * 4 + l], real ? std::exp(x[l]) / total : 0, 1e-6);
    EXPECT_EQ(best[i], real ? std::max_element(x, x + 4) - x : 0);
    if (real) loss += std::log(total) - x[s.labels.data<int64_t>()[i]];
  }
  EXPECT_NEAR(model.loss(s.x, s.labels, {}).item(), loss, 1e-4);
}

TEST(Tagger, DropoutActsInTrainingOnly) {
  const Sentences s;
  WordTagger::Config c = small("scaled-dot");
  for (const bool words : {false, true}) {
    (words ? c.word_dropout : c.dropout) = 0.3;
    WordTagger model(c);
    randomise(model);
    auto run = [&](bool training, uint64_t seed) {
      return model.loss(s.x, s.labels, {.training = training, .random = Random(seed)}).item();
    };
    EXPECT_EQ(run(false, 1), run(false, 2));
    EXPECT_EQ(run(true, 1), run(true, 1));
    EXPECT_NE(run(true, 1), run(true, 2));
    EXPECT_NE(run(true, 1), run(false, 1));
    c.dropout = 0;
  }
  c.word_dropout = 0.9999999;
  WordTagger model(c);
  randomise(model);
  Sentences unknown;
  unknown.x.words.fill(static_cast<double>(c.unknown));
  EXPECT_EQ(model.loss(s.x, s.labels, {.training = true}).item(), model.loss(unknown.x, s.labels, {}).item());
}

TEST(Tagger, NothingToTagIsNoError) {
  WordTagger model(small("scaled-dot"));
  randomise(model);
  const SpelledWords empty = {zeros({2, 3}, DType::i64), zeros({2}, DType::i64), zeros({2, 3, 1}, DType::i64),
                              zeros({2, 3}, DType::i64)};
  const Tensor scores = model.scores(empty, {});
  EXPECT_EQ(model.loss(empty, zeros({2, 3}, DType::i64), {}).item(), 0);
  EXPECT_EQ(model.best(scores, empty.lengths).values<int64_t>(), std::vector<int64_t>(6));
}

TEST(Tagger, WhatDoesNotFitIsAnError) {
  auto with = [](auto change) {
    WordTagger::Config c = small("scaled-dot");
    change(c);
    return error_of([&] { WordTagger model(c); });
  };
  EXPECT_NE(with([](auto& c) { c.labels = {}; }).find("0 labels"), std::string::npos);
  EXPECT_NE(with([](auto& c) { c.labels = {"O"}; }).find("1 labels"), std::string::npos);
  EXPECT_NE(with([](auto& c) { c.labels = {"O", "X", "O"}; }).find("'O' twice"), std::string::npos);
  EXPECT_NE(with([](auto& c) { c.cell = "lsmt"; }).find("'lstm'"), std::string::npos);
  EXPECT_NE(with([](auto& c) { c.attention = "aditive"; }).find("'additive'"), std::string::npos);
  EXPECT_NE(with([](auto& c) { c.width = 0; }).find("width of 0"), std::string::npos);
  EXPECT_NE(with([](auto& c) { c.vocabulary = 0; }).find("vocabulary of 0"), std::string::npos);
  EXPECT_NE(with([](auto& c) { c.dropout = 1; }).find("dropout of 1"), std::string::npos);
  EXPECT_NE(with([](auto& c) { c.word_dropout = -0.1; }).find("word_dropout"), std::string::npos);
  EXPECT_NE(with([](auto& c) { c.unknown = 33; }).find("special id 33"), std::string::npos);
  WordTagger model(small("none"));
  initialise(model, Random(1));
  Sentences s;
  s.x.character_lengths.data<int64_t>()[0] = 7;
  EXPECT_NE(error_of([&] { model.scores(s.x, {}); }).find("word of 7 characters"), std::string::npos);
  EXPECT_THROW(model.scores({s.x.words, s.x.lengths, {}, {}}, {}), Error);
}

}  // namespace
}  // namespace fovea
