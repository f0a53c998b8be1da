#include "fovea/attention/multi_head.h"

#include <cmath>

#include "fovea/attention/cache.h"

namespace fovea {
namespace {

using Config = MultiHeadAttention::Config;

Config completed(Config c) {
  require(
      c.width > 0 && c.heads > 0 && c.key_heads >= 0 && c.head_width >= 0 && c.memory_width >= 0 && c.form_width >= 0,
      "MultiHeadAttention: found width {} and {} heads, expected at least 1 of each and no negative sizes", c.width,
      c.heads);
  require(c.head_width > 0 || c.width % c.heads == 0,
          "MultiHeadAttention: found width {} for {} heads, expected a multiple (or give head_width)", c.width,
          c.heads);
  if (c.key_heads == 0) c.key_heads = c.heads;
  if (c.head_width == 0) c.head_width = c.width / c.heads;
  if (c.memory_width == 0) c.memory_width = c.width;
  if (c.form_width == 0) c.form_width = c.head_width;
  if (c.rotary_width == 0) c.rotary_width = c.head_width;
  for (int64_t size : {c.width, c.heads, c.key_heads, c.head_width, c.memory_width, c.form_width})
    require(size < int64_t{1} << 31, "MultiHeadAttention: found a size of {}, expected less than 2³¹", size);
  require(c.heads % c.key_heads == 0, "MultiHeadAttention: found {} heads and {} key heads, expected a divisor",
          c.heads, c.key_heads);
  require(c.dropout >= 0 && c.dropout < 1, "MultiHeadAttention: found dropout {}, expected at least 0 and less than 1",
          c.dropout);
  require(c.rotary_width <= c.head_width, "MultiHeadAttention: found a rotary width of {}, expected at most {}",
          c.rotary_width, c.head_width);
  return c;
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(const Config& given)
    : config_(completed(given)),
      form_(&find<Form>(config_.form)),
      query_({.inputs = config_.width, .outputs = config_.heads * config_.head_width, .bias = config_.bias}),
      key_({.inputs = config_.memory_width,
            .outputs = config_.key_heads * config_.head_width,
            .bias = config_.bias && config_.key_bias}),
      value_({.inputs = config_.memory_width, .outputs = config_.key_heads * config_.head_width, .bias = config_.bias}),
      output_({.inputs = config_.heads * config_.head_width, .outputs = config_.width, .bias = config_.bias}) {
  const Config& c = config_;
  form_weights_ = form_->weights(
      {.heads = c.heads, .query_width = c.head_width, .key_width = c.head_width, .hidden = c.form_width});
  if (c.rotary) {
    rotary_.emplace(
        RotaryPositions::Config{.width = c.rotary_width, .base = c.rotary_base, .interleaved = c.rotary_interleaved});
  }
}

// A form's weights have one matrix for each head, so Xavier's bound is that of a head's.
void MultiHeadAttention::weights(Weights& w) {
  auto xavier = [](const Weight& matrix) {
    const double ends = static_cast<double>(matrix.size(-1) + (matrix.rank() == 3 ? matrix.size(1) : 1));
    return Init{.kind = Init::uniform, .scale = std::sqrt(6 / ends)};
  };
  w(config_.names.query, query_);
  w(config_.names.key, key_);
  w(config_.names.value, value_);
  w(config_.names.output, output_);
  if (form_weights_.query) w("form.query", form_weights_.query, xavier(form_weights_.query));
  if (form_weights_.key) w("form.key", form_weights_.key, xavier(form_weights_.key));
  if (form_weights_.vector) w("form.vector", form_weights_.vector, xavier(form_weights_.vector));
}

Tensor MultiHeadAttention::in_heads(const Tensor& y) const {
  return y.reshape({y.size(0), y.size(1), y.size(2) / config_.head_width, config_.head_width});
}

Tensor MultiHeadAttention::queries(const Tensor& x) const {
  require(x.rank() == 3, "MultiHeadAttention: found x {}, expected [batch, tokens, {}]", x.shape(), config_.width);
  return in_heads(query_(x));
}

Projected MultiHeadAttention::project(const Tensor& x, std::span<const int64_t> positions) const {
  require(x.rank() == 3, "MultiHeadAttention: found x {}, expected [batch, tokens, {}]", x.shape(), config_.width);
  const std::vector<Tensor> y =
      linears(x, {{query_.weight(), query_.bias()}, {key_.weight(), key_.bias()}, {value_.weight(), value_.bias()}});
  const Projected p = {in_heads(y[0]), in_heads(y[1]), in_heads(y[2])};
  return rotary_ ? Projected{(*rotary_)(p.queries, positions), (*rotary_)(p.keys, positions), p.values} : p;
}

Projected MultiHeadAttention::project_memory(const Tensor& memory) const {
  require(memory.rank() == 3, "MultiHeadAttention: found a memory {}, expected [batch, tokens, {}]", memory.shape(),
          config_.memory_width);
  const std::vector<Tensor> y = linears(memory, {{key_.weight(), key_.bias()}, {value_.weight(), value_.bias()}});
  return {{}, in_heads(y[0]), in_heads(y[1])};
}

AttentionOptions MultiHeadAttention::options_for(const AttentionOptions& given) const {
  AttentionOptions o = given;
  o.form = form_;
  o.weights = form_weights_;
  o.output = output_.weight();
  o.precision = precision_of(key_.weight());
  o.dropout = given.selection == Selection::hard ? 0 : config_.dropout;
  return o;
}

AttentionResult MultiHeadAttention::finish(AttentionResult result) const {
  const Shape s = result.output.shape();
  result.output = output_(result.output.reshape({s[0], s[1], s[2] * s[3]}));
  return result;
}

AttentionResult MultiHeadAttention::attend_with(const Tensor& x, const AttentionOptions& o, const Context& c) const {
  const auto positions = rotary_ ? token_positions(o.mask, x.size(1), c) : std::vector<int64_t>();
  return finish(attend_to_self(this, project(x, positions), options_for(o), c));
}

AttentionResult MultiHeadAttention::attend_with(const Tensor& x, const Tensor& memory, const AttentionOptions& o,
                                                const Context& c) const {
  require(!rotary_, "MultiHeadAttention: found rotary positions in cross-attention, where tokens have no common order");
  Projected p = c.cache ? Projected{} : project_memory(memory);
  p.queries = queries(x);
  return finish(attend_to_memory(this, p, options_for(o), c));
}

void MultiHeadAttention::remember(const Tensor& memories, const Context& c) const {
  fovea::remember(this, project_memory(memories), options_for({}), c);
}

Tensor MultiHeadAttention::operator()(const Tensor& x, const AttentionOptions& o, const Context& c) const {
  return attend_with(x, o, c).output;
}

Tensor MultiHeadAttention::operator()(const Tensor& x, const Tensor& memory, const AttentionOptions& o,
                                      const Context& c) const {
  return attend_with(x, memory, o, c).output;
}

}  // namespace fovea
