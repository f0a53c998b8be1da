#include "fovea/models/family.h"

#include <algorithm>
#include <set>

namespace fovea {

void DataFacts::fields(Fields& f) {
  f("vocabulary", vocabulary, "size of the vocabulary");
  f("characters", characters, "size of the vocabulary of characters");
  f("labels", labels, "what a text or a word can be");
  f("labelling", labelling, "what the labels mean");
  f("mean", mean, "of the numbers");
  f("deviation", deviation, "of the numbers");
  f("pairs", pairs, "whether two texts are read at a time");
  f("padding", special.pad, "id of padding");
  f("start", special.bos, "id before the first token");
  f("end", special.eos, "id after the last token");
  f("unknown", special.unk, "id of unknown tokens");
  // The same as Hugging Face names them.
  f("vocab_size", vocabulary, "");
  if (special.pad >= 0) f("pad_token_id", special.pad, "");
  f("bos_token_id", special.bos, "");
  f("eos_token_id", special.eos, "");
  f.numbered("id2label", labels);
}

void pass_over_foreign(Fields& f) {
  f.passed_over({"_attn_implementation",
                 "_attn_implementation_autoset",
                 "_commit_hash",
                 "_name_or_path",
                 "add_cross_attention",
                 "attn_implementation",
                 "auto_map",
                 "chunk_size_feed_forward",
                 "cross_attention_hidden_size",
                 "dtype",
                 "finetuning_task",
                 "gradient_checkpointing",
                 "initializer_factor",
                 "initializer_range",
                 "is_decoder",
                 "is_encoder_decoder",
                 "keys_to_ignore_at_inference",
                 "label2id",
                 "language",
                 "name",
                 "output_attentions",
                 "output_hidden_states",
                 "output_past",
                 "prefix",
                 "pretraining_tp",
                 "pruned_heads",
                 "return_dict",
                 "task_specific_params",
                 "tf_legacy_loss",
                 "tokenizer_class",
                 "torch_dtype",
                 "torchscript",
                 "transformers_version",
                 "use_bfloat16",
                 "use_cache"});
}

void tell(ModelConfig& config, DataFacts facts) {
  detail::Reader reader(detail::Reader::json, to_json(facts), "data");  // whose other fields are passed over
  config.fields(reader);
  config.fit(facts);
}

void check_choice(std::string_view model, std::string_view field, const std::string& found,
                  const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), found) != known.end()) return;
  throw_unknown(fmt::format("value of '{}' of a {}", field, model), found, known);
}

void check_size(std::string_view model, std::string_view field, int64_t found) {
  constexpr int64_t most = int64_t{1} << 31;
  require(found >= 1 && found <= most, "{}: found {} of {}, expected 1 to {}", model, field, found, most);
}

void check_layers(std::string_view model, std::string_view field, int64_t found) {
  constexpr int64_t most = 10000;
  require(found >= 0 && found <= most, "{}: found {} of {}, expected 0 to {}", model, field, found, most);
}

void check_share(std::string_view model, std::string_view field, double found) {
  require(found >= 0 && found < 1, "{}: found {} of {}, expected at least 0 and less than 1", model, field, found);
}

void check_labels(std::string_view model, const std::vector<std::string>& labels, size_t least) {
  require(labels.size() >= least, "{}: found {} labels, expected at least {}", model, labels.size(), least);
  std::set<std::string> seen;
  for (const std::string& label : labels)
    require(seen.insert(label).second, "{}: found the label '{}' twice, expected each once", model, label);
}

}  // namespace fovea
