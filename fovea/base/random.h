// Counter-based random numbers (Philox4x32-10; Salmon, Moraes, Dror and Shaw 2011): any element can be drawn on its
// own, so the numbers do not depend on batch sizes, threads or the order of the calls.
//
//   Random random(seed);
//   float u = random.uniform(7);                       // element 7 of stream `seed`, in [0, 1)
//   Random layer = random.fork("encoder.0");           // an independent stream for a named place
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace fovea {

// One block of Philox4x32-10: four random words of a 128-bit counter under a 64-bit key.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// [0, 1) in steps of 2⁻²⁴, as every kernel maps a word to a float.
inline float unit_interval(uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }

class Random final {
 public:
  explicit Random(uint64_t seed = 0) : key_(seed) {}

  uint64_t key() const { return key_; }
  Random fork(uint64_t number) const;
  Random fork(std::string_view name) const;

  uint32_t word(uint64_t index) const;  // word index % 4 of the block with counter index / 4
  float uniform(uint64_t index) const { return unit_interval(word(index)); }
  float normal(uint64_t index) const;  // Box and Muller, mean 0, variance 1
  uint64_t below(uint64_t bound, uint64_t index) const;

 private:
  uint64_t key_;
};

}  // namespace fovea
