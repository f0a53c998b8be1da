#include "fovea/models/transformer.h"

namespace fovea {

extern const Family transformer = {
    .name = "transformer",
    .help = "Transformer: encoder-decoder, encoder or decoder (Vaswani et al. 2017)",
    .config = config_of<Transformer>,
};

}  // namespace fovea
