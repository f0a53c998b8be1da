// A list of byte strings that only grows: in memory, and beyond a limit in a temporary file that is mapped, so that data
// larger than memory is read at random like any other.
//
//   Records records({.memory = int64_t{1} << 30});
//   records.add("bytes");   records[0] == "bytes";     // the view lasts as long as the list
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace fovea {

class Records final {
 public:
  struct Options {
    int64_t memory = int64_t{1} << 30;  // bytes (at least 1 MB); what comes after them goes to a file in TMPDIR
  };
  Records() = default;
  explicit Records(const Options& options) : memory_(options.memory) {}

  void add(std::string_view bytes);
  int64_t size() const { return static_cast<int64_t>(views_.size()); }
  std::string_view operator[](int64_t index) const;
  bool on_disk() const { return on_disk_; }  // some of it

 private:
  void grow(size_t needed);

  int64_t memory_ = Options{}.memory, total_ = 0;
  std::vector<std::shared_ptr<char>> segments_;
  std::vector<std::string_view> views_;
  size_t capacity_ = 0, used_ = 0;  // of the last segment
  bool on_disk_ = false;
};

}  // namespace fovea
