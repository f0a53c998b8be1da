// The one interface behind training with pairs and generation, for recurrent and Transformer decoders.
//
//   Tensor loss = model.loss(source, inputs, targets, {.ignored = padding}, context);       // teacher forcing
//   auto state = model.start(source, context);   Tensor next = model.step(*state, ids, context);
#pragma once

#include <memory>
#include <string>

#include "fovea/data/text/special_ids.h"
#include "fovea/models/family.h"
#include "fovea/nn/context.h"
#include "fovea/tensor/loss.h"

namespace fovea {

// What is translated, summarised …, padded to a rectangle. What stands beyond a row's length is never looked at.
struct Source {
  Tensor ids = {};      // i64 [batch, tokens]
  Tensor lengths = {};  // i64 [batch]; all tokens if not given
};

// Where the generation of a batch stands: the recurrent state, or the cache of keys and values.
class DecoderState {
 public:
  virtual ~DecoderState() = default;
  virtual void reorder(const Tensor& batch_rows) = 0;  // i64: row i continues what row batch_rows[i] was
};

class Seq2SeqModel : public Model {
 public:
  // Logits of the token after each of the given ones, i64 [batch, tokens] → [batch, tokens, vocabulary]; the first of a row
  // is the start.
  virtual Tensor logits(const Source&, const Tensor& target_ids, const Context&) const = 0;

  // The cross-entropy of those logits; in training with everything else the model learns from.
  virtual Tensor loss(const Source&, const Tensor& target_ids, const Tensor& wanted_ids, const CrossEntropyOptions&,
                      const Context&) const;

  // The same step by step, with the same bits: ids i64 [batch] → [batch, vocabulary].
  virtual std::unique_ptr<DecoderState> start(const Source&, const Context&) const = 0;
  virtual Tensor step(DecoderState&, const Tensor& ids, const Context&) const = 0;

  virtual int64_t vocabulary() const = 0;
  virtual SpecialIds special_ids() const = 0;
  // Where the attention of the targets over the source can be traced; empty if there is none.
  virtual std::string source_attention() const = 0;
};

}  // namespace fovea
