#include "fovea/models/tagger.h"

namespace fovea {

extern const Family tagger = {
    .name = "tagger",
    .help = "a label for each word: characters and words, Bi-LSTM, self-attention, CRF (Ma and Hovy 2016)",
    .config = config_of<Tagger>,
};

}  // namespace fovea
