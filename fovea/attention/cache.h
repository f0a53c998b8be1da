// Keys and values of tokens seen so far, kept as the fused kernel reads them: step by step gives the bits of the full pass.
//
//   Cache cache;
//   for (…) y = model(token, {.cache = &cache});       // each attention finds its own part by the context's place
#pragma once

#include <map>
#include <string>

#include "fovea/attention/form.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// One attention's part. Keys are stored projected (where the form projects them) in the kernel's panels of 16 tokens.
class LayerCache final {
 public:
  // k [batch, tokens, key heads, width], v likewise: the next tokens of every batch row.
  void append(const Tensor& k, const Tensor& v, const Form& form, const FormWeights& weights);

  int64_t length() const { return length_; }
  void reorder(const Tensor& batch_rows);  // i64: row i continues what row batch_rows[i] held, as beam search needs it

  // What the kernel reads.
  const Tensor& packed_keys() const { return packed_; }
  Tensor values() const;  // [batch, length, key heads, value width], a view
  int64_t batch() const { return values_ ? values_.size(0) : 0; }
  int64_t key_heads() const { return key_heads_; }
  int64_t key_width() const { return key_width_; }  // as given, for the form's scale

 private:
  void reserve(int64_t tokens);

  int64_t length_ = 0, capacity_ = 0, key_heads_ = 0, key_width_ = 0, panel_width_ = 0;
  Tensor packed_;  // [batch, key heads, panels of capacity_ tokens]
  Tensor values_;  // [batch, capacity_, key heads, value width]
};

class Cache final {
 public:
  LayerCache& at(const std::string& place) { return layers_[place]; }
  // Keys and values of a memory that cross-attention looks at: they do not grow with the tokens, so length() does not count
  // them.
  LayerCache& memory_at(const std::string& place) { return memories_[place]; }
  void reorder(const Tensor& batch_rows);
  int64_t length() const;  // of the longest layer

 private:
  std::map<std::string, LayerCache> layers_, memories_;
};

}  // namespace fovea
