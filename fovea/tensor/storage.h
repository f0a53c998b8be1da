// Memory for a tensor's numbers, aligned to a cache line. Large pieces that were given back are kept for the next
// tensor of about that size: fresh pages cost several times what most operations do.
//
//   std::shared_ptr<std::byte> memory = allocate_storage(bytes);
#pragma once

#include <cstddef>
#include <memory>

namespace fovea {

std::shared_ptr<std::byte> allocate_storage(size_t bytes);  // not initialised
size_t used_storage();                                      // bytes of the large pieces that are in use
// Bytes that are kept for reuse: at most 256 MB, or what brings those in use to one and a half times the most that ever were
// since the last release.
size_t kept_storage();
void release_storage();  // gives them back to the system

}  // namespace fovea
