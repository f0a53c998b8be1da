// Attention whose tasks run out of memory while others wait for their turn: the call ends, with the failure.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <functional>
#include <new>

#include "fovea/base/scratch.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/attention_reference.h"

namespace {

std::atomic<bool> no_memory = false;

}  // namespace

// Scratch comes from here; it refuses when a test says so.
extern "C" void* aligned_alloc(size_t alignment, size_t size) noexcept {
  void* memory = nullptr;
  return no_memory || posix_memalign(&memory, alignment, size) != 0 ? nullptr : memory;
}

namespace fovea::kernels {
namespace {

// Runs `call` in a pool whose workers have no scratch yet and get none, until one of them took part and failed.
void expect_failure(const std::function<void()>& call) {
  bool failed = false;
  for (int round = 0; round < 500 && !failed; ++round) {
    const int count = round % 2 ? 2 : 4;
    set_threads(count + 1), set_threads(count);
    { Scratch().take<float>(8 << 20); }  // the caller's own
    no_memory = true;
    try {
      call();
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    no_memory = false;
  }
  EXPECT_TRUE(failed);
  set_threads(0);
}

AttentionCase a_case() {
  AttentionCase c(
      {.batch = 2, .queries = 400, .keys = 600, .heads = 4, .key_heads = 2, .width = 12, .value_width = 20});
  c.make_line();
  return c;
}

TEST(AttentionFailure, BackwardEndsWhenATaskHasNoMemory) {
  const AttentionCase c = a_case();
  AttentionArrays arrays(c);
  ForwardArrays forward(c.shape);
  attention_forward(arrays.call, forward.result);
  std::vector<float> d_q(arrays.q.size()), d_k(arrays.k.size()), d_v(arrays.v.size()), d_line(arrays.line.size());
  auto like = [](std::vector<float>& x, const TokenArray& t) {
    return TokenArrayOut{x.data(), t.batch, t.token, t.head};
  };
  const TokenArrayOut& out = forward.result.out;
  const TokenArray read = {out.data, out.batch, out.token, out.head};
  expect_failure([&] {
    attention_backward(arrays.call, {.out = read,
                                     .d_out = read,
                                     .sums = forward.sums.data(),
                                     .d_q = like(d_q, arrays.call.q),
                                     .d_k = like(d_k, arrays.call.k),
                                     .d_v = like(d_v, arrays.call.v),
                                     .d_line = d_line.data()});
  });
}

TEST(AttentionFailure, TheProbesMassEndsToo) {
  const AttentionCase c = a_case();
  AttentionArrays arrays(c);
  ForwardArrays forward(c.shape);
  const std::vector<int64_t> heads = {0, 1, 2, 3};
  std::vector<float> mass(2 * 4 * 600);
  expect_failure([&] {
    attention_forward(arrays.call, forward.result,
                      {.heads = heads, .row_end = 400, .key_end = 600, .mass = mass.data()});
  });
}

}  // namespace
}  // namespace fovea::kernels
