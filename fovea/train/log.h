// The log of a training, log.jsonl: one JSON object a line, with the step and what was measured at it.
//
//   LogFile log("my-model/log.jsonl");   log.append({.step = 50, .numbers = {{"loss", 2.5}}});
//   for (const LogLine& line : read_log("my-model/log.jsonl")) …
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fovea {

struct LogLine {
  using Numbers = std::vector<std::pair<std::string, double>>;
  int64_t step = 0;
  Numbers numbers;     // loss, learning_rate, gradient_norm, tokens_per_second, seconds, epochs
  Numbers validation;  // the scores, in a line of their own; its numbers are gradient_mean and gradient_variance
};

std::string to_text(const LogLine&);  // without the line's end; a number that is not finite becomes null

// Every line but empty ones; an Error that names the line if it is none of ours. A last line that was cut short, as a
// training that runs or was killed leaves it, is passed over.
std::vector<LogLine> read_log(const std::filesystem::path& path);
std::vector<LogLine> parse_log(std::string_view text, std::string_view where);

// Leaves only the lines up to `step`, as the log stood then.
void truncate_log(const std::filesystem::path& path, int64_t step);

class LogFile final {
 public:
  explicit LogFile(std::filesystem::path path);  // goes on at the end of the file, if there is one
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  void append(const LogLine&);
  void sync();  // what was appended is on the disk

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace fovea
