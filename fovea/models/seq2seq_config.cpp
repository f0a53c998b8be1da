#include "fovea/models/families/seq2seq.h"

namespace fovea {

using Config = Seq2Seq::Config;

Config Config::completed() const {
  Config c = *this;
  check_size("seq2seq model", "vocabulary", c.vocabulary);
  check_size("seq2seq model", "embedding", c.embedding);
  check_size("seq2seq model", "encoder_width", c.encoder_width);
  check_size("seq2seq model", "decoder_width", c.decoder_width);
  check_layers("seq2seq model", "encoder_layers", c.encoder_layers);
  check_layers("seq2seq model", "decoder_layers", c.decoder_layers);
  check_choice("seq2seq model", "cell", c.cell, {"lstm", "gru"});
  check_choice("seq2seq model", "order", c.order, {"bahdanau", "luong"});
  check_choice("seq2seq model", "selection", c.selection, {"soft", "hard"});
  check_choice("seq2seq model", "hard_gradient", c.hard_gradient, {"straight-through", "marginal", "reinforce"});
  require(c.entropy_bonus >= 0 && c.coverage_loss >= 0,
          "seq2seq: found an entropy_bonus of {} and a coverage_loss of {}, expected 0 or more", c.entropy_bonus,
          c.coverage_loss);
  require(c.coverage || c.coverage_loss == 0,
          "seq2seq: found a coverage_loss without coverage, expected coverage: true");
  require(!c.coverage || c.attention != "none",
          "seq2seq: found coverage without attention, expected a form of attention");
  require(!c.pointer || (c.attention != "none" && c.selection == "soft"),
          "seq2seq: found a pointer with attention '{}' and selection '{}', expected a form of attention and soft",
          c.attention, c.selection);
  check_copying("seq2seq", c.pointer, {c.vocabulary, c.source_vocabulary, c.unknown});
  if (c.source_vocabulary == 0) c.source_vocabulary = c.vocabulary;
  if (c.attention_width == 0) c.attention_width = c.decoder_width;
  if (c.readout == 0) c.readout = c.tied ? c.embedding : c.decoder_width;
  require(!c.tied || (c.readout == c.embedding && c.source_vocabulary == c.vocabulary),
          "seq2seq: found tied embeddings of width {} with a readout of {} and vocabularies of {} and {}, expected "
          "equal ones (or tied: false)",
          c.embedding, c.readout, c.source_vocabulary, c.vocabulary);
  for (int64_t id : {c.padding, c.start, c.end})
    require(0 <= id && id < c.vocabulary, "seq2seq: found a special id {}, expected 0 to {}", id, c.vocabulary - 1);
  return c;
}

void Config::fields(Fields& f) {
  f.from_data("vocabulary", vocabulary, "size of the vocabulary");
  f.from_data("source_vocabulary", source_vocabulary, "size of the source's vocabulary; 0: the same");
  f("cell", cell, "lstm or gru");
  f("embedding", embedding, "width of an embedded token");
  f("encoder_width", encoder_width, "width of the encoder's state in each direction");
  f("encoder_layers", encoder_layers, "layers of the encoder");
  f("bidirectional", bidirectional, "whether the encoder reads in both directions");
  f("decoder_width", decoder_width, "width of the decoder's state");
  f("decoder_layers", decoder_layers, "layers of the decoder");
  f("attention", attention, "additive, dot, general, concat, scaled-dot or none (one vector for the whole source)");
  f("attention_width", attention_width, "hidden width of additive and concat scores; 0: decoder_width");
  f("order", order, "bahdanau: attend with the state before the step, luong: after it");
  f("input_feeding", input_feeding, "luong: whether a step's attentional vector is an input of the next");
  f("selection", selection, "soft: the mean of the states by their weights, hard: one of them");
  f("hard_gradient", hard_gradient, "gradient of a hard choice: straight-through, marginal or reinforce");
  f("entropy_bonus", entropy_bonus, "reinforce: how much the entropy of the weights is worth");
  f("coverage", coverage, "whether a score depends on the weight that its token has had so far");
  f("coverage_loss", coverage_loss, "how much weight on what had it before costs in training");
  f("pointer", pointer, "whether tokens of the source can be copied");
  f("readout", readout, "width of what the output is computed from; 0: decoder_width, or embedding if tied");
  f("tied", tied, "whether source, target and output share one embedding");
  f("dropout", dropout, "share of embeddings, of layers' outputs and of the readout that is dropped in training");
  f.from_data("padding", padding, "id of padding");
  f.from_data("start", start, "id before the first token");
  f.from_data("end", end, "id after the last token");
  f.from_data("unknown", unknown, "id of unknown tokens, as which a pointer reads words outside of the vocabulary");
}

}  // namespace fovea
