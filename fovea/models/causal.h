// Models that write a text token after token and read nothing else: what GPT-2, Llama and the Transformer's decoder share.
//
//   class Gpt2 final : public CausalModel { Tensor states(ids, context) …   Tensor output(states) … };
#pragma once

#include "fovea/models/family.h"
#include "fovea/models/long_reader.h"

namespace fovea {

class CausalModel : public Model, public Generator, public LongReader {
 public:
  Tensor logits(const Source&, const Tensor& ids, const Context&) const final;
  void each_logits(const Tensor& ids, const Context&, const SomeLogits&) const final;
  std::unique_ptr<DecoderState> start(const Source&, const Context&) const final;
  Tensor steps(DecoderState&, const Tensor& ids, std::span<const int64_t> starts, const Context&) const final;
  std::string source_attention() const final { return {}; }

 protected:
  // i64 [batch, tokens] → [batch, tokens, width]; with a cache in the context the ids are those of its step.
  virtual Tensor states(const Tensor& ids, const Context&) const = 0;
  virtual Tensor output(const Tensor& states) const = 0;  // [..., width] → [..., vocabulary]

 private:
  Tensor read(const Source&, const Tensor& ids, const Context&) const;
};

// The first of ids that may be none, one or several; −1 for none. An Error if one is not in the vocabulary.
int64_t first_id(std::string_view name, const std::vector<int64_t>& ids, int64_t vocabulary);

}  // namespace fovea
