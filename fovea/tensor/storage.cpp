#include "fovea/tensor/storage.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

namespace fovea {
namespace {

constexpr size_t line = 64, page = 4096, huge_page = size_t{1} << 21;
constexpr size_t smallest_kept = size_t{1} << 16;  // below, the allocator itself reuses memory well
constexpr size_t always_kept = size_t{256} << 20, most_blocks = 4096;

// Its address tells a thread from others.
thread_local char this_thread;

struct Block {
  std::byte* base = nullptr;
  size_t size = 0;
  const char* giver = nullptr;  // the thread that gave it back: what it wrote is in the caches of its core
};

Block new_block(size_t size) {
  const bool huge = size >= 2 * huge_page;
  void* memory = std::aligned_alloc(huge ? huge_page : page, size);
  if (!memory) throw std::bad_alloc();
  if (huge) madvise(memory, size, MADV_HUGEPAGE);
  return {static_cast<std::byte*>(memory), size};
}

// Like the system's allocator it belongs to the process, and no result depends on it.
class FreeBlocks {
 public:
  Block take(size_t size) {
    {
      std::scoped_lock lock(mutex_);
      // The smallest that fits, and of these the latest, which is the likeliest to be in a cache. The sizes of a training
      // change from batch to batch, so a block of up to twice the size is better than fresh pages.
      size_t best = blocks_.size();
      for (size_t i = blocks_.size(); i-- > 0;) {
        if (blocks_[i].size < size || blocks_[i].size > 2 * size) continue;
        const auto rank = [](const Block& b) { return std::pair(b.size, b.giver != &this_thread); };
        if (best == blocks_.size() || rank(blocks_[i]) < rank(blocks_[best])) best = i;
        if (rank(blocks_[best]) == std::pair(size, false)) break;
      }
      if (best < blocks_.size()) {
        const Block block = blocks_[best];
        blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(best));
        total_ -= block.size;
        count_use(block.size);
        return block;
      }
    }
    const Block block = new_block(size);
    std::scoped_lock lock(mutex_);
    count_use(size);
    return block;
  }

  void give(Block block) {
    block.giver = &this_thread;
    std::scoped_lock lock(mutex_);
    blocks_.push_back(block);
    total_ += block.size;
    used_ -= block.size;
    while (total_ > most_kept() || blocks_.size() > most_blocks) drop_oldest();
  }

  size_t total() {
    std::scoped_lock lock(mutex_);
    return total_;
  }

  size_t used() {
    std::scoped_lock lock(mutex_);
    return used_;
  }

  void clear() {
    std::scoped_lock lock(mutex_);
    while (!blocks_.empty()) drop_oldest();
    most_used_ = used_;
  }

  // Where the numbers begin in a new piece: x[i] and y[i] a multiple of 4 KB apart would slow each other down.
  size_t next_offset() {
    std::scoped_lock lock(mutex_);
    return offset_ = (offset_ + 11 * line) % page;
  }

 private:
  // A training step gives back all it took and then takes it again, in other sizes: as much as was ever in use at once is
  // worth keeping, and half as much again.
  size_t most_kept() const { return std::max(always_kept, most_used_ + most_used_ / 2 - used_); }

  void count_use(size_t size) {
    used_ += size;
    most_used_ = std::max(most_used_, used_);
  }

  void drop_oldest() {
    std::free(blocks_.front().base);
    total_ -= blocks_.front().size;
    blocks_.erase(blocks_.begin());
  }

  std::mutex mutex_;
  std::vector<Block> blocks_;
  size_t total_ = 0, used_ = 0, most_used_ = 0, offset_ = 0;
};

// Never destroyed: a tensor in static memory may outlive everything else.
FreeBlocks& free_blocks() {
  static FreeBlocks& instance = *new FreeBlocks;
  return instance;
}

}  // namespace

// Small pieces are aligned by hand, since aligned_alloc goes past the allocator's fast paths.
std::shared_ptr<std::byte> allocate_storage(size_t bytes) {
  if (bytes < smallest_kept) {
    void* memory = std::malloc(bytes + 2 * line);
    if (!memory) throw std::bad_alloc();
    const size_t past = reinterpret_cast<uintptr_t>(memory) % line;
    return {static_cast<std::byte*>(memory) + (line - past), [memory](std::byte*) { std::free(memory); }};
  }
  const size_t unit = bytes >= 2 * huge_page ? huge_page : smallest_kept / 2;
  const Block block = free_blocks().take((bytes + page + line + unit - 1) / unit * unit);
  return {block.base + free_blocks().next_offset(), [block](std::byte*) { free_blocks().give(block); }};
}

size_t used_storage() { return free_blocks().used(); }

size_t kept_storage() { return free_blocks().total(); }

void release_storage() { free_blocks().clear(); }

}  // namespace fovea
