#include "cli/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace fovea {
namespace {

std::string clock_text(double seconds) {
  const auto whole = static_cast<int64_t>(std::ceil(seconds));
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

std::string progress_text(const std::string& unit, int64_t units, double seconds, std::optional<double> share) {
  std::string text = fmt::format("{} {}, {:.{}f} {}/s", units, unit, static_cast<double>(units) / seconds,
                                 static_cast<double>(units) < 10 * seconds ? 1 : 0, unit);
  if (share && *share > 0) text += fmt::format(", {} left", clock_text(seconds * (1 - *share) / *share));
  return text;
}

ProgressLine::ProgressLine(const Options& options) : options_(options), terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (visible_) std::fputs("\r\x1b[K", stderr);
}

void ProgressLine::add(int64_t units, int64_t parts) {
  units_ += units, parts_ += parts;
  if (!terminal_ || options_.quiet) return;
  using Seconds = std::chrono::duration<double>;
  const Clock::time_point now = Clock::now();
  const double seconds = Seconds(now - begin_).count();
  if (seconds < 2 || Seconds(now - shown_).count() < 0.2) return;
  std::optional<double> share;
  if (options_.whole && *options_.whole > 0)
    share = std::min(1.0, static_cast<double>(parts_) / static_cast<double>(*options_.whole));
  fmt::print(stderr, "\r\x1b[K{}", progress_text(options_.unit, units_, seconds, share));
  std::fflush(stderr);
  shown_ = now, visible_ = true;
}

}  // namespace fovea
