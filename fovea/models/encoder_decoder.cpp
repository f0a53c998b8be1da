#include "fovea/models/encoder_decoder.h"

#include "fovea/models/cache_state.h"
#include "fovea/models/transformer_stack.h"

namespace fovea {
namespace {

void require_ids(const Tensor& ids) {
  require(ids && ids.rank() == 2 && ids.dtype() == DType::i64,
          "encoder and decoder: found ids {}, expected I64 [batch, tokens]", ids ? ids.shape().text() : "missing");
}

}  // namespace

Tensor EncoderDecoder::encode(const Source& source, const Context& context) const {
  require_ids(source.ids);
  Context c = context.at("encoder");
  c.cache = nullptr;  // all tokens are there at once
  return read(source.ids, {.key_lengths = source.lengths}, c);
}

Memory EncoderDecoder::memory_of(const Source& source, const Context& c) const {
  return {encode(source, c), source.lengths};
}

PackedMemory EncoderDecoder::packed_memory_of(const Source& given, const Context& context) const {
  const PackedSource source = packed(given);
  Context c = context.at("encoder");
  c.cache = nullptr;
  return {read(source.ids, source.mask(), c), source.starts};
}

Tensor MemoryWriter::logits(const Source& source, const Tensor& target_ids, const Context& context) const {
  require_ids(target_ids);
  Context c = context;
  c.cache = nullptr;
  return output(write(target_ids, memory_of(source, c), c.at("decoder")));
}

std::unique_ptr<DecoderState> MemoryWriter::start(const Source& source, const Context& context) const {
  auto state = std::make_unique<CacheState>();
  const PackedMemory memory = packed_memory_of(source, context);
  Context c = context;
  c.cache = &state->cache;
  state->cache.begin_memories(memory.starts);
  remember(memory.states, c.at("decoder"));
  return state;
}

Tensor MemoryWriter::steps(DecoderState& state, const Tensor& ids, std::span<const int64_t> starts,
                           const Context& context) const {
  return output(dynamic_cast<CacheState&>(state).step(
      ids, starts, context,
      [&](const Tensor& tokens, const Context& c) { return write(tokens, {}, c.at("decoder")); }));
}

void check_id(std::string_view model, std::string_view field, int64_t id, int64_t vocabulary) {
  require(0 <= id && id < vocabulary, "{}: found a {} of {}, expected 0 to {}", model, field, id, vocabulary - 1);
}

void pass_over_generation(Fields& f) {
  f.passed_over({"bad_words_ids",
                 "diversity_penalty",
                 "do_sample",
                 "early_stopping",
                 "encoder_no_repeat_ngram_size",
                 "exponential_decay_length_penalty",
                 "forced_bos_token_id",
                 "forced_eos_token_id",
                 "length_penalty",
                 "max_length",
                 "min_length",
                 "no_repeat_ngram_size",
                 "num_beam_groups",
                 "num_beams",
                 "num_return_sequences",
                 "output_scores",
                 "remove_invalid_values",
                 "repetition_penalty",
                 "return_dict_in_generate",
                 "suppress_tokens",
                 "begin_suppress_tokens",
                 "temperature",
                 "top_k",
                 "top_p",
                 "typical_p"});
}

}  // namespace fovea
