// Taggers and classifiers of every kind learn a dozen examples by heart, and hard attention finds the word that decides.
#include <gtest/gtest.h>

#include "fovea/base/threads.h"
#include "fovea/models/families/bag_of_words.h"
#include "fovea/models/families/classifier.h"
#include "fovea/models/families/tagger.h"
#include "fovea/tensor/reduce.h"
#include "fovea/train/optimiser.h"
#include "test_paths.h"

namespace fovea {
namespace {

Tensor random_ids(const Shape& shape, int64_t low, uint64_t count, uint64_t seed) {
  Tensor t(shape, DType::i64);
  for (int64_t i = 0; i < t.elements(); ++i)
    t.data<int64_t>()[i] = low + static_cast<int64_t>(Random(seed).below(count, static_cast<uint64_t>(i)));
  return t;
}

// The loss of the last of so many steps, divided by `examples`.
template <class M>
double learn(M& model, int steps, double rate, double examples, const std::function<Tensor(const Context&)>& loss) {
  const int before = threads();
  set_threads(1);  // such small steps are not worth another one
  initialise(model, Random(1));
  Optimiser optimiser({.kind = "adam", .learning_rate = rate, .weight_decay = 0, .clip = 0}, list_weights(model));
  double last = 0;
  for (int step = 0; step < steps; ++step) {
    const Tensor now = loss({.training = true, .random = Random(2).fork(static_cast<uint64_t>(step))});
    now.backward();
    last = now.item() / examples;
    optimiser.step({.divisor = examples});
  }
  set_threads(before);
  return last;
}

TEST(LearnLabels, TaggersLearnADozenSentences) {
  const std::vector<int64_t> lengths = {5, 1, 8, 3, 5, 6, 2, 7, 4, 8, 3, 5};
  const SpelledWords x = {random_ids({12, 8}, 3, 30, 1), tensor({12}, lengths), random_ids({12, 8, 5}, 1, 8, 2),
                          random_ids({12, 8}, 1, 5, 3)};
  const Tensor labels = random_ids({12, 8}, 0, 4, 4);
  for (const bool crf : {true, false}) {
    for (const std::string attention : {"scaled-dot", "dot", "general", "additive", "concat", "none"}) {
      if (test_sanitized && attention != "additive") continue;
      WordTagger model({.vocabulary = 33,
                        .characters = 9,
                        .labels = {"O", "B", "I", "E"},
                        .cell = attention == "general" ? "gru" : "lstm",
                        .embedding = 16,
                        .width = 24,
                        .character_embedding = 8,
                        .character_width = 8,
                        .attention = attention,
                        .crf = crf,
                        .dropout = 0.1});
      const double loss = learn(model, 160, 0.01, 12, [&](const Context& c) { return model.loss(x, labels, c); });
      EXPECT_LT(loss, 0.6) << (crf ? "crf" : "softmax") << ", " << attention;
      const std::vector<int64_t> best = model.best(model.scores(x, {}), x.lengths).values<int64_t>();
      for (int64_t i = 0; i < 12 * 8; ++i) {
        const int64_t wanted = i % 8 < lengths[static_cast<size_t>(i / 8)] ? labels.data<int64_t>()[i] : 0;
        ASSERT_EQ(best[static_cast<size_t>(i)], wanted) << (crf ? "crf" : "softmax") << ", " << attention << ": " << i;
      }
    }
  }
}

TEST(LearnLabels, ClassifiersLearnADozenTexts) {
  const Source source = {random_ids({12, 8}, 3, 30, 1),
                         tensor({12}, std::vector<int64_t>{5, 1, 8, 3, 5, 6, 2, 7, 4, 8, 3, 5})};
  const Tensor labels = random_ids({12}, 0, 3, 4);
  const std::vector<std::string> three = {"bad", "good", "mixed"};
  auto check = [&](auto& model, const std::string& name, int steps, double rate) {
    const double loss =
        learn(model, steps, rate, 12, [&](const Context& c) { return model.loss(source, {labels}, c); });
    EXPECT_LT(loss, 0.2) << name;
    EXPECT_EQ(argmax(model.logits(source, {}), -1).template values<int64_t>(), labels.values<int64_t>()) << name;
  };
  for (const std::string encoder : {"lstm", "gru", "transformer", "none"}) {
    for (const std::string pooling : {"additive", "dot", "general", "concat", "scaled-dot", "last", "mean"}) {
      if (pooling == "last" && (encoder == "transformer" || encoder == "none")) continue;
      PooledClassifier::Config c = {
          .vocabulary = 33, .labels = three, .encoder = encoder, .embedding = 16, .width = 16};
      c.heads = 2, c.hidden = 32, c.dropout = 0;
      c.pooling = pooling == "last" || pooling == "mean" ? pooling : "attention";
      if (c.pooling == "attention") c.attention = pooling;
      PooledClassifier model(c);
      check(model, encoder + ", " + pooling, 80, 0.01);
    }
  }
  BagOfWords bag({.vocabulary = 33, .labels = three});
  check(bag, "bag of words", 120, 0.2);
}

// Eight words of which one, 3, 4 or 5, gives the text its label.
TEST(LearnLabels, HardAttentionFindsTheWordThatDecides) {
  constexpr int64_t texts = 64, words = 8;
  Tensor ids = random_ids({texts, words}, 6, 27, 1);
  const Tensor place = random_ids({texts}, 0, words, 2), labels = random_ids({texts}, 0, 3, 3);
  for (int64_t b = 0; b < texts; ++b)
    ids.data<int64_t>()[b * words + place.data<int64_t>()[b]] = 3 + labels.data<int64_t>()[b];
  for (const std::string gradient : {"reinforce", "straight-through", "marginal"}) {
    PooledClassifier model({.vocabulary = 33,
                            .labels = {"bad", "good", "mixed"},
                            .encoder = "none",
                            .embedding = 16,
                            .selection = "hard",
                            .hard_gradient = gradient,
                            .dropout = 0});
    learn(model, 300, 0.01, texts, [&](const Context& c) { return model.loss({ids, {}}, {labels}, c); });
    EXPECT_EQ(argmax(model.logits({ids, {}}, {}), -1).values<int64_t>(), labels.values<int64_t>()) << gradient;
    EXPECT_EQ(argmax(model.token_weights({ids, {}}, {}), -1).values<int64_t>(), place.values<int64_t>()) << gradient;
  }
}

}  // namespace
}  // namespace fovea
