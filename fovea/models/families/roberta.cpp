// RoBERTa (Liu et al. 2019).
#include "fovea/models/roberta_heads.h"

namespace fovea {

extern const Family roberta = headed_family<Roberta>(
    "RoBERTa, with its heads (Liu et al. 2019)",
    R"([{"architectures": ["RobertaModel", "RobertaForMaskedLM", "RobertaForSequenceClassification",
                           "RobertaForTokenClassification", "RobertaForQuestionAnswering"],
         "hidden_size": 24, "num_attention_heads": 3, "num_hidden_layers": 2, "intermediate_size": 33,
         "max_position_embeddings": 42, "type_vocab_size": 1}])",
    headed_training);

}  // namespace fovea
