#include "fovea/models/classifier.h"

namespace fovea {

extern const Family classifier = {
    .name = "classifier",
    .help = "a label for a text: LSTM, GRU or Transformer under attention pooling (Yang et al. 2016)",
    .config = config_of<Classifier>,
};

}  // namespace fovea
