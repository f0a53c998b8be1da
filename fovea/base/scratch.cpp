#include "fovea/base/scratch.h"

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
  size_t current = 0;
};

thread_local Stack stack;

// An odd number of cache lines between two buffers: buffers a multiple of 4 KB apart would compete for the same cache
// sets.
constexpr size_t line = 64;
size_t padded(size_t bytes) { return (bytes + line - 1) / line * line + line; }

}  // namespace

Scratch::Scratch() : block_(stack.current), used_(stack.blocks.empty() ? 0 : stack.blocks[stack.current].used) {}

Scratch::~Scratch() {
  if (stack.blocks.empty()) return;
  for (size_t i = block_ + 1; i <= stack.current; ++i) stack.blocks[i].used = 0;
  stack.current = block_;
  stack.blocks[block_].used = used_;
}

void* Scratch::take_bytes(size_t bytes) {
  bytes = padded(bytes);
  auto fits = [&] {
    if (stack.current >= stack.blocks.size()) return false;
    Block& b = stack.blocks[stack.current];
    return b.used + bytes <= b.size;
  };
  while (!fits() && stack.current + 1 < stack.blocks.size()) ++stack.current;
  if (!fits()) {
    size_t size = stack.blocks.empty() ? size_t{1} << 20 : 2 * stack.blocks.back().size;
    while (size < bytes) size *= 2;
    Block block;
    block.data.reset(static_cast<std::byte*>(std::aligned_alloc(4096, size)));
    if (!block.data) throw std::bad_alloc();
    block.size = size;
    stack.blocks.push_back(std::move(block));
    stack.current = stack.blocks.size() - 1;
  }
  Block& b = stack.blocks[stack.current];
  std::byte* p = b.data.get() + b.used;
  b.used += bytes;
  return p;
}

}  // namespace fovea
