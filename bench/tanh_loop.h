// What additive scores are measured against: the plain loop with a vectorised rational tanh.
#pragma once

#include "fovea/kernels/attention.h"

namespace fovea {

// The same matrix as additive_scores, parallel over the rows; rows of q and k are contiguous, the width a multiple
// of 16.
void tanh_scores(const kernels::AdditiveScores&);

}  // namespace fovea
