// Models that write a text token after token and read nothing else: what GPT-2, Llama and the Transformer's decoder share.
//
//   class Gpt2 final : public CausalModel { Tensor states(ids, context) …   Tensor output(states) … };
#pragma once

#include "fovea/models/family.h"

namespace fovea {

class CausalModel : public Model, public Generator {
 public:
  Tensor logits(const Source&, const Tensor& ids, const Context&) const final;
  std::unique_ptr<DecoderState> start(const Source&, const Context&) const final;
  Tensor steps(DecoderState&, const Tensor& ids, std::span<const int64_t> starts, const Context&) const final;
  std::string source_attention() const final { return {}; }

 protected:
  // i64 [batch, tokens] → [batch, tokens, width]; with a cache in the context the ids are those of its step.
  virtual Tensor states(const Tensor& ids, const Context&) const = 0;
  virtual Tensor output(const Tensor& states) const = 0;  // [..., width] → [..., vocabulary]
};

}  // namespace fovea
