#include "fovea/formats/block_matrix.h"

#include "fovea/base/threads.h"
#include "fovea/kernels/blocks.h"
#include "fovea/tensor/storage.h"

namespace fovea {
namespace {

constexpr int64_t grain = 1 << 14;  // numbers that are worth another thread

}  // namespace

Tensor BlockMatrix::numbers() const {
  Tensor x(shape, DType::f32);
  const auto [numbers, bytes] = block_of(type);
  float* to = x.data<float>();
  parallel_ranges(shape.elements() / numbers, grain / numbers, [&](int64_t begin, int64_t end) {
    kernels::dequantise(type, memory.get() + begin * bytes, (end - begin) * numbers, to + begin * numbers);
  });
  return x;
}

BlockMatrix quantised(const Tensor& given, BlockType type) {
  const auto [numbers, bytes] = block_of(type);
  require(given.rank() > 0 && given.size(-1) % numbers == 0,
          "quantised: found {}, expected rows of whole blocks of {} for {}", given.shape(), numbers, name(type));
  const Tensor x = given.detach().to(DType::f32).contiguous();
  const int64_t blocks = x.elements() / numbers;
  const std::shared_ptr<std::byte> memory = allocate_storage(static_cast<size_t>(blocks * bytes));
  parallel_ranges(blocks, grain / numbers, [&](int64_t begin, int64_t end) {
    kernels::quantise(type, x.data<float>() + begin * numbers, (end - begin) * numbers, memory.get() + begin * bytes);
  });
  return {type, given.shape(), memory};
}

}  // namespace fovea
