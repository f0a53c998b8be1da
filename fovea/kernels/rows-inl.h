// Walking along a row of floats in vectors of one instruction set, the last one partial.
//
//   for_each_vector(width, [&](int64_t i, auto part) HWY_ATTR { part.store(hn::Neg(part.load(x + i)), y + i); });
//   const float total = sum_of_terms(width, [&](int64_t i, auto part) HWY_ATTR { return part.load(x + i); });
//
// A partial vector loads zeros beyond the end and touches no memory there. An element's place decides which of the
// partial sums it joins, so that a row followed by zeros has the same sum, bit for bit.
#if defined(FOVEA_KERNELS_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ROWS_INL_H_
#undef FOVEA_KERNELS_ROWS_INL_H_
#else
#define FOVEA_KERNELS_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using RowTag = hn::ScalableTag<float>;
using RowVector = hn::Vec<RowTag>;

inline int64_t row_lanes() { return static_cast<int64_t>(hn::Lanes(RowTag())); }

struct WholeVector {
  HWY_INLINE RowVector load(const float* p) const { return hn::LoadU(RowTag(), p); }
  HWY_INLINE void store(RowVector v, float* p) const { hn::StoreU(v, RowTag(), p); }
  HWY_INLINE RowVector only(RowVector v) const { return v; }
};

struct PartOfVector {
  int64_t count;  // of lanes that are inside the row

  HWY_INLINE auto mask() const { return hn::FirstN(RowTag(), static_cast<size_t>(count)); }
  HWY_INLINE RowVector load(const float* p) const {
#if HWY_TARGET == HWY_EMU128
    // Its masked load reads the whole vector.
    RowVector v = hn::Zero(RowTag());
    for (int64_t i = 0; i < count; ++i) v.raw[i] = p[i];
    return v;
#else
    return hn::MaskedLoad(mask(), RowTag(), p);
#endif
  }
  HWY_INLINE void store(RowVector v, float* p) const { hn::BlendedStore(v, mask(), RowTag(), p); }
  HWY_INLINE RowVector only(RowVector v) const { return hn::IfThenElseZero(mask(), v); }
};

template <class Body>
HWY_INLINE void for_each_vector(int64_t width, const Body& body) {
  const int64_t lanes = row_lanes();
  int64_t i = 0;
  for (; i + lanes <= width; i += lanes) body(i, WholeVector());
  if (i < width) body(i, PartOfVector{width - i});
}

// Σ term(i): four sums over every fourth vector, then their lanes.
template <class Term>
HWY_INLINE float sum_of_terms(int64_t width, const Term& term) {
  const RowTag d;
  const int64_t lanes = row_lanes();
  RowVector s0 = hn::Zero(d), s1 = hn::Zero(d), s2 = hn::Zero(d), s3 = hn::Zero(d);
  int64_t i = 0;
  for (; i + 4 * lanes <= width; i += 4 * lanes) {
    s0 = hn::Add(s0, term(i, WholeVector()));
    s1 = hn::Add(s1, term(i + lanes, WholeVector()));
    s2 = hn::Add(s2, term(i + 2 * lanes, WholeVector()));
    s3 = hn::Add(s3, term(i + 3 * lanes, WholeVector()));
  }
  const auto rest = [&](int64_t at) HWY_ATTR {
    if (at >= width) return hn::Zero(d);
    if (at + lanes <= width) return term(at, WholeVector());
    const PartOfVector part = {width - at};
    return part.only(term(at, part));
  };
  if (i < width) {
    s0 = hn::Add(s0, rest(i));
    s1 = hn::Add(s1, rest(i + lanes));
    s2 = hn::Add(s2, rest(i + 2 * lanes));
    s3 = hn::Add(s3, rest(i + 3 * lanes));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
