#include "fovea/data/text/pretrained/word_cache.h"

namespace fovea {

WordCaches::Lease WordCaches::lease() const {
  for (Cache& cache : caches_) {
    std::unique_lock lock(cache.mutex, std::try_to_lock);
    if (!lock.owns_lock()) continue;
    if (cache.entries.empty()) cache.entries.resize(Cache::most_words);
    return {&cache, std::move(lock)};
  }
  return {nullptr, {}};
}

}  // namespace fovea
