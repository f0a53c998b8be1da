#include "fovea/kernels/blocks.h"

#include <cstring>

#include "fovea/base/error.h"
#include "fovea/base/half.h"

namespace fovea::kernels {
namespace {

using Bytes = const uint8_t*;

uint16_t half_at(Bytes from) {
  uint16_t half;
  std::memcpy(&half, from, 2);
  return half;
}

// Sixteen bytes: their lower halves, then their upper ones; the fifth bits stand in the 32 of `high`, if any.
void small_codes(Bytes bytes, uint32_t high, int offset, int8_t* codes) {
  for (int i = 0; i < 32; ++i) {
    const int low = i < 16 ? bytes[i] & 15 : bytes[i - 16] >> 4;
    codes[i] = static_cast<int8_t>((low | static_cast<int>(high >> i & 1) << 4) - offset);
  }
}

uint32_t word_at(Bytes from) {
  uint32_t word;
  std::memcpy(&word, from, 4);
  return word;
}

// Eight scales and eight mins of six bits in twelve bytes: the first four of each in the lower six bits of bytes 0 to 3 and 4 to 7,
// the others in the halves of bytes 8 to 11 with their upper two bits in those bytes' own.
void six_bit_scales(Bytes packed, BlockParts& to) {
  for (int i = 0; i < 4; ++i) {
    to.scales[i] = static_cast<int8_t>(packed[i] & 63);
    to.mins[i] = static_cast<int8_t>(packed[4 + i] & 63);
    to.scales[4 + i] = static_cast<int8_t>((packed[8 + i] & 15) | (packed[i] >> 6) << 4);
    to.mins[4 + i] = static_cast<int8_t>(packed[8 + i] >> 4 | (packed[4 + i] >> 6) << 4);
  }
}

uint16_t negated(uint16_t half) { return half ^ 0x8000; }

// scales[16] of two halves, codes[64] of two bits, d, m
void take_q2(Bytes b, BlockParts& to) {
  to.d = half_at(b + 80), to.m = negated(half_at(b + 82));
  for (int i = 0; i < 16; ++i)
    to.scales[i] = static_cast<int8_t>(b[i] & 15), to.mins[i] = static_cast<int8_t>(b[i] >> 4);
  for (int k = 0; k < 256; ++k)
    to.codes[k] = static_cast<int8_t>(b[16 + k / 128 * 32 + k % 32] >> k % 128 / 32 * 2 & 3);
}

// the third bits [32], codes[64] of two bits, scales[12] of six bits, d
void take_q3(Bytes b, BlockParts& to) {
  to.d = half_at(b + 108);
  const Bytes scales = b + 96;
  for (int i = 0; i < 16; ++i) {
    const int low = scales[i % 8] >> i / 8 * 4 & 15, high = scales[8 + i % 4] >> i / 4 * 2 & 3;
    to.scales[i] = static_cast<int8_t>((low | high << 4) - 32);
  }
  for (int k = 0; k < 256; ++k) {
    const int low = b[32 + k / 128 * 32 + k % 32] >> k % 128 / 32 * 2 & 3, high = b[k % 32] >> k / 32 & 1;
    to.codes[k] = static_cast<int8_t>(low | high << 2);
  }
}

// d, m, scales[12], the fifth bits [32] if any, codes[128] of four bits
void take_q4_or_q5(Bytes b, bool five, BlockParts& to) {
  to.d = half_at(b), to.m = negated(half_at(b + 2));
  six_bit_scales(b + 4, to);
  const Bytes fifth = b + 16, codes = five ? b + 48 : b + 16;
  for (int k = 0; k < 256; ++k) {
    const int low = codes[k / 64 * 32 + k % 32] >> k % 64 / 32 * 4 & 15, high = five ? fifth[k % 32] >> k / 32 & 1 : 0;
    to.codes[k] = static_cast<int8_t>(low | high << 4);
  }
}

// the lower four bits [128], the upper two [64], scales[16], d
void take_q6(Bytes b, BlockParts& to) {
  to.d = half_at(b + 208);
  std::memcpy(to.scales, b + 192, 16);
  for (int k = 0; k < 256; ++k) {
    const int low = b[k / 128 * 64 + k % 64] >> k % 128 / 64 * 4 & 15;
    const int high = b[128 + k / 128 * 32 + k % 32] >> k % 128 / 32 * 2 & 3;
    to.codes[k] = static_cast<int8_t>((low | high << 4) - 32);
  }
}

}  // namespace

void take_apart(BlockType type, const std::byte* block, BlockParts& to) {
  const auto b = reinterpret_cast<Bytes>(block);
  switch (type) {
    case BlockType::q8_0:
      to.d = half_at(b);
      std::memcpy(to.codes, b + 2, 32);
      return;
    case BlockType::q4_0:
      to.d = half_at(b);
      return small_codes(b + 2, 0, 0, to.codes);
    case BlockType::q4_1:
      to.d = half_at(b), to.m = half_at(b + 2);
      return small_codes(b + 4, 0, 0, to.codes);
    case BlockType::q5_0:
      to.d = half_at(b);
      return small_codes(b + 6, word_at(b + 2), 16, to.codes);
    case BlockType::q5_1:
      to.d = half_at(b), to.m = half_at(b + 2);
      return small_codes(b + 8, word_at(b + 4), 0, to.codes);
    case BlockType::q2_K:
      return take_q2(b, to);
    case BlockType::q3_K:
      return take_q3(b, to);
    case BlockType::q4_K:
      return take_q4_or_q5(b, false, to);
    case BlockType::q5_K:
      return take_q4_or_q5(b, true, to);
    case BlockType::q6_K:
      return take_q6(b, to);
  }
}

void dequantise(BlockType type, const std::byte* blocks, int64_t count, float* x) {
  const auto [numbers, bytes] = block_of(type);
  require(count >= 0 && count % numbers == 0, "dequantise: found {} numbers, expected blocks of {} for {}", count,
          numbers, name(type));
  const BlockForm form = form_of(type);
  BlockParts parts;
  for (; count > 0; count -= numbers, blocks += bytes, x += numbers) {
    take_apart(type, blocks, parts);
    const float d = fovea::float_of_half(parts.d), m = fovea::float_of_half(parts.m);
    for (int64_t k = 0; k < numbers; ++k) {
      const auto group = static_cast<size_t>(k / form.group);
      const float scale = form.nested ? d * static_cast<float>(parts.scales[group]) : d;
      x[k] = scale * static_cast<float>(parts.codes[k] - form.offset);
      if (form.mins) x[k] += form.nested ? m * static_cast<float>(parts.mins[group]) : m;
    }
  }
}

}  // namespace fovea::kernels
