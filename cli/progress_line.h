// How far a long run is, on stderr if that is a terminal: rate and, where the whole is known, the time that remains.
//
//   ProgressLine progress({.unit = "lines", .whole = bytes});   progress.add(1, line.size() + 1);
//
// It says nothing in the first two seconds, and takes its line away at the end.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace fovea {

class ProgressLine final {
 public:
  struct Options {
    std::string unit;              // what is counted, in the plural
    std::optional<int64_t> whole;  // of the parts
    bool quiet = false;
  };
  explicit ProgressLine(const Options&);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void add(int64_t units, int64_t parts);

 private:
  using Clock = std::chrono::steady_clock;
  Options options_;
  Clock::time_point begin_ = Clock::now(), shown_ = begin_;
  int64_t units_ = 0, parts_ = 0;
  bool terminal_ = false, visible_ = false;
};

// "1,234 lines, 310 lines/s, 2:05 left"
std::string progress_text(const std::string& unit, int64_t units, double seconds, std::optional<double> share);

}  // namespace fovea
