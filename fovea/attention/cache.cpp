#include "fovea/attention/cache.h"

#include <algorithm>

#include "fovea/attention/probe.h"
#include "fovea/tensor/index.h"

namespace fovea {

void LayerCache::append(const Tensor& k, const Tensor& v, const Form& form, const FormWeights& weights) {
  require(k.rank() == 4 && v.rank() == 4 && k.size(0) == v.size(0) && k.size(1) == v.size(1) && k.size(2) == v.size(2),
          "cache: found keys {} and values {}, expected [batch, tokens, heads, width] of as many tokens",
          k.shape().text(), v.shape().text());
  require(k.dtype() == DType::f32 && v.dtype() == DType::f32, "cache: found {} keys and {} values, expected F32",
          name(k.dtype()), name(v.dtype()));
  Tensor keys = form.fused_key(k.detach(), weights);
  if (keys.stride(-1) != 1) keys = keys.contiguous();
  Tensor stored = keys.size(2) == v.size(2) ? v.detach() : repeat_heads(v.detach(), keys.size(2) / v.size(2));
  if (!values_) {
    key_heads_ = keys.size(2), key_width_ = k.size(3), panel_width_ = keys.size(3);
    values_ = Tensor({v.size(0), 0, key_heads_, v.size(3)}, DType::f32);
  }
  require(v.size(0) == batch() && keys.size(2) == key_heads_ && keys.size(3) == panel_width_ &&
              v.size(3) == values_.size(3),
          "cache: found keys {} and values {}, expected a batch of {}, {} heads and widths {} and {}",
          keys.shape().text(), v.shape().text(), batch(), key_heads_, panel_width_, values_.size(3));
  const int64_t end = length_ + k.size(1);
  reserve(end);
  values_.slice(1, length_, end).copy_from(stored);
  kernels::pack_keys({.k = {keys.data<float>(), keys.stride(0), keys.stride(1), keys.stride(2)},
                      .batch = batch(),
                      .key_heads = key_heads_,
                      .width = panel_width_,
                      .begin = length_,
                      .end = end,
                      .score = kernel_score(form),
                      .packed = packed_.data<float>(),
                      .packed_batch = packed_.stride(0),
                      .packed_head = packed_.stride(1)});
  length_ = end;
}

// Capacity doubles, so that appending a token costs the same on average at any length.
void LayerCache::reserve(int64_t tokens) {
  if (tokens <= capacity_) return;
  const int64_t capacity = std::max<int64_t>({64, 2 * capacity_, (tokens + 15) / 16 * 16});
  Tensor packed = zeros({batch(), key_heads_, kernels::packed_keys_size(capacity, panel_width_)});
  Tensor values = zeros({batch(), capacity, key_heads_, values_.size(3)});
  if (capacity_ > 0) {
    packed.slice(2, 0, packed_.size(2)).copy_from(packed_);
    values.slice(1, 0, capacity_).copy_from(values_);
  }
  packed_ = packed, values_ = values, capacity_ = capacity;
}

void LayerCache::reorder(const Tensor& batch_rows) {
  if (!packed_) return;
  packed_ = rows(packed_, batch_rows);
  values_ = rows(values_, batch_rows);
}

Tensor LayerCache::values() const { return values_.slice(1, 0, length_); }

void Cache::reorder(const Tensor& batch_rows) {
  for (auto& [place, layer] : layers_) layer.reorder(batch_rows);
  for (auto& [place, layer] : memories_) layer.reorder(batch_rows);
}

int64_t Cache::length() const {
  int64_t longest = 0;
  for (const auto& [place, layer] : layers_) longest = std::max(longest, layer.length());
  return longest;
}

}  // namespace fovea
