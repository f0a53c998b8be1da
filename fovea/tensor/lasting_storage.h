// Memory for what stays while many steps read it, weights and caches: pieces side by side in huge pages, since a step that reads a
// hundred megabytes once would else look up the place of every four kilobytes.
//
//   std::shared_ptr<std::byte> page = allocate_lasting(49152);
#pragma once

#include <cstddef>
#include <memory>

namespace fovea {

// Not initialised, aligned to a cache line. A piece that was given back is the next of its size; a slab of which no piece is in use goes
// back to the system.
std::shared_ptr<std::byte> allocate_lasting(size_t bytes);
size_t lasting_slabs();  // how many are in use

}  // namespace fovea
