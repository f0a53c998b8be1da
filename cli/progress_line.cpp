#include "cli/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace fovea {
namespace {

constexpr double pause = 0.1;          // ends a burst
constexpr double longest_burst = 0.5;  // what comes steadily is cut into such pieces
constexpr double memory = 60;          // seconds
constexpr size_t fewest_bursts = 3;  // the one before the counted ones, at least one of these, and the one that goes on

std::string clock_text(double seconds) {
  const auto whole = static_cast<int64_t>(std::ceil(seconds));
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

void Pace::add(double seconds, double parts) {
  const double done = parts + (bursts_.empty() ? 0 : bursts_.back().done);
  const bool goes_on =
      !bursts_.empty() && seconds - bursts_.back().end < pause && seconds - bursts_.back().begin < longest_burst;
  if (!goes_on) bursts_.push_back({seconds, seconds, 0});
  bursts_.back().end = seconds, bursts_.back().done = done;
  while (bursts_.size() > fewest_bursts + 1 && bursts_[1].end < seconds - memory) bursts_.pop_front();
}

std::optional<double> Pace::rate() const {
  if (bursts_.size() < fewest_bursts) return std::nullopt;
  const Burst &first = bursts_.front(), &last = bursts_[bursts_.size() - 2];
  return (last.done - first.done) / (last.end - first.end);
}

std::optional<double> Pace::left(double seconds, double whole) const {
  const std::optional<double> speed = rate();
  if (!speed || *speed <= 0) return std::nullopt;
  // The burst that has just begun is not over: what was done is known for the end of the last one.
  const Burst& last = bursts_[bursts_.size() - 2];
  return std::max(0.0, (whole - last.done) / *speed - (seconds - last.end));
}

std::string progress_text(const std::string& unit, int64_t units, std::optional<double> rate,
                          std::optional<double> seconds_left) {
  std::string text = fmt::format("{} {}", units, unit);
  if (rate) text += fmt::format(", {:.{}f} {}/s", *rate, *rate < 10 ? 1 : 0, unit);
  if (seconds_left) text += fmt::format(", {} left", clock_text(*seconds_left));
  return text;
}

ProgressLine::ProgressLine(const Options& options) : options_(options), terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (visible_) std::fputs("\r\x1b[K", stderr);
}

void ProgressLine::add(int64_t units, int64_t parts) {
  if (!terminal_ || options_.quiet) return;
  using Seconds = std::chrono::duration<double>;
  const Clock::time_point now = Clock::now();
  const double seconds = Seconds(now - begin_).count();
  units_ += units;
  units_pace_.add(seconds, static_cast<double>(units));
  parts_pace_.add(seconds, static_cast<double>(parts));
  if (seconds < 2 || Seconds(now - shown_).count() < 0.2) return;
  std::optional<double> left;
  if (options_.whole) left = parts_pace_.left(seconds, static_cast<double>(*options_.whole));
  fmt::print(stderr, "\r\x1b[K{}", progress_text(options_.unit, units_, units_pace_.rate(), left));
  std::fflush(stderr);
  shown_ = now, visible_ = true;
}

}  // namespace fovea
