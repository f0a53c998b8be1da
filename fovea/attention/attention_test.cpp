// Every form × selection × mask × bias that makes sense, through the fused kernel, held to the formula in float64.
#include "fovea/attention/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "fovea/attention/cache.h"
#include "fovea/base/threads.h"
#include "fovea/nn/golden.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

enum class Masking { none, causal, window, causal_window, lengths, offsets, packed, given };
enum class Biasing { none, alibi, relative, added };

struct Case {
  const Form* form;
  Selection selection = Selection::soft;
  Masking mask = Masking::none;
  Biasing bias = Biasing::none;
  bool softcap = false, sinks = false, dropout = false;
};

constexpr const char* mask_names[] = {"whole",   "causal",  "window", "causal_window",
                                      "lengths", "offsets", "packed", "given"};
constexpr const char* bias_names[] = {"", "_alibi", "_relative", "_added"};

std::string name_of(const Case& c) {
  return std::string(c.form->name) + (c.selection == Selection::hard ? "_hard_" : "_") +
         mask_names[static_cast<int>(c.mask)] + bias_names[static_cast<int>(c.bias)] + (c.softcap ? "_softcap" : "") +
         (c.sinks ? "_sinks" : "") + (c.dropout ? "_dropout" : "");
}

// Every combination that makes sense of one form.
std::vector<Case> cases_of(const Form* form) {
  std::vector<Case> cases;
  for (Masking mask : {Masking::none, Masking::causal, Masking::window, Masking::causal_window, Masking::lengths,
                       Masking::offsets, Masking::packed, Masking::given}) {
    for (Biasing bias : {Biasing::none, Biasing::alibi, Biasing::relative, Biasing::added}) {
      if (mask == Masking::packed && bias == Biasing::added) continue;
      for (Selection selection : {Selection::soft, Selection::hard}) {
        if (selection == Selection::hard && mask == Masking::packed) continue;
        cases.push_back({form, selection, mask, bias});
      }
    }
    cases.push_back({form, Selection::soft, mask, Biasing::none, true, true, false});
    cases.push_back({form, Selection::soft, mask, Biasing::relative, true, true, true});
  }
  return cases;
}

struct Sizes {
  int64_t batch = 2, queries = 19, keys = 37, heads = 4, key_heads = 2, width = 8, value_width = 6, hidden = 8;
};

// A problem with numbers of its own, in either type; everything that can have a gradient is listed.
struct Problem {
  Tensor q, k, v;
  AttentionOptions options;

  std::vector<Tensor*> differentiable() {
    std::vector<Tensor*> list = {&q, &k, &v};
    for (Weight* w : {&options.weights.query, &options.weights.key, &options.weights.vector})
      if (*w) list.push_back(&w->numbers());
    for (Tensor* t : {&options.bias.slopes, &options.bias.table, &options.bias.added, &options.sinks})
      if (*t) list.push_back(t);
    return list;
  }
  Problem as(DType type) const {
    Problem p = *this;
    for (Tensor* t : p.differentiable()) *t = t->detach().to(type);
    return p;
  }
};

Mask mask_for(Masking kind, const Sizes& n) {
  Mask mask = {.causal = kind == Masking::causal || kind == Masking::causal_window || kind == Masking::packed};
  if (kind == Masking::window || kind == Masking::causal_window) mask.window = 5;
  if (kind == Masking::offsets) mask.query_offsets = tensor({2}, std::vector<int64_t>{30, 1});
  if (kind == Masking::lengths || kind == Masking::offsets) {
    mask.causal = true;
    mask.key_lengths = tensor({2}, std::vector<int64_t>{n.keys, 20});
    mask.query_lengths = tensor({2}, std::vector<int64_t>{7, n.queries});
  }
  if (kind == Masking::packed) {
    mask.query_starts = tensor({4}, std::vector<int64_t>{0, 3, 3, n.queries});
    mask.key_starts = tensor({4}, std::vector<int64_t>{0, 5, 11, n.keys});
  }
  if (kind == Masking::given) {
    mask.visible = zeros({n.batch, 1, n.queries, n.keys}, DType::i8);
    const Random random(5);
    for (int64_t i = 0; i < mask.visible.elements(); ++i) {
      const bool blind_row = i / n.keys % n.queries == 4;  // a query that sees nothing
      mask.visible.data<int8_t>()[i] = !blind_row && random.uniform(static_cast<uint64_t>(i)) < 0.6f;
    }
  }
  return mask;
}

Problem make_problem(const Case& c, Sizes n = {}) {
  if (c.mask == Masking::packed) n.batch = 1;
  const Random random(11);
  auto numbers = [&](Shape shape, const char* name, double deviation = 1) {
    return normal(shape, random.fork(name), 0, deviation, DType::f64);
  };
  Problem p;
  const bool learned_query = c.form->shapes({1, 1, 1, 1}).query.rank() > 0;
  p.q = numbers({n.batch, n.queries, n.heads, learned_query ? n.width + 3 : n.width}, "q");
  p.k = numbers({n.batch, n.keys, n.key_heads, n.width}, "k");
  p.v = numbers({n.batch, n.keys, n.key_heads, n.value_width}, "v");
  p.options.form = c.form;
  p.options.selection = c.selection;
  p.options.weights = c.form->weights({n.heads, p.q.size(3), n.width, n.hidden});
  for (Weight* w : {&p.options.weights.query, &p.options.weights.key, &p.options.weights.vector}) {
    if (*w) *w = numbers(w->shape(), w == &p.options.weights.vector ? "vector" : "weight", 0.4);
  }
  p.options.mask = mask_for(c.mask, n);
  if (c.bias == Biasing::alibi) p.options.bias.slopes = alibi_slopes(n.heads).to(DType::f64);
  if (c.bias == Biasing::relative)
    p.options.bias.table = numbers({8, n.heads}, "table"), p.options.bias.buckets.farthest = 16;
  if (c.bias == Biasing::added) p.options.bias.added = numbers({1, n.heads, n.queries, n.keys}, "added");
  if (c.softcap) p.options.softcap = 2;
  if (c.sinks) p.options.sinks = numbers({n.heads}, "sinks");
  if (c.dropout) p.options.dropout = 0.3;
  return p;
}

// The sequences of a packed problem as problems of their own.
std::vector<Problem> unpacked(const Problem& p) {
  const std::vector<int64_t> q = p.options.mask.query_starts.values<int64_t>();
  const std::vector<int64_t> k = p.options.mask.key_starts.values<int64_t>();
  std::vector<Problem> result;
  for (size_t s = 0; s + 1 < q.size(); ++s) {
    Problem one = p;
    one.q = p.q.slice(1, q[s], q[s + 1]), one.k = p.k.slice(1, k[s], k[s + 1]), one.v = p.v.slice(1, k[s], k[s + 1]);
    one.options.mask.query_starts = one.options.mask.key_starts = {};
    result.push_back(one);
  }
  return result;
}

const Context training = {.training = true, .random = Random(3)};

double largest_difference(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.shape(), b.shape());
  const std::vector<double> x = a.values<double>(), y = b.values<double>();
  double largest = 0;
  for (size_t i = 0; i < x.size(); ++i)
    largest = std::max(largest, std::isfinite(x[i] - y[i]) ? std::abs(x[i] - y[i]) : (x[i] == y[i] ? 0 : 1e9));
  return largest;
}

// Relative to the size of what was expected.
double largest_error(const Tensor& found, const Tensor& expected) {
  double size = 1e-3;
  for (double x : expected.values<double>()) size = std::max(size, std::abs(x));
  return largest_difference(found, expected) / size;
}

class EveryForm : public testing::TestWithParam<const Form*> {
 protected:
  void SetUp() override { simd_ = simd(); }
  void TearDown() override {
    use_simd(simd_);
    set_threads(0);
  }
  template <class Check>
  void for_each_case(Check&& check) {
    for (const Case& c : cases_of(GetParam())) {
      SCOPED_TRACE(name_of(c));
      check(c);
    }
  }
  Simd simd_ = Simd::baseline;
};

// The outputs and all gradients of a problem, under a loss that is different for each element.
struct Outcome {
  AttentionResult result;
  std::vector<Tensor> gradients;
};

Outcome run(Problem p, const Context& c, bool by_formula) {
  for (Tensor* t : p.differentiable()) t->require_gradient();
  Outcome o;
  o.result = by_formula ? attend_by_formula(p.q, p.k, p.v, p.options, c) : attend(p.q, p.k, p.v, p.options, c);
  const Tensor seed = normal(o.result.output.shape(), Random(21), 0, 1, DType::f64).to(p.q.dtype());
  Tensor loss = sum(o.result.output * seed);
  if (o.result.log_probability) {
    const Tensor rewards = normal(o.result.selected.shape(), Random(22), 0, 1, DType::f64).to(p.q.dtype());
    loss = loss + sum(o.result.log_probability * rewards);
  }
  loss.backward();
  for (Tensor* t : p.differentiable())
    o.gradients.push_back(t->gradient() ? t->gradient() : zeros(t->shape(), t->dtype()));
  return o;
}

TEST_P(EveryForm, FusedEqualsItsFormulaInFloat64WithAllGradients) {
  for_each_case([](const Case& c) {
    Problem exact = make_problem(c);
    std::vector<HardGradient> kinds = {HardGradient::reinforce};
    if (c.selection == Selection::hard)
      kinds = {HardGradient::reinforce, HardGradient::marginal, HardGradient::straight_through};
    for (HardGradient kind : kinds) {
      exact.options.hard_gradient = kind;
      const Outcome expected = run(exact, training, true);
      for_each_simd([&] {
        const Outcome fused = run(exact.as(DType::f32), training, false);
        EXPECT_LT(largest_difference(fused.result.output, expected.result.output), 2e-5);
        if (expected.result.selected) {
          EXPECT_EQ(fused.result.selected.values<int64_t>(), expected.result.selected.values<int64_t>());
          EXPECT_LT(largest_difference(fused.result.log_probability, expected.result.log_probability), 5e-5);
        }
        ASSERT_EQ(fused.gradients.size(), expected.gradients.size());
        for (size_t i = 0; i < fused.gradients.size(); ++i) {
          EXPECT_LT(largest_error(fused.gradients[i], expected.gradients[i]), 3e-5) << "gradient " << i;
        }
      });
    }
  });
}

TEST_P(EveryForm, ProbesEqualTheFormula) {
  for_each_case([](const Case& c) {
    Problem exact = make_problem(c);
    if (exact.options.mask.query_starts) return;  // results are per sequence there: the test below
    exact.options.selection = Selection::soft;
    exact.options.probe = Probe{.heads = {3, 1},
                                .rows = {0, 4, 17},
                                .key_range = {2, 30},
                                .weights = true,
                                .mass = true,
                                .argmax = true,
                                .entropy = true,
                                .top = 3};
    const Problem f32 = exact.as(DType::f32);
    const ProbeResult expected = attend_by_formula(exact.q, exact.k, exact.v, exact.options, {}).probe;
    const ProbeResult fused = attend(f32.q, f32.k, f32.v, f32.options, {}).probe;
    EXPECT_LT(largest_difference(fused.weights, expected.weights), 1e-5);
    EXPECT_LT(largest_difference(fused.mass, expected.mass), 1e-5);
    EXPECT_LT(largest_difference(fused.entropy, expected.entropy), 1e-5);
    EXPECT_LT(largest_difference(fused.top_weights, expected.top_weights), 1e-5);
    EXPECT_EQ(fused.argmax.values<int64_t>(), expected.argmax.values<int64_t>());
    EXPECT_EQ(fused.top_keys.values<int64_t>(), expected.top_keys.values<int64_t>());
  });
}

// What a packed call says of a sequence is what the formula says of it alone.
TEST_P(EveryForm, ProbesOfPackedSequencesEqualTheFormulaOfEach) {
  for_each_case([](const Case& c) {
    if (c.mask != Masking::packed) return;
    Problem exact = make_problem(c);
    exact.options.probe =
        Probe{.heads = {3, 1}, .weights = true, .mass = true, .argmax = true, .entropy = true, .top = 3};
    const Problem f32 = exact.as(DType::f32);
    const ProbeResult fused = attend(f32.q, f32.k, f32.v, f32.options, {}).probe;
    const std::vector<Problem> alone = unpacked(exact);
    ASSERT_EQ(fused.weights.size(0), static_cast<int64_t>(alone.size()));
    for (int64_t s = 0; s < fused.weights.size(0); ++s) {
      const Problem& one = alone[static_cast<size_t>(s)];
      const int64_t queries = one.q.size(1), keys = one.k.size(1);
      const ProbeResult expected = attend_by_formula(one.q, one.k, one.v, one.options, {}).probe;
      auto part = [&](const Tensor& t) { return t.slice(0, s, s + 1).slice(2, 0, queries); };
      const Tensor weights = part(fused.weights);
      EXPECT_LT(largest_difference(weights.slice(3, 0, keys), expected.weights), 1e-5);
      EXPECT_EQ(sum(abs(weights.slice(3, keys, weights.size(3)))).item(), 0);
      EXPECT_LT(largest_difference(fused.mass.slice(0, s, s + 1).slice(2, 0, keys), expected.mass), 1e-5);
      EXPECT_LT(largest_difference(part(fused.entropy), expected.entropy), 1e-5);
      EXPECT_LT(largest_difference(part(fused.top_weights), expected.top_weights), 1e-5);
      EXPECT_EQ(part(fused.argmax).values<int64_t>(), expected.argmax.values<int64_t>());
      EXPECT_EQ(part(fused.top_keys).values<int64_t>(), expected.top_keys.values<int64_t>());
      const Tensor absent = fused.weights.slice(0, s, s + 1).slice(2, queries, fused.weights.size(2));
      EXPECT_EQ(sum(abs(absent)).item(), 0) << "rows that the sequence does not have";
    }
  });
}

TEST_P(EveryForm, RowsSumToOneAndMaskedKeysGetNothing) {
  for_each_case([](const Case& c) {
    Problem p = make_problem(c).as(DType::f32);
    p.options.sinks = {};
    p.options.probe = Probe{.weights = true};
    Tensor weights = attend(p.q, p.k, p.v, p.options, {}).probe.weights;
    if (p.options.mask.query_starts) {  // from each sequence's own corner back to where it stands in the batch row
      const std::vector<int64_t> q = p.options.mask.query_starts.values<int64_t>();
      const std::vector<int64_t> k = p.options.mask.key_starts.values<int64_t>();
      Tensor placed = zeros({1, weights.size(1), p.q.size(1), p.k.size(1)});
      for (int64_t s = 0; s < weights.size(0); ++s) {
        const size_t at = static_cast<size_t>(s);
        const Tensor corner = weights.slice(0, s, s + 1).slice(2, 0, q[at + 1] - q[at]);
        placed.slice(2, q[at], q[at + 1]).slice(3, k[at], k[at + 1]).copy_from(corner.slice(3, 0, k[at + 1] - k[at]));
      }
      weights = placed;
    }
    const Tensor mask = dense_mask(p.options.mask, p.q.size(0), p.q.size(1), p.k.size(1));
    const Tensor visible = mask.expand(weights.shape());
    const std::vector<float> w = weights.values<float>();
    const std::vector<int8_t> seen = visible.values<int8_t>();
    const size_t keys = static_cast<size_t>(weights.size(3));
    for (size_t row = 0; row < w.size() / keys; ++row) {
      double total = 0;
      bool any = false;
      for (size_t j = row * keys; j < (row + 1) * keys; ++j) {
        if (!seen[j]) {
          EXPECT_EQ(w[j], 0) << "row " << row;
        }
        any = any || seen[j];
        total += w[j];
      }
      EXPECT_NEAR(total, any ? 1 : 0, 1e-5) << "row " << row;
    }
  });
}

// Whatever stands behind a mask, even NaN, changes no bit of what a query sees.
TEST_P(EveryForm, NothingLeaksFromBehindAMask) {
  for_each_case([](const Case& c) {
    Problem p = make_problem(c).as(DType::f32);
    p.options.dropout = 0;
    p.options.bias.added = {};
    const Tensor clean = attend(p.q, p.k, p.v, p.options, {}).output;
    const Tensor mask = dense_mask(p.options.mask, p.q.size(0), p.q.size(1), p.k.size(1));
    const std::vector<int8_t> seen = mask.values<int8_t>();
    const int64_t queries = p.q.size(1), keys = p.k.size(1), last = 20;
    p.k = p.k.clone(), p.v = p.v.clone();
    p.k.slice(1, last, keys).fill(std::nan(""));
    p.v.slice(1, last, keys).fill(std::nan(""));
    const Tensor dirty = attend(p.q, p.k, p.v, p.options, {}).output;
    for (int64_t b = 0; b < p.q.size(0); ++b) {
      for (int64_t i = 0; i < queries; ++i) {
        bool sees_nan = false;
        for (int64_t j = last; j < keys; ++j)
          sees_nan = sees_nan || seen[static_cast<size_t>((b * queries + i) * keys + j)];
        const Tensor row = dirty.select(0, b).select(0, i);
        if (!sees_nan)
          EXPECT_TRUE(same_bits(row, clean.select(0, b).select(0, i))) << b << ", " << i;
        else
          EXPECT_TRUE(std::isnan(sum(row).item())) << "a visible NaN must stay visible: " << b << ", " << i;
      }
    }
  });
}

TEST_P(EveryForm, SameBitsForAnyBatchPaddingAndThreadCount) {
  for_each_case([](const Case& c) {
    const Problem p = make_problem(c).as(DType::f32);
    set_threads(1);
    const Outcome one = run(p, {}, false);
    set_threads(3);
    const Outcome three = run(p, {}, false);
    EXPECT_TRUE(same_bits(one.result.output, three.result.output));
    for (size_t i = 0; i < one.gradients.size(); ++i)
      EXPECT_TRUE(same_bits(one.gradients[i], three.gradients[i])) << "gradient " << i;
    if (p.options.mask.query_starts) {
      int64_t at = 0;
      for (const Problem& own : unpacked(p)) {
        const Tensor y = attend(own.q, own.k, own.v, own.options, {}).output;
        EXPECT_TRUE(same_bits(y, one.result.output.slice(1, at, at + own.q.size(1)))) << "sequence at " << at;
        at += own.q.size(1);
      }
      return;
    }

    Problem alone = p;
    alone.q = p.q.slice(0, 1, 2), alone.k = p.k.slice(0, 1, 2), alone.v = p.v.slice(0, 1, 2);
    Mask& mask = alone.options.mask;
    if (mask.key_lengths)
      mask.key_lengths = mask.key_lengths.slice(0, 1, 2), mask.query_lengths = mask.query_lengths.slice(0, 1, 2);
    if (mask.query_offsets) mask.query_offsets = mask.query_offsets.slice(0, 1, 2);
    if (mask.visible) mask.visible = mask.visible.slice(0, 1, 2);
    EXPECT_TRUE(
        same_bits(attend(alone.q, alone.k, alone.v, alone.options, {}).output, one.result.output.slice(0, 1, 2)));

    if (mask.visible || alone.options.bias.added) return;
    Problem longer = alone;  // more keys and queries of padding behind
    longer.k = concat({alone.k, full({1, 40, alone.k.size(2), alone.k.size(3)}, 7)}, 1);
    longer.v = concat({alone.v, full({1, 40, alone.v.size(2), alone.v.size(3)}, 7)}, 1);
    longer.q = concat({alone.q, full({1, 9, alone.q.size(2), alone.q.size(3)}, 7)}, 1);
    if (!mask.key_lengths) {
      longer.options.mask.key_lengths = tensor({1}, std::vector<int64_t>{alone.k.size(1)});
      longer.options.mask.query_lengths = tensor({1}, std::vector<int64_t>{alone.q.size(1)});
    }
    if (!mask.query_offsets) {
      longer.options.mask.query_offsets = tensor({1}, std::vector<int64_t>{alone.k.size(1) - alone.q.size(1)});
    }
    const Tensor padded = attend(longer.q, longer.k, longer.v, longer.options, {}).output;
    EXPECT_TRUE(same_bits(padded.slice(1, 0, alone.q.size(1)), one.result.output.slice(0, 1, 2)));
    EXPECT_EQ(sum(abs(padded.slice(1, alone.q.size(1), padded.size(1)))).item(), 0);
  });
}

// Token by token, and in chunks, through a cache: the bits of the full causal pass.
TEST_P(EveryForm, CachedEqualsTheFullPass) {
  for_each_case([](const Case& c) {
    if ((c.mask != Masking::causal && c.mask != Masking::causal_window) || c.bias == Biasing::added) return;
    const Problem p = make_problem(c, {.queries = 37, .keys = 37}).as(DType::f32);
    const Tensor full_pass = attend(p.q, p.k, p.v, p.options, {}).output;
    for (int64_t chunk : {1, 5}) {
      auto table = std::make_shared<PageTable>(16);
      KeyCache cache(table);
      table->add_rows(2);
      auto packed = [](const Tensor& x, int64_t at, int64_t end) {
        const Tensor part = x.slice(1, at, end);
        return part.reshape({1, 2 * (end - at), part.size(2), part.size(3)});
      };
      for (int64_t at = 0; at < 37; at += chunk) {
        const int64_t end = std::min<int64_t>(37, at + chunk);
        const std::vector<int64_t> starts = {0, end - at, 2 * (end - at)};
        table->extend(starts);
        cache.append(packed(p.k, at, end), packed(p.v, at, end), *c.form, p.options.weights);
        const Tensor step = attend(packed(p.q, at, end), cache, starts, p.options, {}).output;
        ASSERT_TRUE(same_bits(step, packed(full_pass, at, end))) << "chunks of " << chunk << ", token " << at;
      }
      table->reorder(std::vector<int64_t>{1, 1});
      const Tensor second = p.q.slice(0, 1, 2).slice(1, 32, 37);
      const std::vector<int64_t> five = {0, 5, 10};
      const Tensor again = attend(concat({second, second}, 1), cache, five, p.options, {}).output;
      EXPECT_TRUE(same_bits(again.slice(1, 0, 5), full_pass.slice(0, 1, 2).slice(1, 32, 37)));
    }
  });
}

// A batch without rows, tokens or numbers is a batch: its result and its gradients are as empty.
TEST_P(EveryForm, NothingOfEverythingIsSafe) {
  for (const Sizes& n : {Sizes{.batch = 0}, Sizes{.queries = 0}, Sizes{.keys = 0}, Sizes{.value_width = 0},
                         Sizes{.batch = 0, .queries = 0, .keys = 0, .value_width = 0}}) {
    for (Selection selection : {Selection::soft, Selection::hard}) {
      for (Masking mask : {Masking::none, Masking::causal}) {
        Problem p = make_problem({GetParam(), selection, mask, Biasing::alibi}, n);
        if (selection == Selection::soft)
          p.options.probe = Probe{.weights = true, .mass = true, .argmax = true, .entropy = true};
        for (DType type : {DType::f32, DType::f64}) {
          const Outcome o = run(p.as(type), training, false);
          EXPECT_EQ(o.result.output.shape(), (Shape{n.batch, n.queries, n.heads, n.value_width}));
          if (n.keys == 0) {
            EXPECT_EQ(sum(abs(o.result.output)).item(), 0);
          }
          EXPECT_EQ(o.gradients[0].shape(), p.q.shape());
        }
      }
    }
  }
}

// The formula itself, against finite differences: the one thing that nothing above checks.
class EveryFormula : public testing::TestWithParam<const Form*> {};

TEST_P(EveryFormula, GradientsEqualFiniteDifferences) {
  Problem p =
      make_problem({GetParam(), Selection::soft, Masking::causal_window, Biasing::relative, true, true, true},
                   {.queries = 3, .keys = 5, .heads = 2, .key_heads = 1, .width = 3, .value_width = 2, .hidden = 3});
  auto loss = [&] {
    const Tensor y = attend_by_formula(p.q, p.k, p.v, p.options, training).output;
    return sum(y * normal(y.shape(), Random(1), 0, 1, DType::f64));
  };
  for (Tensor* t : p.differentiable()) t->require_gradient();
  loss().backward();
  for (Tensor* t : p.differentiable()) {
    const std::vector<double> gradient = t->gradient().values<double>();
    for (int64_t i = 0; i < t->elements(); ++i) {
      double& x = t->data<double>()[i];
      const double before = x, step = 1e-5;
      x = before + step;
      const double above = loss().item();
      x = before - step;
      const double below = loss().item();
      x = before;
      EXPECT_NEAR((above - below) / (2 * step), gradient[static_cast<size_t>(i)], 1e-7);
    }
  }
}

std::string form_name(const testing::TestParamInfo<const Form*>& info) {
  std::string name(info.param->name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryForm, testing::ValuesIn(catalogue<Form>().begin(), catalogue<Form>().end()),
                         form_name);
INSTANTIATE_TEST_SUITE_P(Catalogue, EveryFormula, testing::ValuesIn(catalogue<Form>().begin(), catalogue<Form>().end()),
                         form_name);

}  // namespace
}  // namespace fovea
