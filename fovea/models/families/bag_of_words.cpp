#include "fovea/models/bag_of_words.h"

namespace fovea {

extern const Family bag_of_words = {
    .name = "bag-of-words",
    .help = "a label for a text from the counts of its tokens: the baseline",
    .config = config_of<BagOfWords>,
};

}  // namespace fovea
