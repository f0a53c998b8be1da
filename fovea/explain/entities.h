// The entities that a tagger found, in the user's own text.
//
//   const TaggedText t = tag_texts(*tagger, *words, {"Angela Merkel visited Paris."})[0];
//   marked(t);                                         // "[Angela Merkel](PER) visited [Paris](LOC)."
#pragma once

#include <string>
#include <vector>

#include "fovea/data/text/utf8.h"
#include "fovea/explain/heat_map.h"
#include "fovea/generate/tag.h"

namespace fovea {

struct TextEntity {
  std::string type;
  Span span;
  double probability = 0;  // that of its least probable word
};

// Runs of B-, I-, E- and S- labels as conlleval reads them; of labels without such beginnings, each word is one by itself.
std::vector<TextEntity> entities_in(const TaggedText&);

std::string marked(const TaggedText&);  // the text as it is, with [entity](TYPE)

HeatMap to_heat_map(const TaggedText&,
                    std::string title);  // words × words; without cells if the attention is not known

}  // namespace fovea
