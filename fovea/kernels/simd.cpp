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
    case Simd::avx512_bf16:
      return HWY_AVX3;
    case Simd::avx2:
      return HWY_AVX2;
    case Simd::amx:
    case Simd::baseline:
      break;
  }
  return HWY_STATIC_TARGET;
}

std::atomic<Simd> best = Simd::amx;  // that may be used: another one was chosen

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
    case Simd::avx512_bf16:
      return "avx512bf16";
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
  for (Simd s : {Simd::baseline, Simd::avx2, Simd::avx512, Simd::avx512_bf16, Simd::amx}) {
    if (name(s) == text) return s;
  }
  throw_unknown("instruction set", text, {"baseline", "avx2", "avx512", "avx512bf16", "amx"});
}

std::vector<Simd> supported_simds() {
  std::vector<Simd> result = supported_vectors();
  if (kernels::units().avx512_bf16 && result.back() == Simd::avx512) result.push_back(Simd::avx512_bf16);
  if (kernels::units().tiles) result.push_back(Simd::amx);
  return result;
}

Simd simd() {
  const Simd most = best.load(std::memory_order_relaxed);
  const kernels::Units& units = kernels::units();
  if (most == Simd::amx && units.tiles) return Simd::amx;
  hwy::ChosenTarget& chosen = hwy::GetChosenTarget();
  if (!chosen.IsInitialized()) chosen.Update(hwy::SupportedTargets());
  for (Simd s : {Simd::avx512, Simd::avx2}) {  // a better set has a smaller index
    if (chosen.GetIndex() <= hwy::Num0BitsBelowLS1Bit_Nonzero64(HWY_CHOSEN_TARGET_SHIFT(target_of(s))))
      return s == Simd::avx512 && most > s && units.avx512_bf16 ? Simd::avx512_bf16 : s;
  }
  return Simd::baseline;
}

void use_simd(Simd wanted) {
  std::string supported;
  for (Simd s : supported_simds()) {
    supported += fmt::format("{}{}", supported.empty() ? "" : ", ", name(s));
    if (s != wanted) continue;
    best = wanted;
    return hwy::GetChosenTarget().Update(target_of(wanted == Simd::amx ? supported_vectors().back() : wanted));
  }
  throw Error(Error::unsupported, "instruction set {}: this CPU has {}", name(wanted), supported);
}

}  // namespace fovea
