// For tests: the same on every instruction set that this CPU has.
//
//   for_each_simd([&] { EXPECT_EQ(…); });
//   using Gemm = EverySimd;                              // or a TEST_P for each
//   INSTANTIATE_TEST_SUITE_P(, Gemm, testing::ValuesIn(supported_simds()), simd_name);
//
// With emulated_simds() instead, a CPU without AMX runs the tests on emulated tiles, too.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>

#include "emulated_units.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/simd.h"

namespace fovea {

inline void for_each_simd(const std::function<void()>& f, const std::vector<Simd>& sets = supported_simds()) {
  const Simd before = simd();
  for (Simd s : sets) {
    std::optional<EmulatedUnits> emulated;
    if (s == Simd::amx) emulated.emplace(kernels::Units{.tiles = true});
    use_simd(s);
    SCOPED_TRACE(std::string(name(s)));
    f();
  }
  use_simd(before);
}

class EverySimd : public testing::TestWithParam<Simd> {
 protected:
  void SetUp() override {
    if (GetParam() == Simd::amx) emulated_.emplace(kernels::Units{.tiles = true});
    use_simd(GetParam());
  }
  void TearDown() override {
    use_simd(before_);
    emulated_.reset();
    set_threads(0);
  }
  Simd before_ = simd();
  std::optional<EmulatedUnits> emulated_;
};

inline std::string simd_name(const testing::TestParamInfo<Simd>& i) { return std::string(name(i.param)); }

}  // namespace fovea
