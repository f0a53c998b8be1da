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
#include "fovea/kernels/fetch.h"
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

// A rectangle of C and the sums that become it.
struct TileSums {
  int64_t row = 0, column = 0, rows = 0, columns = 0;
  const float* sums = nullptr;
  int64_t stride = 0;
};

// While tiles multiply one rectangle, the one before it is finished, a few rows in each step, since tiles leave a thread the time for it;
// and C is fetched for the one that comes next.
class BesideTiles final : public Beside {
 public:
  BesideTiles(const GemmTask& task, int64_t steps) : task_(task), steps_(HWY_MAX(steps, 1)) {}

  void begin(const TileSums& next) {
    finish_rows(before_.rows);
    before_ = now_, now_ = next, done_ = 0, rows_a_step_ = (HWY_MAX(before_.rows, now_.rows) + steps_ - 1) / steps_;
  }
  void end() { begin({}), begin({}); }

  void step() override {
    const int64_t below = now_.row + now_.rows + done_;
    for (int64_t r = below; r < HWY_MIN(below + rows_a_step_, task_.row_end); ++r) {
      fetch<1, 2>(task_.c.data + r * task_.c.row_stride + now_.column, now_.columns * 4);
    }
    finish_rows(rows_a_step_);
  }

 private:
  void finish_rows(int64_t count) {
    const auto& [row, column, rows, columns, sums, stride] = before_;
    const int64_t some = HWY_MIN(count, rows - done_);
    if (some > 0) finish(task_, row + done_, column, some, columns, sums + done_ * stride, stride);
    done_ += count;
  }

  const GemmTask& task_;
  TileSums before_, now_;
  int64_t steps_, rows_a_step_ = 0, done_ = 0;
};

// A strip of at most four panels stays near while the blocks of rows pass by. The last one may have rows that are no part of the product,
// and whose sums are left alone.
void run_tile_task(const GemmTask& t) {
  alignas(64) float sums[2][32 * 32];
  alignas(64) std::byte last[4 * 16 * tile_bytes];
  const int64_t together = t.tiles.together(), b_panel = t.shape.depth * 4 * panel_width;
  BesideTiles beside(t, t.tiles.blocks);
  TileProduct product = {.whole_numbers = t.precision == Precision::int8,
                         .row_tiles = static_cast<int>(t.tiles.tiles),
                         .height = t.tiles.height,
                         .b_panel = b_panel,
                         .last = t.shape.depth % 16 != 0 ? last : nullptr,
                         .blocks = t.tiles.blocks,
                         .beside = &beside};
  const TileSession session(product.row_tiles, static_cast<int>(product.height));
  for (int64_t j = t.column_begin, turn = 0; j < t.column_end; j += product.panels * panel_width) {
    product.panels = HWY_MIN(4 / t.tiles.tiles, (t.column_end - j + panel_width - 1) / panel_width);
    product.b = reinterpret_cast<const std::byte*>(t.b) + j / panel_width * b_panel;
    if (product.last) copy_last_blocks(product.b, b_panel, product.panels, last);
    const int64_t width = product.panels * panel_width, columns = HWY_MIN(width, t.shape.columns - j);
    for (int64_t row = t.row_begin; row < t.row_end; row += together, turn ^= 1) {
      beside.begin({row, j, HWY_MIN(together, t.row_end - row), columns, sums[turn], width});
      product.a = reinterpret_cast<const std::byte*>(t.a.data) + t.tiles.place(row), product.out = sums[turn];
      multiply_tiles(product);
    }
  }
  beside.end();
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
