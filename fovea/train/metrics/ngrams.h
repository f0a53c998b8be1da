// How often each n-gram of a sequence of words or characters occurs.
//
//   Ngrams hypothesis(python::split("a b a b"), {.orders = 2, .separator = " "});
//   hypothesis[2].at("a b");                           // 2
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fovea {

class Ngrams final {
 public:
  struct Options {
    int orders = 4;
    std::string_view separator = {};  // " " between words; nothing between characters
  };
  using Counts = std::unordered_map<std::string_view, int64_t>;

  Ngrams(const std::vector<std::string_view>& units, const Options& options);
  Ngrams(Ngrams&&) = default;
  Ngrams& operator=(Ngrams&&) = default;

  const Counts& operator[](int order) const { return counts_[static_cast<size_t>(order - 1)]; }
  int64_t total(int order) const;  // with repetitions

 private:
  std::vector<char> text_;  // the units in a row, which the keys of the counts point into
  std::vector<Counts> counts_;
  int64_t units_;
};

// Σ min(count in a, count in b)
int64_t overlap(const Ngrams::Counts& a, const Ngrams::Counts& b);

}  // namespace fovea
