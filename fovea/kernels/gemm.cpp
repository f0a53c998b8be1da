#include "fovea/kernels/gemm.h"

namespace fovea::kernels {

int64_t packed_size(int64_t depth, int64_t columns) {
  return (columns + panel_width - 1) / panel_width * panel_width * depth;
}

}  // namespace fovea::kernels
