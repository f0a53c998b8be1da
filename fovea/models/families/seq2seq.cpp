#include "fovea/models/seq2seq.h"

namespace fovea {

extern const Family seq2seq = {
    .name = "seq2seq",
    .help = "LSTM or GRU encoder and decoder with attention (Bahdanau et al. 2014, Luong et al. 2015)",
    .config = config_of<Seq2Seq>,
};

}  // namespace fovea
