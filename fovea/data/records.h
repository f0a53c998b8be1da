// A list of byte strings that only grows: in memory, and beyond a limit in a temporary file that is mapped, so that data
// larger than memory is read at random like any other.
//
//   Records records({.memory = int64_t{1} << 30});
//   records.add("bytes");   records[0] == "bytes";     // the view lasts until the next add
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

class Records final {
 public:
  struct Options {
    int64_t memory = int64_t{1} << 30;  // bytes; what comes after them goes to a file in TMPDIR without a name
  };
  Records() : Records(Options{}) {}
  explicit Records(const Options& options);
  Records(Records&&) noexcept;
  Records& operator=(Records&&) noexcept;
  ~Records();

  void add(std::string_view bytes);
  int64_t size() const { return static_cast<int64_t>(ends_.size()); }
  std::string_view operator[](int64_t index) const;
  bool on_disk() const;  // some of it

 private:
  class Overflow;
  Options options_;
  std::string bytes_;
  std::vector<uint64_t> ends_;
  mutable std::unique_ptr<Overflow> overflow_;
};

}  // namespace fovea
