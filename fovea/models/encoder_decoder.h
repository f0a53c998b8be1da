// Models of others that write one text from another, and that look back and at the source by attention alone: what T5, Marian
// and BART share.
//
//   class T5 final : public EncoderDecoder { Tensor read(ids, mask, context) …   Tensor write(ids, memory, context) … };
//
// Places of their attentions: encoder.I.self, decoder.I.self, decoder.I.cross.
#pragma once

#include "fovea/models/family.h"
#include "fovea/models/transformer_layer.h"

namespace fovea {

// What was read: the states of all rows one after another, row r at [starts[r], starts[r + 1]).
struct PackedMemory {
  Tensor states;  // [1, tokens of all rows, width]
  std::vector<int64_t> starts;
};

// The half that writes, from whatever was read.
class MemoryWriter : public Model, public Generator {
 public:
  Tensor logits(const Source&, const Tensor& target_ids, const Context&) const final;
  std::unique_ptr<DecoderState> start(const Source&, const Context&) const final;
  Tensor steps(DecoderState&, const Tensor& ids, std::span<const int64_t> starts, const Context&) const final;
  bool foreign() const final { return true; }

 protected:
  virtual Memory memory_of(const Source&, const Context&) const = 0;
  virtual PackedMemory packed_memory_of(const Source&, const Context&) const = 0;
  // i64 [batch, tokens] → [batch, tokens, width]; with a cache in the context the ids are those of its step, and the memory is in
  // the cache.
  virtual Tensor write(const Tensor& ids, const Memory&, const Context&) const = 0;
  virtual void remember(const Tensor& memories,
                        const Context&) const = 0;        // in the context's cache, [1, tokens, width]
  virtual Tensor output(const Tensor& states) const = 0;  // [..., width] → [..., vocabulary]
};

class EncoderDecoder : public MemoryWriter, public Encoder {
 public:
  Tensor encode(const Source&, const Context&) const final;

 protected:
  // i64 [batch, tokens] → [batch, tokens, width], each token at the position that the mask gives it.
  virtual Tensor read(const Tensor& ids, const Mask&, const Context&) const = 0;
  Memory memory_of(const Source&, const Context&) const final;
  PackedMemory packed_memory_of(const Source&, const Context&) const final;
};

// Errors that name the model's field: an id beyond its vocabulary.
void check_id(std::string_view model, std::string_view field, int64_t id, int64_t vocabulary);

// Keys of an old config.json that say how output is searched for: generate/config.h reads them.
void pass_over_generation(Fields&);

}  // namespace fovea
