// Precision, recall and F1 of whole entities (Tjong Kim Sang and De Meulder 2003), equal to seqeval 1.2.2 in its default
// mode, which is that of conlleval: IOB1, IOB2, IOE and IOBES tags are all read, and an I- without its B- begins an entity.
//
//   EntityScores scores = score_entities({{"B-PER", "I-PER", "O"}}, {{"B-PER", "O", "O"}});
//   scores.micro.f1;  scores.report();                  // seqeval's classification_report
#pragma once

#include <string>
#include <vector>

#include "fovea/train/metrics/class_scores.h"

namespace fovea {

struct Entity {
  std::string type;
  size_t begin = 0, end = 0;  // tokens [begin, end)
  auto operator<=>(const Entity&) const = default;
};

std::vector<Entity> find_entities(const std::vector<std::string>& tags);

struct EntityScores : ClassScores {
  double accuracy = 0;  // of the single tags, compared as IOB2: seqeval's if both are, and the same for all schemes
  std::string report(int digits = 2) const;
};

// references[sentence][token], and the same sentences and tokens in the hypotheses.
EntityScores score_entities(const std::vector<std::vector<std::string>>& references,
                            const std::vector<std::vector<std::string>>& hypotheses);

}  // namespace fovea
