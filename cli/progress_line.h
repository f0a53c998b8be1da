// How far a long run is, on stderr if that is a terminal: rate and, where the whole is known, the time that remains.
//
//   ProgressLine progress({.unit = "lines", .whole = bytes});   progress.add(1, line.size() + 1);
//
// It says nothing in the first two seconds, and takes its line away at the end.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace fovea {

// How fast work is done that comes in bursts, as a batch's answers do: by the bursts of the last minute that are over, without
// the first one, which paid for the beginning too.
class Pace final {
 public:
  void add(double seconds, double parts);  // so many more were done at this time
  std::optional<double> rate() const;      // parts a second; none before three bursts
  std::optional<double> left(double seconds, double whole) const;

 private:
  struct Burst {
    double begin, end, done;  // its first and last moment, and all that was done by then
  };
  std::deque<Burst> bursts_;
};

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
  Pace units_pace_, parts_pace_;
  int64_t units_ = 0;
  bool terminal_ = false, visible_ = false;
};

// "1234 lines, 310 lines/s, 2:05 left"; what is not known yet is left out.
std::string progress_text(const std::string& unit, int64_t units, std::optional<double> rate,
                          std::optional<double> seconds_left);

}  // namespace fovea
