#include <algorithm>

#include "fovea/base/threads.h"
#include "fovea/kernels/gemm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/pack.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernels/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void pack_panel(const Matrix& b, int64_t depth, int64_t columns, float* packed) {
  pack_lanes<panel_width>(b.data, b.column_stride, b.row_stride, columns, depth, packed);
}

// Rows [begin, end) of a B with contiguous rows, into all panels: read in the order of memory, eight rows at a time, so
// that each panel's page is visited once for eight lines.
void pack_rows(const Matrix& b, int64_t panel_depth, int64_t columns, int64_t begin, int64_t end, float* packed) {
  const FloatTag d;
  const int64_t whole = columns / panel_width;
  for (int64_t k = begin; k < end; k += 8) {
    const int64_t stop = HWY_MIN(k + 8, end);
    for (int64_t p = 0; p < whole; ++p) {
      for (int64_t i = k; i < stop; ++i) {
        const float* from = b.data + i * b.row_stride + p * panel_width;
        float* to = packed + (p * panel_depth + i) * panel_width;
        for (int64_t j = 0; j < panel_width; j += lanes) hn::StoreU(hn::LoadU(d, from + j), d, to + j);
      }
    }
  }
  if (whole * panel_width == columns) return;
  const float* from = b.data + begin * b.row_stride + whole * panel_width;
  pack_lanes<panel_width>(from, 1, b.row_stride, columns - whole * panel_width, end - begin,
                          packed + (whole * panel_depth + begin) * panel_width);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {

HWY_EXPORT(pack_panel);
HWY_EXPORT(pack_rows);

}  // namespace

int64_t packed_size(int64_t depth, int64_t columns) {
  return (columns + panel_width - 1) / panel_width * panel_width * depth;
}

void pack(const Matrix& b, int64_t depth, int64_t columns, float* packed) { pack(b, depth, columns, packed, depth); }

void pack(const Matrix& b, int64_t depth, int64_t columns, float* packed, int64_t panel_depth) {
  const int64_t panels = (columns + panel_width - 1) / panel_width;
  constexpr int64_t grain = 16384;  // elements that are worth another thread
  if (b.column_stride == 1) {
    return parallel_ranges(depth, grain / (columns + 1) + 8, [&](int64_t begin, int64_t end) {
      HWY_DYNAMIC_DISPATCH(pack_rows)(b, panel_depth, columns, begin, end, packed);
    });
  }
  parallel_ranges(panels, grain / panel_width / (depth + 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const Matrix panel = {b.data + p * panel_width * b.column_stride, b.row_stride, b.column_stride};
      HWY_DYNAMIC_DISPATCH(pack_panel)(panel, depth, columns - p * panel_width, packed + p * panel_width * panel_depth);
    }
  });
}

}  // namespace fovea::kernels
#endif
