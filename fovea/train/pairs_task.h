// Learning from pairs of texts, the second to be generated from the first: translation and summarisation.
//
//   extern const TaskKind translation = {.name = "translation", .help = "…", .make = [] { return pairs_task({…}); }};
#pragma once

#include "fovea/train/task.h"

namespace fovea {

// What is different from task to task.
struct Pairs {
  std::vector<Score> (*score)(const Predictions&);
  int64_t max_tokens = 100;  // tokens; longer examples are left out
  int64_t max_length = 256;  // of what is generated
  int64_t piece_tokens = 0;  // longer sources are read in pieces
};

std::unique_ptr<Task> pairs_task(const Pairs&);

}  // namespace fovea
