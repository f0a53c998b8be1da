#include "fovea/models/bert_body.h"

#include "fovea/models/encoder_heads.h"
#include "fovea/models/sequence_groups.h"
#include "fovea/nn/activation.h"
#include "fovea/tensor/arithmetic.h"

namespace fovea {

void BertConfig::fields(Fields& f) {
  f.from_data("architectures", architectures, "the model with its head");
  f.from_data("vocab_size", vocab_size, "size of the vocabulary");
  f("hidden_size", hidden_size, "width of a token");
  f("num_hidden_layers", num_hidden_layers, "layers");
  f("num_attention_heads", num_attention_heads, "attention heads");
  f("intermediate_size", intermediate_size, "width of the feed-forward's hidden layer");
  f("hidden_act", hidden_act, "its activation");
  f("max_position_embeddings", max_position_embeddings, "positions that were learned");
  f("type_vocab_size", type_vocab_size, "texts that are told apart");
  f("layer_norm_eps", layer_norm_eps, "what the norms add to a variance");
  f("hidden_dropout_prob", hidden_dropout_prob, "share of each sub-layer's result that is dropped in training");
  f("attention_probs_dropout_prob", attention_probs_dropout_prob, "share of the weights that is dropped in training");
  if (f.reads() || classifier_dropout >= 0)
    f("classifier_dropout", classifier_dropout,
      "share of what a head reads that is dropped; as in the layers if not given");
  f.from_data("position_embedding_type", position_embedding_type, "absolute");
  f.from_data("problem_type", problem_type, "what the labels of a text mean");
  f.from_data("tie_word_embeddings", tie_word_embeddings, "whether the output shares the embedding");
  f.from_data("is_decoder", is_decoder, "false");
  f.from_data("pad_token_id", pad_token_id, "id of padding");
  f.numbered("id2label", id2label);
  f.passed_over({"bos_token_id", "eos_token_id", "mask_token_id", "sep_token_id", "cls_token_id", "directionality",
                 "pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers", "pooler_size_per_head",
                 "pooler_type"});
  pass_over_foreign(f);
}

void BertConfig::check(std::string_view model) const {
  for (const auto& [name, size] : {std::pair{"vocab_size", vocab_size},
                                   {"hidden_size", hidden_size},
                                   {"num_attention_heads", num_attention_heads},
                                   {"intermediate_size", intermediate_size},
                                   {"max_position_embeddings", max_position_embeddings}})
    check_size(model, name, size);
  check_layers(model, "num_hidden_layers", num_hidden_layers);
  check_choice(model, "position_embedding_type", position_embedding_type, {"absolute"});
  check_share(model, "hidden_dropout_prob", hidden_dropout_prob);
  check_share(model, "attention_probs_dropout_prob", attention_probs_dropout_prob);
  require(!is_decoder, "{}: found is_decoder, expected an encoder: text is not written with this family", model);
  require(num_hidden_layers > 0, "{}: found no layers, expected at least 1", model);
  require(hidden_size % num_attention_heads == 0, "{}: found a hidden_size of {} for {} heads, expected a multiple",
          model, hidden_size, num_attention_heads);
  require(-1 <= pad_token_id && pad_token_id < vocab_size, "{}: found pad_token_id {}, expected 0 to {}", model,
          pad_token_id, vocab_size - 1);
}

bool BertConfig::has(std::string_view head) const { return has_head(architectures, head); }

BertLayer::BertLayer(const BertConfig& c, const BertNames& names)
    : names_(names),
      heads_(c.num_attention_heads),
      activation_(activation_named(c.hidden_act)),
      attention_dropout_(c.attention_probs_dropout_prob),
      dropout_(c.hidden_dropout_prob),
      query_({c.hidden_size, c.hidden_size}),
      key_({c.hidden_size, c.hidden_size}),
      value_({c.hidden_size, c.hidden_size}),
      attention_output_({c.hidden_size, c.hidden_size}),
      intermediate_({c.hidden_size, c.intermediate_size}),
      output_({c.intermediate_size, c.hidden_size}),
      attention_norm_({c.hidden_size, c.layer_norm_eps}),
      output_norm_({c.hidden_size, c.layer_norm_eps}) {}

Tensor BertLayer::operator()(const Tensor& x, const Mask& mask, const Context& c) const {
  const Context self = c.at("self"), forward = c.at("feed_forward");
  const Shape in_heads = {x.size(0), x.size(1), heads_, x.size(2) / heads_};
  const std::vector<Tensor> p =
      linears(x, {{query_.weight(), query_.bias()}, {key_.weight(), key_.bias()}, {value_.weight(), value_.bias()}});
  const Tensor seen = attend(p[0].reshape(in_heads), p[1].reshape(in_heads), p[2].reshape(in_heads),
                             {.mask = mask,
                              .dropout = attention_dropout_,
                              .precision = precision_of(key_.weight()),
                              .output = attention_output_.weight()},
                             self)
                          .output.reshape(x.shape());
  const Tensor y = attention_norm_(dropout_.onto(x, attention_output_, seen, self));
  return output_norm_(dropout_.onto(y, output_, intermediate_(y, activation_), forward));
}

void BertLayer::weights(Weights& w) {
  w(names_.query, query_);
  w(names_.key, key_);
  w(names_.value, value_);
  w(names_.attention_output, attention_output_);
  w(names_.attention_norm, attention_norm_);
  w(names_.intermediate, intermediate_);
  w(names_.output, output_);
  w(names_.output_norm, output_norm_);
}

BertBody::BertBody(const BertConfig& c, int64_t offset, const BertNames& names)
    : names_(names),
      offset_(offset),
      words_(
          {.entries = c.vocab_size, .width = c.hidden_size, .padding = c.pad_token_id, .output = c.has(masked_head)}),
      positions_({c.max_position_embeddings, c.hidden_size}, Weight::Use::table),
      norm_({c.hidden_size, c.layer_norm_eps}),
      dropout_(c.hidden_dropout_prob),
      layers_(static_cast<size_t>(c.num_hidden_layers), BertLayer(c, names)) {
  if (c.type_vocab_size > 0) types_ = Weight({c.type_vocab_size, c.hidden_size}, Weight::Use::table);
}

Tensor BertBody::operator()(const PackedSource& source, const Context& context) const {
  const Context c = context.at("encoder");
  const int64_t tokens = source.ids.size(1);
  std::vector<int64_t> places = positions_of(source.mask(), tokens);
  for (int64_t& place : places) {
    require(place < longest(), "text: found more than {} tokens, which is what the model has positions for", longest());
    place += offset_;
  }
  Tensor x = c.entering("source", words_(source.ids)) + rows(positions_, tensor({1, tokens}, places));
  if (types_) x = x + rows(types_, source.types ? source.types : zeros({1, tokens}, DType::i64));
  x = dropout_(norm_(x), c.at("embedding"));
  SequenceGroups groups(x, source.starts, c);
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Context here = c.at(std::to_string(i));
    groups.pass([&](const Tensor& group, const Mask& mask) { return layers_[i](group, mask, here); });
  }
  return groups.joined();
}

void BertBody::weights(Weights& w) {
  w("embeddings.word_embeddings", words_);
  w("embeddings.position_embeddings.weight", positions_, {Init::normal, 0.02});
  if (types_) w("embeddings.token_type_embeddings.weight", types_, {Init::normal, 0.02});
  w("embeddings.LayerNorm", norm_);
  w(names_.layers, layers_);
}

std::string plain_bert_name(std::string name, std::string_view prefix) {
  if (name.starts_with(prefix)) name.erase(0, prefix.size());
  for (const auto& [old, now] : {std::pair{".gamma", ".weight"}, {".beta", ".bias"}})
    if (name.ends_with(old)) name.replace(name.size() - std::string_view(old).size(), std::string::npos, now);
  return name;
}

}  // namespace fovea
