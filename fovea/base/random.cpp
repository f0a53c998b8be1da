#include "fovea/base/random.h"

#include <cmath>
#include <numbers>

namespace fovea {

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> c, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t{0xD2511F53} * c[0], b = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ key[0], static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ c[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9, key[1] += 0xBB67AE85;
  }
  return c;
}

namespace {

std::array<uint32_t, 2> halves(uint64_t key) { return {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)}; }

}  // namespace

// A stream's numbers come from counters whose upper half is 0, its forks' keys from those whose upper half is 1.
Random Random::fork(uint64_t number) const {
  auto [low, high] = halves(number);
  auto block = philox({low, high, 0, 1}, halves(key_));
  return Random(block[0] | uint64_t{block[1]} << 32);
}

Random Random::fork(std::string_view name) const {
  uint64_t hash = 0xCBF29CE484222325;  // FNV-1a
  for (unsigned char c : name) hash = (hash ^ c) * 0x100000001B3;
  return fork(hash);
}

uint32_t Random::word(uint64_t index) const {
  auto [low, high] = halves(index / 4);
  return philox({low, high, 0, 0}, halves(key_))[index % 4];
}

float Random::normal(uint64_t index) const {
  auto [low, high] = halves(index);
  auto block = philox({low, high, 0, 2}, halves(key_));
  double u = (block[0] + 1.0) * 0x1p-32, angle = 2 * std::numbers::pi * block[1] * 0x1p-32;
  return static_cast<float>(std::sqrt(-2 * std::log(u)) * std::cos(angle));
}

uint64_t Random::below(uint64_t bound, uint64_t index) const {
  auto [low, high] = halves(index);
  auto block = philox({low, high, 0, 3}, halves(key_));
  uint64_t word = block[0] | uint64_t{block[1]} << 32;
  return static_cast<uint64_t>((static_cast<unsigned __int128>(word) * bound) >> 64);
}

}  // namespace fovea
