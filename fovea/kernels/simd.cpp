#include "fovea/kernels/simd.h"

#include <hwy/highway.h>

#include <string>

#include "fovea/base/catalogue.h"
#include "fovea/base/error.h"

namespace fovea {
namespace {

int64_t target_of(Simd s) {
  switch (s) {
    case Simd::avx512:
      return HWY_AVX3;
    case Simd::avx2:
      return HWY_AVX2;
    case Simd::baseline:
      break;
  }
  return HWY_STATIC_TARGET;
}

}  // namespace

std::string_view name(Simd s) {
  switch (s) {
    case Simd::avx512:
      return "avx512";
    case Simd::avx2:
      return "avx2";
    case Simd::baseline:
      break;
  }
  return "baseline";
}

Simd parse_simd(std::string_view text) {
  for (Simd s : {Simd::baseline, Simd::avx2, Simd::avx512}) {
    if (name(s) == text) return s;
  }
  throw_unknown("instruction set", text, {"baseline", "avx2", "avx512"});
}

std::vector<Simd> supported_simds() {
  hwy::SetSupportedTargetsForTest(0);
  int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
  std::vector<Simd> result = {Simd::baseline};
  for (Simd s : {Simd::avx2, Simd::avx512}) {
    if (targets & target_of(s)) result.push_back(s);
  }
  return result;
}

Simd simd() {
  hwy::ChosenTarget& chosen = hwy::GetChosenTarget();
  if (!chosen.IsInitialized()) chosen.Update(hwy::SupportedTargets());
  for (Simd s : {Simd::avx512, Simd::avx2}) {  // a better set has a smaller index
    if (chosen.GetIndex() <= hwy::Num0BitsBelowLS1Bit_Nonzero64(HWY_CHOSEN_TARGET_SHIFT(target_of(s)))) return s;
  }
  return Simd::baseline;
}

void use_simd(Simd wanted) {
  std::string supported;
  for (Simd s : supported_simds()) {
    if (s == wanted) return hwy::GetChosenTarget().Update(target_of(wanted));
    supported += fmt::format("{}{}", supported.empty() ? "" : ", ", name(s));
  }
  throw Error(Error::unsupported, "instruction set {}: this CPU has {}", name(wanted), supported);
}

}  // namespace fovea
