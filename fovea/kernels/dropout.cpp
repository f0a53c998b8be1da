#include "fovea/kernels/dropout.h"

#include "fovea/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/dropout.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernels/philox-inl.h"
#include "fovea/kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Elements [begin, end), begin a multiple of 64: as many as the widest vectors' counters give words.
void dropout_range(const DropoutOptions& o, const float* x, float* y, int64_t begin, int64_t end) {
  const RowTag d;
  const WordTag words_tag;
  const int64_t lanes = row_lanes();
  const RowVector probability = hn::Set(d, o.probability);
  const RowVector scale = hn::Set(d, static_cast<float>(1 / (1 - static_cast<double>(o.probability))));
  alignas(64) uint32_t words[4 * hn::MaxLanes(WordTag())];
  for (int64_t i = begin; i < end; i += 4 * lanes) {
    // The counters' lower halves do not overflow within a vector, since their number divides 2³².
    const uint64_t block = static_cast<uint64_t>(i) / 4;
    philox({hn::Iota(words_tag, static_cast<uint32_t>(block)), hn::Set(words_tag, static_cast<uint32_t>(block >> 32)),
            hn::Zero(words_tag), hn::Zero(words_tag)},
           o.key, words);
    const int64_t count = end - i < 4 * lanes ? end - i : 4 * lanes;
    for_each_vector(count, [&](int64_t j, auto part) HWY_ATTR {
      const auto word = hn::BitCast(hn::RebindToSigned<RowTag>(), hn::ShiftRight<8>(hn::Load(words_tag, words + j)));
      const RowVector u = hn::Mul(hn::ConvertTo(d, word), hn::Set(d, 0x1p-24f));
      const RowVector kept = hn::Mul(part.load(x + i + j), scale);
      part.store(hn::IfThenZeroElse(hn::Lt(u, probability), kept), y + i + j);
    });
  }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {

HWY_EXPORT(dropout_range);

void dropout(const DropoutOptions& o, const float* x, float* y) {
  constexpr int64_t group = 64;
  parallel_ranges((o.count + group - 1) / group, 128, [&](int64_t begin, int64_t end) {
    const int64_t last = end * group < o.count ? end * group : o.count;
    HWY_DYNAMIC_DISPATCH(dropout_range)(o, x, y, begin * group, last);
  });
}

}  // namespace fovea::kernels
#endif
