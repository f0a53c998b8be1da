#include "fovea/base/scratch.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

namespace fovea {
namespace {

struct Block {
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> data;
  size_t size = 0, used = 0;
};

struct Stack {
  std::vector<Block> blocks;
  size_t current = 0, total = 0;

  // Blocks grow, so the last ones are the largest.
  void trim() {
    for (; total > most_kept_scratch; blocks.pop_back()) total -= blocks.back().size;
  }
};

thread_local Stack stack;

// An odd number of cache lines between two buffers: a multiple of 4 KB apart they would compete for the same cache sets.
constexpr size_t line = 64, unit = size_t{1} << 20, most_bytes = size_t{1} << 60;
size_t padded(size_t bytes) { return (bytes + line - 1) / line * line + line; }

}  // namespace

Scratch::Scratch() : block_(stack.current), used_(stack.blocks.empty() ? 0 : stack.blocks[stack.current].used) {}

Scratch::~Scratch() {
  if (stack.blocks.empty()) return;
  for (size_t i = block_ + 1; i <= stack.current; ++i) stack.blocks[i].used = 0;
  stack.current = block_;
  stack.blocks[block_].used = used_;
  if (block_ == 0 && used_ == 0 && stack.total > most_kept_scratch) stack.trim();
}

void* Scratch::take_bytes(int64_t count, size_t element) {
  if (count < 0 || static_cast<size_t>(count) > most_bytes / element) throw std::bad_alloc();
  const size_t bytes = padded(static_cast<size_t>(count) * element);
  auto fits = [&] {
    if (stack.current >= stack.blocks.size()) return false;
    Block& b = stack.blocks[stack.current];
    return b.used + bytes <= b.size;
  };
  while (!fits() && stack.current + 1 < stack.blocks.size()) ++stack.current;
  if (!fits()) {
    const size_t size =
        std::max(stack.blocks.empty() ? 0 : 2 * stack.blocks.back().size, (bytes + unit - 1) / unit * unit);
    Block block;
    block.data.reset(static_cast<std::byte*>(std::aligned_alloc(4096, size)));
    if (!block.data) throw std::bad_alloc();
    block.size = size;
    stack.blocks.push_back(std::move(block));
    stack.total += size;
    stack.current = stack.blocks.size() - 1;
  }
  Block& b = stack.blocks[stack.current];
  std::byte* p = b.data.get() + b.used;
  b.used += bytes;
  return p;
}

size_t kept_scratch() { return stack.total; }

}  // namespace fovea
