// One row of a head, worked out with the model's own numbers: what its query and the keys are, how they make scores, weights and
// what comes of them, in float64.
//
//   const WorkedRow row = worked_row(recording.at("encoder.0.self"), head, query, {.keys = 8, .numbers = 6});
//   row.keys[0].score;   row.keys[0].weight;   row.context;              // scale · q·k, exp(score − lse), Σ weight · value
#pragma once

#include <vector>

#include "fovea/explain/recording.h"

namespace fovea {

struct WorkedRow {
  struct Key {
    int64_t column = 0;
    std::vector<double> k = {}, brings = {};  // the first numbers of the key, and of what it brings at a weight of 1
    double product = 0, score = 0, weight = 0;
  };
  int64_t width = 0, brought_width = 0;  // of all numbers; brought_width is 0 where the values are not known
  double scale = 1, lse = 0;             // log Σ exp of all scores
  std::vector<double> q = {};            // the first numbers of the query
  std::vector<Key> keys = {};            // those with the largest weights, in the order of the text
  double others = 0;                     // the weight of all other keys
  std::vector<double> context = {};      // Σ weight · what it brings, over all keys: its first numbers
};

struct WorkedRowOptions {
  size_t keys = 8, numbers = 6;  // how many are told
};

// Of the head heads[number]. An Error of kind not_found where the recording has only weights, or weights that are made of more than
// a scaled product.
WorkedRow worked_row(const RecordedPlace&, size_t number, int64_t row, const WorkedRowOptions& = {});

}  // namespace fovea
