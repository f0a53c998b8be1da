#include "fovea/kernels/simd.h"

#include <hwy/highway.h>

#include <atomic>
#include <string>

#include "fovea/base/catalogue.h"
#include "fovea/base/error.h"
#include "fovea/kernels/unit.h"

namespace fovea {
namespace {

int64_t target_of(Simd s) {
  switch (s) {
    case Simd::avx512:
      return HWY_AVX3;
    case Simd::avx2:
      return HWY_AVX2;
    case Simd::amx:
    case Simd::baseline:
      break;
  }
  return HWY_STATIC_TARGET;
}

std::atomic<bool> with_tiles = true;  // unless another set was chosen

std::vector<Simd> supported_vectors() {
  hwy::SetSupportedTargetsForTest(0);
  int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
  std::vector<Simd> result = {Simd::baseline};
  for (Simd s : {Simd::avx2, Simd::avx512}) {
    if (targets & target_of(s)) result.push_back(s);
  }
  return result;
}

}  // namespace

std::string_view name(Simd s) {
  switch (s) {
    case Simd::amx:
      return "amx";
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
  for (Simd s : {Simd::baseline, Simd::avx2, Simd::avx512, Simd::amx}) {
    if (name(s) == text) return s;
  }
  throw_unknown("instruction set", text, {"baseline", "avx2", "avx512", "amx"});
}

std::vector<Simd> supported_simds() {
  std::vector<Simd> result = supported_vectors();
  if (kernels::units().tiles) result.push_back(Simd::amx);
  return result;
}

Simd simd() {
  if (with_tiles.load(std::memory_order_relaxed) && kernels::units().tiles) return Simd::amx;
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
    supported += fmt::format("{}{}", supported.empty() ? "" : ", ", name(s));
    if (s != wanted) continue;
    with_tiles = wanted == Simd::amx;
    return hwy::GetChosenTarget().Update(target_of(wanted == Simd::amx ? supported_vectors().back() : wanted));
  }
  throw Error(Error::unsupported, "instruction set {}: this CPU has {}", name(wanted), supported);
}

}  // namespace fovea
