// Numbers to blocks. q8_0, q5_0 and q4_0 have one way; in blocks of 256 each group's scale (and min) is searched for, so that the sum of
// the squared errors, weighted by size, is small.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "fovea/base/error.h"
#include "fovea/base/half.h"
#include "fovea/kernels/blocks.h"
#include "fovea/kernels/convert.h"

namespace fovea::kernels {
namespace {

float put_half(float x, uint8_t* to) {
  const uint16_t half = half_of_float(x);
  std::memcpy(to, &half, 2);
  return fovea::float_of_half(half);
}

float inverse_of(float x) { return x == 0 ? 0 : 1 / x; }

float largest_of(const float* x, int count) {  // with its sign
  float largest = 0;
  for (int i = 0; i < count; ++i)
    if (std::fabs(x[i]) > std::fabs(largest)) largest = x[i];
  return largest;
}

void quantise_q8_0(const float* x, uint8_t* block) {
  const float d = std::fabs(largest_of(x, 32)) / 127, inverse = inverse_of(d);
  put_half(d, block);
  for (int i = 0; i < 32; ++i) block[2 + i] = static_cast<uint8_t>(static_cast<int8_t>(std::round(x[i] * inverse)));
}

void quantise_q4_0(const float* x, uint8_t* block) {
  const float d = largest_of(x, 32) / -8, inverse = inverse_of(d);
  put_half(d, block);
  const auto code = [&](int i) { return std::clamp(static_cast<int>(x[i] * inverse + 8.5f), 0, 15); };
  for (int i = 0; i < 16; ++i) block[2 + i] = static_cast<uint8_t>(code(i) | code(i + 16) << 4);
}

void quantise_q5_0(const float* x, uint8_t* block) {
  const float d = largest_of(x, 32) / -16, inverse = inverse_of(d);
  put_half(d, block);
  uint32_t fifth_bits = 0;
  for (int i = 0; i < 16; ++i) {
    const auto code = [&](int k) {
      return static_cast<uint32_t>(std::clamp(static_cast<int>(x[k] * inverse + 16.5f), 0, 31));
    };
    const uint32_t low = code(i), high = code(i + 16);
    block[6 + i] = static_cast<uint8_t>((low & 15) | (high & 15) << 4);
    fifth_bits |= low >> 4 << i | high >> 4 << (i + 16);
  }
  std::memcpy(block + 2, &fifth_bits, 4);
}

int nearest(float x, int low, int high) {
  return std::clamp(static_cast<int>(std::nearbyint(std::clamp(x, -1e6f, 1e6f))), low, high);
}

struct Line {  // x ≈ scale · code − min with codes of 0 to 15
  float scale = 0, min = 0;
};

// The line through given codes that has the least weighted squared error, its min no less than 0.
Line fitted(const float* x, const float* weights, const int* codes) {
  float w = 0, wx = 0, wc = 0, wcc = 0, wcx = 0;
  for (int i = 0; i < 32; ++i) {
    const auto c = static_cast<float>(codes[i]);
    w += weights[i], wx += weights[i] * x[i], wc += weights[i] * c, wcc += weights[i] * c * c;
    wcx += weights[i] * c * x[i];
  }
  const float determinant = w * wcc - wc * wc;
  if (determinant <= 0) return {};
  Line line = {(w * wcx - wx * wc) / determinant, -(wcc * wx - wc * wcx) / determinant};
  if (line.min < 0) line = {wcc > 0 ? wcx / wcc : 0, 0};
  return line;
}

// Tries some steps around (largest − smallest) / 15, and for each the best line through the codes that it gives.
Line line_of(const float* x) {
  float weights[32], squares = 0;
  for (int i = 0; i < 32; ++i) squares += x[i] * x[i];
  for (int i = 0; i < 32; ++i) weights[i] = std::sqrt(squares / 32) + std::fabs(x[i]);
  const float smallest = std::min(0.0f, *std::min_element(x, x + 32)), largest = *std::max_element(x, x + 32);
  if (largest <= smallest) return {0, -smallest};
  Line best;
  float least = -1;
  const auto consider = [&](const Line& line) {
    float error = 0;
    const float inverse = inverse_of(line.scale);
    for (int i = 0; i < 32; ++i) {
      const float off = line.scale * static_cast<float>(nearest((x[i] + line.min) * inverse, 0, 15)) - line.min - x[i];
      error += weights[i] * off * off;
    }
    if (least < 0 || error < least) least = error, best = line;
  };
  consider({(largest - smallest) / 15, -smallest});
  for (int step = 0; step <= 20; ++step) {
    const float inverse = (14 + 0.1f * static_cast<float>(step)) / (largest - smallest);
    int codes[32];
    for (int i = 0; i < 32; ++i) codes[i] = nearest((x[i] - smallest) * inverse, 0, 15);
    if (const Line line = fitted(x, weights, codes); line.scale > 0) consider(line);
  }
  return best;
}

void quantise_q4_K(const float* x, uint8_t* block) {
  Line lines[8];
  float scale = 0, min = 0;
  for (int g = 0; g < 8; ++g) {
    lines[g] = line_of(x + 32 * g);
    scale = std::max(scale, lines[g].scale), min = std::max(min, lines[g].min);
  }
  const float d = put_half(scale / 63, block), m = put_half(min / 63, block + 2);
  uint8_t *packed = block + 4, *codes = block + 16;
  std::memset(packed, 0, 12 + 128);
  for (int g = 0; g < 8; ++g) {
    const int s = nearest(lines[g].scale * inverse_of(d), 0, 63), n = nearest(lines[g].min * inverse_of(m), 0, 63);
    if (g < 4) {
      packed[g] |= static_cast<uint8_t>(s), packed[4 + g] |= static_cast<uint8_t>(n);
    } else {
      packed[4 + g] |= static_cast<uint8_t>((s & 15) | (n & 15) << 4);
      packed[g - 4] |= static_cast<uint8_t>(s >> 4 << 6), packed[g] |= static_cast<uint8_t>(n >> 4 << 6);
    }
    const float step = d * static_cast<float>(s), low = m * static_cast<float>(n), inverse = inverse_of(step);
    for (int i = 0; i < 32; ++i)
      codes[g / 2 * 32 + i] |= static_cast<uint8_t>(nearest((x[32 * g + i] + low) * inverse, 0, 15) << g % 2 * 4);
  }
}

// x ≈ scale · code with codes of −32 to 31: tries steps around the largest number / −32; the error is weighted by x².
float scale_of(const float* x) {
  const float largest = largest_of(x, 16);
  if (std::fabs(largest) < 1e-30f) return 0;
  float best = 0, most = -1;
  for (int step = -9; step <= 9; ++step) {
    const float inverse = -(32 + 0.1f * static_cast<float>(step)) / largest;
    float wcx = 0, wcc = 0;
    for (int i = 0; i < 16; ++i) {
      const auto c = static_cast<float>(nearest(x[i] * inverse, -32, 31));
      wcx += x[i] * x[i] * c * x[i], wcc += x[i] * x[i] * c * c;
    }
    if (wcc > 0 && wcx * wcx > most * wcc) most = wcx * wcx / wcc, best = wcx / wcc;
  }
  return best;
}

void quantise_q6_K(const float* x, uint8_t* block) {
  float scales[16];
  for (int g = 0; g < 16; ++g) scales[g] = scale_of(x + 16 * g);
  std::memset(block, 0, 192);
  const float d = put_half(largest_of(scales, 16) / -128, block + 208);
  for (int g = 0; g < 16; ++g) {
    const int s = nearest(scales[g] * inverse_of(d), -128, 127);
    block[192 + g] = static_cast<uint8_t>(s);
    const float inverse = inverse_of(d * static_cast<float>(s));
    for (int k = 16 * g; k < 16 * g + 16; ++k) {
      const int code = nearest(x[k] * inverse, -32, 31) + 32;
      block[k / 128 * 64 + k % 64] |= static_cast<uint8_t>((code & 15) << k % 128 / 64 * 4);
      block[128 + k / 128 * 32 + k % 32] |= static_cast<uint8_t>(code >> 4 << k % 128 / 32 * 2);
    }
  }
}

}  // namespace

void quantise(BlockType type, const float* x, int64_t count, std::byte* blocks) {
  void (*one)(const float*, uint8_t*) = nullptr;
  if (type == BlockType::q8_0) one = quantise_q8_0;
  if (type == BlockType::q4_0) one = quantise_q4_0;
  if (type == BlockType::q5_0) one = quantise_q5_0;
  if (type == BlockType::q4_K) one = quantise_q4_K;
  if (type == BlockType::q6_K) one = quantise_q6_K;
  if (!one)
    throw Error(Error::unsupported, "quantise: found {}, which is only read; expected q8_0, q5_0, q4_0, q4_K or q6_K",
                name(type));
  const auto [numbers, bytes] = block_of(type);
  require(count >= 0 && count % numbers == 0, "quantise: found {} numbers, expected blocks of {} for {}", count,
          numbers, name(type));
  require(all_finite(count, x), "quantise: found a NaN or an infinity, expected finite numbers");
  for (; count > 0; count -= numbers, x += numbers, blocks += bytes) one(x, reinterpret_cast<uint8_t*>(blocks));
}

}  // namespace fovea::kernels
