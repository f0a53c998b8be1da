// Words and how they were cut the last time. One call of encode() has a cache to itself; calls at the same time on other
// threads have others, or none.
//
//   WordCaches::Lease cache = caches.lease();
//   if (const std::vector<Cut>* cuts = cache.find(word)) …
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>

#include "fovea/data/text/pretrained/subword_model.h"

namespace fovea {

class WordCaches final {
 public:
  struct Cache {
    static constexpr size_t most_words = 1 << 14, longest_word = 48, most_cuts = 16;
    struct Entry {
      uint64_t hash = 0;
      uint8_t size = 0, cuts = 0;  // size 0: empty
      char word[longest_word];
      Cut cut[most_cuts];
    };
    std::mutex mutex;
    std::vector<Entry> entries;
  };

  class Lease final {
   public:
    Lease(Cache* cache, std::unique_lock<std::mutex> lock) : cache_(cache), lock_(std::move(lock)) {}

    // What stands at the word's place; nullptr if it is another word, or there can be none.
    const Cache::Entry* find(std::string_view word) {
      if (!cache_ || word.size() > Cache::longest_word) return nullptr;
      hash_ = std::hash<std::string_view>()(word);
      const Cache::Entry& entry = cache_->entries[hash_ & (Cache::most_words - 1)];
      const bool same =
          entry.size == word.size() && entry.hash == hash_ && word == std::string_view(entry.word, entry.size);
      return same ? &entry : nullptr;
    }
    // After find() of the same word.
    void keep(std::string_view word, const Cut* cuts, size_t count) {
      if (!cache_ || word.size() > Cache::longest_word || word.empty() || count > Cache::most_cuts) return;
      Cache::Entry& entry = cache_->entries[hash_ & (Cache::most_words - 1)];
      entry.hash = hash_;
      entry.size = static_cast<uint8_t>(word.size());
      entry.cuts = static_cast<uint8_t>(count);
      word.copy(entry.word, word.size());
      std::copy_n(cuts, count, entry.cut);
    }

   private:
    Cache* cache_;
    std::unique_lock<std::mutex> lock_;
    uint64_t hash_ = 0;
  };

  Lease lease() const;

 private:
  mutable std::array<Cache, 8> caches_;
};

}  // namespace fovea
