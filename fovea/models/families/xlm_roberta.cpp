// XLM-RoBERTa (Conneau et al. 2020): RoBERTa for a hundred languages.
#include "fovea/models/roberta_heads.h"

namespace fovea {
namespace {

struct XlmRoberta : Roberta {
  static constexpr std::string_view name = "xlm-roberta", class_name = "XLMRoberta";
};

}  // namespace

extern const Family xlm_roberta = headed_family<XlmRoberta>(
    "XLM-RoBERTa, RoBERTa for a hundred languages (Conneau et al. 2020)",
    R"([{"architectures": ["XLMRobertaModel", "XLMRobertaForMaskedLM"], "hidden_size": 24, "num_attention_heads": 3,
         "num_hidden_layers": 2, "intermediate_size": 33, "max_position_embeddings": 42, "type_vocab_size": 1}])",
    headed_training);

}  // namespace fovea
