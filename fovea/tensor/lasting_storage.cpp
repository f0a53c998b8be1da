#include "fovea/tensor/lasting_storage.h"

#include <sys/mman.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include "fovea/tensor/storage.h"

namespace fovea {
namespace {

constexpr size_t line = 64, huge_page = size_t{1} << 21, slab_size = 8 * huge_page;
constexpr size_t largest = slab_size / 4;  // larger ones waste too much of a slab's end

struct Slab {
  Slab() : base(static_cast<std::byte*>(std::aligned_alloc(huge_page, slab_size))) {
    if (!base) throw std::bad_alloc();
    madvise(base, slab_size, MADV_HUGEPAGE);
  }
  ~Slab() { std::free(base); }
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

  std::byte* base;
  size_t taken = 0, in_use = 0;  // bytes, pieces
};

struct Piece {
  Slab* slab;
  std::byte* data;
  size_t size;
};

// Like the system's allocator it belongs to the process, and no result depends on it.
class Slabs {
 public:
  Piece take(size_t size) {
    std::scoped_lock lock(mutex_);
    std::vector<Piece>& free = free_[size];
    if (free.empty()) {
      if (!latest_ || latest_->taken + size > slab_size) start_slab();
      free.push_back({latest_, latest_->base + latest_->taken, size});
      latest_->taken += size;
    }
    const Piece piece = free.back();
    free.pop_back();
    ++piece.slab->in_use;
    return piece;
  }

  void give(const Piece& piece) {
    std::scoped_lock lock(mutex_);
    free_[piece.size].push_back(piece);
    if (--piece.slab->in_use == 0) drop(piece.slab);
  }

  size_t count() {
    std::scoped_lock lock(mutex_);
    return slabs_.size();
  }

 private:
  void start_slab() {
    auto slab = std::make_unique<Slab>();
    latest_ = slab.get();
    slabs_.emplace(latest_, std::move(slab));
  }

  void drop(Slab* slab) {
    for (auto& [size, pieces] : free_) std::erase_if(pieces, [&](const Piece& p) { return p.slab == slab; });
    if (slab == latest_) latest_ = nullptr;
    slabs_.erase(slab);
  }

  std::mutex mutex_;
  std::map<Slab*, std::unique_ptr<Slab>> slabs_;
  std::map<size_t, std::vector<Piece>> free_;  // by their sizes
  Slab* latest_ = nullptr;
};

// Never destroyed: a weight in static memory may outlive everything else.
Slabs& slabs() {
  static Slabs& instance = *new Slabs;
  return instance;
}

}  // namespace

std::shared_ptr<std::byte> allocate_lasting(size_t bytes) {
#ifdef FOVEA_SANITIZED  // which watches each piece by itself
  return allocate_storage(bytes);
#endif
  const size_t size =
      (bytes + line - 1) / line * line + line;  // a line apart: powers of two would share a cache's sets
  if (size > largest) return allocate_storage(bytes);
  const Piece piece = slabs().take(size);
  return {piece.data, [piece](std::byte*) { slabs().give(piece); }};
}

size_t lasting_slabs() { return slabs().count(); }

}  // namespace fovea
