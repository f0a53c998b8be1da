#include "fovea/kernels/block_panels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "fovea/base/error.h"
#include "fovea/base/half.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/gemm_task.h"

namespace fovea::kernels {
namespace {

constexpr int64_t line = 64;  // bytes

// Bytes from the beginning of a panel to each of its parts, and to its end.
struct Places {
  Places(BlockType type, int64_t depth) {
    const BlockForm form = form_of(type);
    const int64_t halves = depth / (form.nested ? block_of(type).numbers : form.group) * panel_width * 2;
    const int64_t whole = form.nested ? depth / form.group * panel_width : 0;
    d = depth * panel_width * form.bits / 8;
    m = d + halves;
    scales = m + (form.mins ? halves : 0);
    mins = scales + whole;
    end = (mins + (form.mins ? whole : 0) + line - 1) / line * line;
  }
  int64_t d, m, scales, mins, end;
};

// Block `index` of a column into its panel.
void put_block(const BlockForm& form, const BlockParts& parts, const Block& block, int64_t index, int64_t column,
               const BlockPanel& panel) {
  auto* codes = reinterpret_cast<uint8_t*>(const_cast<std::byte*>(panel.codes));
  for (int64_t i = 0; i < block.numbers; ++i) {
    const int64_t k = index * block.numbers + i;
    const auto code = static_cast<uint8_t>(parts.codes[i]);
    if (form.bits == 8) {
      codes[(k / 4 * panel_width + column) * 4 + k % 4] = code;
    } else {
      uint8_t& both = codes[(k / 8 * panel_width + column) * 4 + k % 4];
      both = k % 8 < 4 ? code : static_cast<uint8_t>(both | code << 4);
    }
  }
  const_cast<uint16_t*>(panel.d)[index * panel_width + column] = parts.d;
  if (form.mins) const_cast<uint16_t*>(panel.m)[index * panel_width + column] = parts.m;
  if (!form.nested) return;
  const int64_t groups = block.numbers / form.group;
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t to = (index * groups + g) * panel_width + column;
    const_cast<int8_t*>(panel.scales)[to] = parts.scales[g];
    if (form.mins) const_cast<int8_t*>(panel.mins)[to] = parts.mins[g];
  }
}

}  // namespace

int64_t panel_bytes(BlockType type, int64_t depth) { return Places(type, depth).end; }

BlockPanel panel_of(const PackedMatrix& b, int64_t panel) {
  const Places at(*b.blocks, b.depth);
  const std::byte* p = b.data + panel * at.end;
  return {p, reinterpret_cast<const uint16_t*>(p + at.d), reinterpret_cast<const uint16_t*>(p + at.m),
          reinterpret_cast<const int8_t*>(p + at.scales), reinterpret_cast<const int8_t*>(p + at.mins)};
}

int64_t packed_bytes(BlockType type, int64_t depth, int64_t columns) {
  check({Precision::f32, depth, columns, nullptr, type}, "packed_bytes");
  return (columns + panel_width - 1) / panel_width * panel_bytes(type, depth);
}

void pack_blocks(const PackedMatrix& whole, const std::byte* rows) {
  check(whole, "pack_blocks");
  const BlockType type = *whole.blocks;
  const BlockForm form = form_of(type);
  const Block block = block_of(type);
  const int64_t blocks = whole.depth / block.numbers, bytes = panel_bytes(type, whole.depth);
  parallel_for((whole.columns + panel_width - 1) / panel_width, [&](int64_t p) {
    const BlockPanel panel = panel_of(whole, p);
    std::memset(const_cast<std::byte*>(panel.codes), 0, static_cast<size_t>(bytes));
    BlockParts parts;
    for (int64_t j = p * panel_width; j < std::min(whole.columns, (p + 1) * panel_width); ++j) {
      for (int64_t i = 0; i < blocks; ++i) {
        take_apart(type, rows + (j * blocks + i) * block.bytes, parts);
        put_block(form, parts, block, i, j % panel_width, panel);
      }
    }
  });
}

bool blocks_are_finite(const PackedMatrix& b) {
  const BlockForm form = form_of(*b.blocks);
  const int64_t halves = b.depth / block_of(*b.blocks).numbers * panel_width;
  const auto finite = [](uint16_t half) { return (half & 0x7c00) != 0x7c00; };
  for (int64_t p = 0; p < (b.columns + panel_width - 1) / panel_width; ++p) {
    const BlockPanel panel = panel_of(b, p);
    if (!std::all_of(panel.d, panel.d + halves, finite)) return false;
    if (form.mins && !std::all_of(panel.m, panel.m + halves, finite)) return false;
  }
  return true;
}

void unpack_block_column(const PackedMatrix& b, int64_t column, float* to) {
  const BlockForm form = form_of(*b.blocks);
  const BlockPanel panel = panel_of(b, column / panel_width);
  const auto* codes = reinterpret_cast<const uint8_t*>(panel.codes);
  const int64_t numbers = block_of(*b.blocks).numbers, at = column % panel_width;
  for (int64_t k = 0; k < b.depth; ++k) {
    const int64_t block = k / numbers * panel_width + at, group = k / form.group * panel_width + at;
    const float d = fovea::float_of_half(panel.d[block]);
    const float scale = form.nested ? d * static_cast<float>(panel.scales[group]) : d;
    int code;
    if (form.bits == 8)
      code = static_cast<int8_t>(codes[(k / 4 * panel_width + at) * 4 + k % 4]);
    else
      code = (codes[(k / 8 * panel_width + at) * 4 + k % 4] >> k % 8 / 4 * 4 & 15) - form.offset;
    to[k] = scale * static_cast<float>(code);
    if (!form.mins) continue;
    const float m = fovea::float_of_half(panel.m[block]);
    to[k] += form.nested ? m * static_cast<float>(panel.mins[group]) : m;
  }
}

}  // namespace fovea::kernels
