// A problem of the fused kernel that stays, so that its weights can be looked at again.
#pragma once

#include <memory>

#include "fovea/attention/problem.h"

namespace fovea {

std::shared_ptr<const KeptAttention> kept(std::shared_ptr<const Problem>);

}  // namespace fovea
