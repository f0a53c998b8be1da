// Texts as vectors: the hidden states of an encoder, pooled as its folder says (Reimers and Gurevych 2019).
//
//   const Embedder embed(pretrained);
//   Tensor v = embed({"How are you?", "What time is it?"});              // [texts, width];  cosine(v, 0, 1)
//
// modules.json of sentence-transformers names the steps: the encoder, 1_Pooling (the first token, the mean, the largest of each
// element, the last token), Normalize. Without it: the mean of the tokens, of length 1.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fovea/models/pretrained.h"

namespace fovea {

struct EmbedOptions {
  Trace* trace = nullptr;  // what the model sees
  size_t batch_size = 32;
  std::function<void(size_t texts)> on_batch = {};  // after each batch: how many it had
};

class Embedder final {
 public:
  enum class Pooling { first, mean, mean_sqrt, largest, last };
  explicit Embedder(
      const Pretrained&);  // which has to outlive it; an Error if its folder asks for more than is known here

  Tensor operator()(const std::vector<std::string>& texts, const EmbedOptions& = {}) const;
  int64_t longest() const { return longest_; }  // tokens of a text that are read, special ones too; 0: all

 private:
  void read_modules();
  void read_pooling(const std::filesystem::path& file);

  const Pretrained& model_;
  const Encoder& encoder_;
  std::vector<Pooling> poolings_ = {Pooling::mean};  // one behind the other
  bool normalise_ = true, lower_case_ = false;
  int64_t longest_ = 0;
};

double cosine(const Tensor& vectors, int64_t a, int64_t b);  // of two rows

}  // namespace fovea
