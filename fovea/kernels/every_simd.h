// For tests: the same on every instruction set that this CPU has.
//
//   for_each_simd([&] { EXPECT_EQ(…); });
//   using Gemm = EverySimd;                              // or a TEST_P for each
//   INSTANTIATE_TEST_SUITE_P(, Gemm, testing::ValuesIn(supported_simds()), simd_name);
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "fovea/base/threads.h"
#include "fovea/kernels/simd.h"

namespace fovea {

inline void for_each_simd(const std::function<void()>& f) {
  const Simd before = simd();
  for (Simd s : supported_simds()) {
    use_simd(s);
    SCOPED_TRACE(std::string(name(s)));
    f();
  }
  use_simd(before);
}

class EverySimd : public testing::TestWithParam<Simd> {
 protected:
  void SetUp() override { use_simd(GetParam()); }
  void TearDown() override {
    use_simd(before_);
    set_threads(0);
  }
  Simd before_ = simd();
};

inline std::string simd_name(const testing::TestParamInfo<Simd>& i) { return std::string(name(i.param)); }

}  // namespace fovea
