// Products on the tiles of unit.h for one instruction set.
//
//   run_tile_task(task);                                // as run_task of gemm_task-inl.h, with rounded rows as `task.a`
#if defined(FOVEA_KERNELS_UNIT_TASK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_UNIT_TASK_INL_H_
#undef FOVEA_KERNELS_UNIT_TASK_INL_H_
#else
#define FOVEA_KERNELS_UNIT_TASK_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "fovea/base/scratch.h"
#include "fovea/kernels/amx.h"
#include "fovea/kernels/gemm_task-inl.h"
#include "fovea/kernels/round-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The last block of each panel, filled with zeros to its 16 rows of 64 bytes, where the depth ends inside of a block.
inline void copy_last_blocks(const std::byte* b, int64_t b_panel, int64_t panels, std::byte* to) {
  constexpr int64_t block = 16 * tile_bytes;
  const int64_t begin = b_panel / block * block;
  for (int64_t p = 0; p < panels; ++p, to += block) {
    std::byte* end = std::copy(b + p * b_panel + begin, b + (p + 1) * b_panel, to);
    std::fill(end, to + block, std::byte{0});
  }
}

// A strip of at most four panels stays near while the blocks of rows pass by. All blocks have the same height, so that the tiles are set
// up once; the last one may reach into rows that are no part of the task, and whose sums are left alone.
void run_tile_task(const GemmTask& t) {
  alignas(64) float sums[32 * 32];
  alignas(64) std::byte last[4 * 16 * tile_bytes];
  const Epilogue& e = t.epilogue;
  const int64_t rows = t.row_end - t.row_begin, row_tiles = rows > 16 ? 2 : 1, blocks = (rows + 31) / 32;
  const int64_t height = (rows + row_tiles * blocks - 1) / (row_tiles * blocks), together = row_tiles * height;
  const bool plain = !t.row_scales && !e.bias && e.activation == Activation::none && !e.residual.data && !e.before.data;
  const bool add = e.add && !t.row_scales;
  const int64_t b_panel = t.shape.depth * 4 * panel_width, depth_blocks = (t.shape.depth + 15) / 16;
  TileProduct product = {.whole_numbers = t.precision == Precision::int8,
                         .row_tiles = static_cast<int>(row_tiles),
                         .height = height,
                         .a_stride = t.a.row_stride * 4,
                         .b_panel = b_panel,
                         .last = t.shape.depth % 16 != 0 ? last : nullptr,
                         .blocks = depth_blocks,
                         .add = add};
  const TileSession session(static_cast<int>(row_tiles), static_cast<int>(height));
  for (int64_t j = t.column_begin; j < t.column_end; j += product.panels * panel_width) {
    product.panels = HWY_MIN(4 / row_tiles, (t.column_end - j + panel_width - 1) / panel_width);
    product.b = reinterpret_cast<const std::byte*>(t.b) + j / panel_width * b_panel;
    if (product.last) copy_last_blocks(product.b, b_panel, product.panels, last);
    const int64_t width = product.panels * panel_width, columns = HWY_MIN(width, t.shape.columns - j);
    for (int64_t row = t.row_begin; row < t.row_end; row += together) {
      const int64_t count = HWY_MIN(together, t.row_end - row);
      float* c = t.c.data + row * t.c.row_stride + j;
      const bool direct = plain && count == together && columns == width;
      product.a = reinterpret_cast<const std::byte*>(t.a.data + row * t.a.row_stride);
      product.out = direct ? c : sums, product.out_stride = direct ? t.c.row_stride : width;
      if (add && !direct) copy_rectangle(count, columns, c, t.c.row_stride, sums, width);
      multiply_tiles(product);
      if (!direct) finish(t, row, j, count, columns, sums, width);
    }
  }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
