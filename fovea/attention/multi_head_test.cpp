#include "fovea/attention/multi_head.h"

#include <cstring>
#include <limits>

#include "fovea/attention/cache.h"
#include "fovea/nn/embedding.h"
#include "fovea/nn/golden.h"
#include "fovea/nn/recurrent.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/loss.h"

namespace fovea {
namespace {

using Config = MultiHeadAttention::Config;

Tensor float_input(const Shape& shape, uint64_t seed = 1) { return random_input(shape, seed).to(DType::f32); }

MultiHeadAttention made(const Config& config, uint64_t seed = 1) {
  MultiHeadAttention attention(config);
  initialise(attention, Random(seed));
  for_each_tensor(attention, [&](const std::string& path, Tensor& w, const Init&) {  // biases begin as zeros
    if (path.ends_with("bias")) w.copy_from(normal(w.shape(), Random(seed).fork(path)));
  });
  return attention;
}

// The reference: 8 heads × 64 = 512 with the golden script's weights and inputs.
struct Reference {
  MultiHeadAttention attention{Config{.width = 512, .heads = 8}};
  Tensor x = golden_numbers({2, 6, 512}, 60), memory = golden_numbers({2, 5, 512}, 61);
  NamedTensors leaves;

  explicit Reference(DType type) {
    NamedTensors weights;
    int64_t seed = 0;
    for (const std::string name : {"query", "key", "value", "output"}) {
      weights[name + ".weight"] = golden_numbers({512, 512}, ++seed, 0.1);
      weights[name + ".bias"] = golden_numbers({512}, ++seed, 0.1);
    }
    load(attention, weights);
    convert(attention, type);
    require_gradients(attention);
    x = x.to(type).clone().require_gradient(), memory = memory.to(type).clone().require_gradient();
    leaves = {{"x", x}, {"memory", memory}};
    for_each_tensor(attention, [&](const std::string& path, Tensor& w, const Init&) { leaves[path] = w; });
  }
};

Tensor sampled(const Tensor& gradient) {
  Tensor s = gradient.slice(-1, 0, gradient.size(-1), 61);
  return gradient.rank() == 2 ? s.slice(0, 0, gradient.size(0), 97) : s;
}

void check_reference(const std::string& name, bool cross, const Mask& mask) {
  SCOPED_TRACE(name);
  const std::string key = "multi_head_" + name;
  for_each_arithmetic([&](DType type) {
    const double allowed = type == DType::f64 ? 2e-6 : 1e-4;
    Reference r(type);
    const AttentionOptions options = {.mask = mask, .probe = Probe{.weights = true}};
    AttentionResult result =
        cross ? r.attention.attend_with(r.x, r.memory, options, {}) : r.attention.attend_with(r.x, options, {});
    gradient_check::expect_near(result.output.slice(-1, 0, 512, 8), golden_file()[key + ".output"], allowed, "output");
    gradient_check::expect_near(result.probe.weights, golden_file()[key + ".probe"], allowed, "weights");
    result.output.backward(golden_numbers(result.output.shape(), 99).to(type));
    const NamedTensors gradients = golden(key + ".gradient.");
    EXPECT_EQ(gradients.size(), cross ? 10u : 9u);
    for (const auto& [leaf, gradient] : gradients) {
      ASSERT_TRUE(r.leaves.at(leaf).gradient()) << leaf;
      gradient_check::expect_near_in_size(sampled(r.leaves.at(leaf).gradient()), gradient, allowed, allowed / 10,
                                          "gradient of " + leaf);
    }
  });
}

Tensor lengths(const std::vector<int64_t>& values) { return tensor({static_cast<int64_t>(values.size())}, values); }

TEST(MultiHead, SelfAttentionEqualsPyTorch) { check_reference("self", false, {}); }
TEST(MultiHead, CausalAttentionEqualsPyTorch) { check_reference("causal", false, {.causal = true}); }
TEST(MultiHead, PaddedAttentionEqualsPyTorch) { check_reference("padded", false, {.key_lengths = lengths({6, 3})}); }
TEST(MultiHead, CrossAttentionEqualsPyTorch) { check_reference("cross", true, {}); }
TEST(MultiHead, PaddedCrossAttentionEqualsPyTorch) {
  check_reference("cross_padded", true, {.key_lengths = lengths({5, 3})});
}

std::vector<Config> configs_of_every_form() {
  std::vector<Config> configs;
  for (const Form* form : catalogue<Form>()) {
    configs.push_back({.width = 24, .heads = 4, .form = std::string(form->name)});
    configs.push_back({.width = 24, .heads = 4, .key_heads = 2, .form = std::string(form->name)});
    configs.push_back({.width = 24, .heads = 4, .head_width = 10, .form = std::string(form->name), .rotary = true});
  }
  return configs;
}

// Tokens one by one, or in unequal pieces, give the bits of one causal pass.
void check_cached(const Config& config) {
  SCOPED_TRACE(fmt::format("{}, {} key heads, rotary {}", config.form, config.key_heads, config.rotary));
  const MultiHeadAttention attention = made(config);
  const Tensor x = float_input({2, 70, config.width});
  for (int64_t window : {0, 20}) {
    const AttentionOptions causal = {.mask = {.causal = true, .window = window}};
    const Tensor whole = attention(x, causal, {});
    for (const std::vector<int64_t>& pieces : {std::vector<int64_t>(70, 1), std::vector<int64_t>{33, 1, 17, 19}}) {
      Cache cache(window == 0 ? 16 : 64);
      int64_t at = 0;
      for (int64_t piece : pieces) {
        cache.begin(std::vector<int64_t>{0, piece, 2 * piece});
        const Tensor tokens = x.slice(1, at, at + piece).reshape({1, 2 * piece, config.width});
        const Tensor y = attention(tokens, causal, {.cache = &cache});
        EXPECT_TRUE(same_bits(y, whole.slice(1, at, at + piece).reshape(y.shape()))) << "from " << at << ", " << piece;
        at += piece;
      }
      EXPECT_EQ(cache.length(1), 70);
    }
  }
}

TEST(MultiHead, StepByStepGivesTheBitsOfTheFullPassForEveryForm) {
  for_each_simd([&] {
    for (const Config& config : configs_of_every_form()) check_cached(config);
  });
}

// Many sequences in one row: each gets what it gets alone, and so do the gradients of its tokens.
TEST(MultiHead, PackedSequencesEqualEachAlone) {
  for (const Config& config : configs_of_every_form()) {
    SCOPED_TRACE(fmt::format("{}, {} key heads, rotary {}", config.form, config.key_heads, config.rotary));
    const MultiHeadAttention attention = made(config);
    auto outcome = [&](const Tensor& tokens, const Mask& mask) {
      Tensor x = tokens.clone().require_gradient();
      const Tensor y = attention(x, {.mask = mask}, {});
      y.backward(ones(y.shape()));
      return std::pair(y.detach(), x.gradient());
    };
    const Tensor x = float_input({1, 40, config.width});
    const std::vector<int64_t> starts = {0, 13, 14, 40};
    const auto [packed, packed_gradient] = outcome(x, {.causal = true, .query_starts = lengths(starts)});
    for (size_t s = 0; s + 1 < starts.size(); ++s) {
      auto part = [&](const Tensor& t) { return t.slice(1, starts[s], starts[s + 1]); };
      const auto [alone, gradient] = outcome(part(x), {.causal = true});
      EXPECT_TRUE(same_bits(part(packed), alone)) << "sequence " << s;
      gradient_check::expect_near_in_size(part(packed_gradient), gradient, 2e-5, 1e-6, "gradient");
    }
  }
}

TEST(MultiHead, CrossAttentionProjectsTheMemoryOnce) {
  for (const Form* form : catalogue<Form>()) {
    const MultiHeadAttention attention =
        made({.width = 12, .heads = 3, .memory_width = 7, .form = std::string(form->name)});
    const Tensor x = float_input({2, 4, 12}), memory = float_input({2, 9, 7});
    const AttentionOptions options = {.mask = {.key_lengths = lengths({9, 5})}};
    const Tensor whole = attention(x, memory, options, {});
    Cache cache;
    const Context c = {.cache = &cache};
    cache.begin_memories(std::vector<int64_t>{0, 9, 14});
    attention.remember(concat({memory.slice(0, 0, 1), memory.slice(0, 1, 2).slice(1, 0, 5)}, 1), c);
    for (int64_t t = 0; t < 4; ++t) {
      cache.begin(std::vector<int64_t>{0, 1, 2});
      const Tensor y = attention(x.slice(1, t, t + 1).reshape({1, 2, 12}), Tensor(), {}, c);
      EXPECT_TRUE(same_bits(y, whole.slice(1, t, t + 1).reshape({1, 2, 12}))) << form->name << " at " << t;
    }
    // A decoder that changes rows as beam search does keeps the memory; rows with one memory are looked at together.
    const int64_t pages = cache.memories().pages_in_use();
    cache.reorder(std::vector<int64_t>{1, 1, 0});
    EXPECT_EQ(cache.memories().pages_in_use(), pages);
    cache.begin(std::vector<int64_t>{0, 4, 8, 12});
    const Tensor second = x.slice(0, 1, 2), first = x.slice(0, 0, 1);
    const Tensor y = attention(concat({second, second, first}, 1), Tensor(), {}, c);
    EXPECT_TRUE(same_bits(y.slice(1, 0, 4), whole.slice(0, 1, 2))) << form->name;
    EXPECT_TRUE(same_bits(y.slice(1, 4, 8), whole.slice(0, 1, 2))) << form->name;
    EXPECT_TRUE(same_bits(y.slice(1, 8, 12), whole.slice(0, 0, 1))) << form->name;
    // The weights are those of each row, also where rows share their memory.
    Trace trace;
    cache.begin(std::vector<int64_t>{0, 4, 8, 12});
    attention(concat({second, second, first}, 1), Tensor(), {}, {.trace = &trace, .cache = &cache, .place = "cross"});
    const Tensor w =
        attention.attend_with(x, memory, {.mask = options.mask, .probe = Probe{.weights = true}}, {}).probe.weights;
    ASSERT_EQ(trace["cross"].weights.shape(), (Shape{3, 3, 4, 9}));
    EXPECT_TRUE(same_bits(trace["cross"].weights, concat({w.slice(0, 1, 2), w.slice(0, 1, 2), w.slice(0, 0, 1)}, 0)));
  }
}

// Grouped queries are the same as full heads whose key and value weights repeat.
TEST(MultiHead, GroupedHeadsEqualRepeatedOnes) {
  for (const Form* form : catalogue<Form>()) {
    const Config grouped = {.width = 16, .heads = 4, .key_heads = 2, .form = std::string(form->name)};
    Config plain = grouped;
    plain.key_heads = 4;
    MultiHeadAttention few = made(grouped), many(plain);
    NamedTensors weights = save(few);
    for (const std::string name : {"key.weight", "key.bias", "value.weight", "value.bias"}) {
      const Tensor heads = weights[name].reshape({2, 4, -1});
      weights[name] = stack({heads, heads}, 1).reshape(name.ends_with("bias") ? Shape{16} : Shape{16, 16});
    }
    load(many, weights);
    const Tensor x = float_input({2, 5, 16});
    gradient_check::expect_near(few(x, {}, {}), many(x, {}, {}).to(DType::f64), 1e-6, std::string(form->name));
  }
}

// Every form's module, f32 through the kernel and f64 through the formula, and all its gradients by differences.
TEST(MultiHead, GradientsOfEveryFormEqualDifferences) {
  for (const Form* form : catalogue<Form>()) {
    SCOPED_TRACE(std::string(form->name));
    const Config config = {
        .width = 6, .heads = 2, .key_heads = 1, .memory_width = 4, .form = std::string(form->name), .form_width = 2};
    MultiHeadAttention start = made(config);
    Inputs inputs = {random_input({2, 3, 6}), random_input({2, 4, 4})};
    std::vector<std::string> paths;
    for (const auto& [path, weight] : save(start)) paths.push_back(path), inputs.push_back(weight.to(DType::f64));
    check_gradient(
        [&](const Inputs& x) {
          MultiHeadAttention attention(config);
          NamedTensors given;
          for (size_t i = 0; i < paths.size(); ++i) given[paths[i]] = x[2 + i];
          for_each_tensor(attention, [&](const std::string& path, Tensor& w, const Init&) { w = given.at(path); });
          return attention(x[0], x[1], {}, {});
        },
        inputs);
  }
}

TEST(MultiHead, RotaryScoresSeeDistancesOnly) {
  // The same tokens further along in a cache of other tokens that a window hides: the same output.
  const MultiHeadAttention attention = made({.width = 16, .heads = 2, .rotary = true});
  const MultiHeadAttention fixed = made({.width = 16, .heads = 2});
  const Tensor before = float_input({1, 20, 16}, 4), x = float_input({1, 3, 16}, 5);
  const AttentionOptions last = {.mask = {.causal = true, .window = 1}}, two = {.mask = {.causal = true, .window = 2}};
  auto third = [&](const Tensor& tokens, const AttentionOptions& o) {
    return attention(tokens, o, {}).slice(1, tokens.size(1) - 1, tokens.size(1));
  };
  for (const AttentionOptions& o : {last, two})
    gradient_check::expect_near(third(concat({before, x}, 1), o), third(x, o), 1e-4, "later");
  EXPECT_FALSE(same_bits(attention(x, {}, {}), fixed(x, {}, {})));
}

TEST(MultiHead, TracesAtItsPlace) {
  const MultiHeadAttention attention = made({.width = 12, .heads = 3});
  const Tensor x = float_input({2, 5, 12});
  Trace trace({.heads = {2}, .weights = true, .entropy = true});
  const Context c = {.trace = &trace};
  const Tensor seen = attention(x, {.mask = {.causal = true}}, c.at("decoder").at("self"));
  EXPECT_TRUE(same_bits(seen, attention(x, {.mask = {.causal = true}}, {})));
  const Tensor w = trace["decoder.self"].weights;
  ASSERT_EQ(w.shape(), (Shape{2, 1, 5, 5}));
  const AttentionResult all = attention.attend_with(x, {.mask = {.causal = true}, .probe = Probe{.weights = true}}, {});
  EXPECT_TRUE(same_bits(w, all.probe.weights.slice(1, 2, 3)));
  EXPECT_EQ(trace["decoder.self"].entropy.shape(), (Shape{2, 1, 5}));
  // A cached generation leaves one result for each step.
  Cache cache;
  Trace steps;
  for (int64_t t = 0; t < 5; ++t) {
    cache.begin(std::vector<int64_t>{0, 1, 2});
    attention(x.slice(1, t, t + 1).reshape({1, 2, 12}), {.mask = {.causal = true}},
              {.trace = &steps, .cache = &cache, .place = "self"});
  }
  ASSERT_EQ(steps.results().at("self").size(), 5u);
  gradient_check::expect_near(steps["self"].weights, all.probe.weights.slice(2, 4, 5), 1e-6, "last step");
}

TEST(MultiHead, HardSelectionReturnsItsChoices) {
  const MultiHeadAttention attention = made({.width = 8, .heads = 2, .dropout = 0.3});
  const Tensor x = float_input({2, 5, 8});
  const AttentionResult hard =
      attention.attend_with(x, {.selection = Selection::hard, .probe = Probe{.argmax = true}}, {});
  EXPECT_EQ(hard.output.shape(), (Shape{2, 5, 8}));
  EXPECT_EQ(hard.selected.values<int64_t>(), hard.probe.argmax.values<int64_t>());
  const AttentionResult drawn =
      attention.attend_with(x, {.selection = Selection::hard}, {.training = true, .random = Random(3)});
  EXPECT_EQ(drawn.log_probability.shape(), (Shape{2, 2, 5}));
  for (float p : drawn.log_probability.values<float>()) EXPECT_LT(p, 0);
}

TEST(MultiHead, DropsWeightsInTrainingOnly) {
  const MultiHeadAttention dropping = made({.width = 8, .heads = 2, .dropout = 0.5}),
                           plain = made({.width = 8, .heads = 2});
  const Tensor x = float_input({1, 6, 8});
  EXPECT_TRUE(same_bits(dropping(x, {}, {}), plain(x, {}, {})));
  EXPECT_FALSE(same_bits(dropping(x, {}, {.training = true}), plain(x, {}, {})));
}

TEST(MultiHead, ListsItsWeightsOnce) {
  MultiHeadAttention attention({.width = 512, .heads = 8});
  EXPECT_EQ(count(attention), 4 * (512 * 512 + 512));
  MultiHeadAttention additive({.width = 12, .heads = 3, .bias = false, .form = "additive", .form_width = 5});
  EXPECT_EQ(count(additive), 4 * 144 + 3 * (5 * 4 + 5 * 4 + 5));
  initialise(additive, Random(1));
  EXPECT_EQ(save(additive).count("form.vector"), 1u);
}

// Bahdanau's translator in small: a bidirectional encoder, a decoder that attends over it. Copying its input backwards can
// only be learned through every part.
struct Translator {
  Embedding words{{.entries = 6, .width = 8}};
  Lstm encoder{{.inputs = 8, .width = 8, .bidirectional = true}};
  Gru decoder{{.inputs = 8, .width = 16}};
  MultiHeadAttention attention{Config{.width = 16, .heads = 1, .form = "additive"}};
  Linear output{{.inputs = 16, .outputs = 6}};

  Tensor operator()(const Tensor& source, const Tensor& target, const Context& c) const {
    const Tensor memory = encoder(words(source), c).outputs;
    const Tensor states = decoder(words(target), c).outputs;
    return output(attention(states, memory, {}, c));
  }
  void weights(Weights& w) {
    w("words", words);
    w("encoder", encoder);
    w("decoder", decoder);
    w("attention", attention);
    w("output", output);
  }
};

TEST(MultiHead, ATranslatorLearnsThroughIt) {
  Translator model;
  initialise(model, Random(2));  // a seed without a plateau, the end of which would depend on rounding
  require_gradients(model);
  const Tensor source = tensor({2, 4}, std::vector<int64_t>{1, 2, 3, 4, 5, 4, 2, 1});
  const Tensor target = tensor({2, 4}, std::vector<int64_t>{0, 4, 3, 2, 0, 1, 2, 4});
  const Tensor wanted = tensor({2, 4}, std::vector<int64_t>{4, 3, 2, 1, 1, 2, 4, 5});
  double first = 0, last = 0;
  NamedTensors means, squares;  // of Adam (Kingma and Ba 2014)
  for (int step = 0; step < 200; ++step) {
    Tensor loss = cross_entropy(model(source, target, {.training = true}), wanted);
    last = loss.item();
    if (step == 0) first = last;
    loss.backward();
    for_each_tensor(model, [&](const std::string& path, Tensor& w, const Init&) {
      ASSERT_TRUE(w.gradient()) << path;
      const Tensor g = w.gradient();
      means[path] = step == 0 ? g * 1 : means[path] * 0.9 + g * 0.1;
      squares[path] = step == 0 ? g * g : squares[path] * 0.99 + g * g * 0.01;
      add_into(w, means[path] / (sqrt(squares[path]) + 1e-8) * -0.02);
      w.clear_gradient();
    });
  }
  EXPECT_GT(first, 1.5);
  EXPECT_LT(last, 0.05);
}

TEST(MultiHead, SaysWhatDoesNotFit) {
  EXPECT_THROW(MultiHeadAttention({.width = 10, .heads = 3}), Error);
  EXPECT_THROW(MultiHeadAttention({.width = 12, .heads = 4, .key_heads = 3}), Error);
  EXPECT_THROW(MultiHeadAttention({.width = 12, .heads = 4, .form = "cosine"}), Error);
  const MultiHeadAttention attention = made({.width = 12, .heads = 4, .memory_width = 5});
  EXPECT_THROW(attention(zeros({1, 2, 12}), {}, {}), Error);
  EXPECT_THROW(attention(zeros({2, 12}), zeros({2, 5}), {}, {}), Error);
  const MultiHeadAttention self = made({.width = 12, .heads = 4});
  Cache cache;
  EXPECT_NE(error_of([&] {
              self(zeros({1, 2, 12}), {}, {.training = true, .cache = &cache});
            }).find("in training"),
            std::string::npos);
}

TEST(MultiHead, SameBitsForAnyBatchAndThreadCount) {
  const Tensor x = float_input({5, 40, 24});
  expect_same_bits_for_any_threads([&] {
    MultiHeadAttention attention = made({.width = 24, .heads = 3});
    require_gradients(attention);
    Tensor input = x.clone().require_gradient();
    Tensor y = attention(input, {.mask = {.causal = true}}, {});
    y.backward(golden_numbers(y.shape(), 1).to(DType::f32));
    std::vector<Tensor> all = {y.detach(), input.gradient()};
    for_each_tensor(attention, [&](const std::string&, Tensor& w, const Init&) { all.push_back(w.gradient()); });
    return all;
  });
  const MultiHeadAttention attention = made({.width = 24, .heads = 3});
  EXPECT_TRUE(same_bits(attention(x, {}, {}).slice(0, 3, 4), attention(x.slice(0, 3, 4), {}, {})));
}

}  // namespace
}  // namespace fovea
