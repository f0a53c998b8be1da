// Texts that are read together have the bits that each has alone, however they were divided into groups.
#include "fovea/models/sequence_groups.h"

#include <gtest/gtest.h>

#include <mutex>

#include "fovea/base/random.h"
#include "fovea/models/family.h"

namespace fovea {
namespace {

constexpr int64_t longest = 40, vocabulary = 50;

std::unique_ptr<Model> small_bert() {
  const auto config = find<Family>("bert").config();
  from_json(R"({"architectures": ["BertModel"], "vocab_size": 50, "hidden_size": 32, "num_hidden_layers": 2,
                "num_attention_heads": 4, "intermediate_size": 64, "max_position_embeddings": 64})",
            *config, "bert");
  std::unique_ptr<Model> model = config->make();
  initialise(*model, Random(1));
  for_each_weight(*model, [&](const std::string&, Weight& w, const Init&) { w.bind(w.stored(), Precision::f32); });
  return model;
}

struct Texts {
  Tensor ids;
  std::vector<int64_t> lengths;
};

// Of 1 to `longest` tokens.
Texts texts(int64_t count) {
  Texts t = {Tensor({count, longest}, DType::i64), {}};
  for (int64_t i = 0; i < t.ids.elements(); ++i)
    t.ids.data<int64_t>()[i] = static_cast<int64_t>(Random(2).below(vocabulary, static_cast<uint64_t>(i)));
  for (int64_t i = 0; i < count; ++i) t.lengths.push_back(1 + (i * 17) % longest);
  return t;
}

Tensor states(const Model& model, const Tensor& ids, const std::vector<int64_t>& lengths) {
  return as<Encoder>(model).encode({ids, tensor({std::ssize(lengths)}, lengths)}, {});
}

TEST(SequenceGroups, ATextHasTheBitsThatItHasAlone) {
  const std::unique_ptr<Model> model = small_bert();
  const Texts t = texts(60);  // about 1,200 tokens
  for (int count : {1, 2, 3}) {
    set_threads(count);
    const Tensor together = states(*model, t.ids, t.lengths);
    for (int64_t i = 0; i < std::ssize(t.lengths); ++i) {
      const int64_t length = t.lengths[i];
      const Tensor alone = states(*model, t.ids.slice(0, i, i + 1).slice(1, 0, length), {length});
      EXPECT_EQ(together.slice(0, i, i + 1).slice(1, 0, length).values<float>(), alone.values<float>())
          << "text " << i << ", " << count << " threads";
    }
  }
  set_threads(0);
}

// How many groups, and the tokens of all.
std::pair<size_t, int64_t> groups_of(const std::vector<int64_t>& starts, int64_t width, const Context& c) {
  SequenceGroups groups(zeros({1, starts.back(), width}), starts, c);
  std::mutex mutex;
  std::pair<size_t, int64_t> seen;
  groups.pass([&](const Tensor& x, const Mask&) {
    const std::scoped_lock lock(mutex);
    seen.first += 1, seen.second += x.size(1);
    return x;
  });
  EXPECT_EQ(groups.joined().shape(), (Shape{1, starts.back(), width}));
  return seen;
}

TEST(SequenceGroups, AreCutWhereThereIsEnoughForAllThreads) {
  std::vector<int64_t> many, one = {0, 2000}, few = {0, 20, 40}, empty = {0, 0, 0};
  for (int64_t i = 0; i <= 100; ++i) many.push_back(20 * i);
  Context training;
  training.training = true;
  for (int count : {1, 2}) {
    set_threads(count);
    const auto [groups, tokens] = groups_of(many, 32, {});
    EXPECT_GE(groups, size_t{16});  // of about 96 rows each
    EXPECT_EQ(groups % static_cast<size_t>(count), 0u);
    EXPECT_EQ(tokens, 2000);
    EXPECT_EQ(groups_of(many, 32, training).first, 1u);
    EXPECT_EQ(groups_of(one, 32, {}).first, 1u);
    EXPECT_EQ(groups_of(few, 32, {}).first, 1u);
    EXPECT_EQ(groups_of(empty, 32, {}), (std::pair<size_t, int64_t>(1, 0)));
    EXPECT_LT(groups_of(many, 4096, {}).first, size_t{2});  // its weights are read as few times as possible
  }
  set_threads(0);
}

}  // namespace
}  // namespace fovea
