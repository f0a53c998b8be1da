#include "fovea/train/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json.h"

namespace fovea {
namespace {

using Json = nlohmann::ordered_json;

LogLine::Numbers numbers_of(const Json& object, const std::string& where) {
  LogLine::Numbers numbers;
  for (const auto& [key, value] : object.items()) {
    if (key == "step" || key == "validation") continue;
    if (!value.is_number() && !value.is_null()) {
      throw Error(Error::corrupt, "{}: '{}': found {}, expected a number", where, key, value.dump());
    }
    numbers.emplace_back(key, value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>());
  }
  return numbers;
}

LogLine parse_line(std::string_view text, const std::string& where) {
  Json object;
  try {
    object = parse_json<Json>(text, where);
  } catch (const Error&) {  // told below, with the beginning of the line
  }
  if (!object.is_object() || !object.contains("step") || !object["step"].is_number_integer()) {
    const std::string shown(text.substr(0, 40));
    throw Error(Error::corrupt, "{}: found '{}', expected a JSON object with a step, as fovea train writes it", where,
                shown);
  }
  LogLine line = {object["step"].get<int64_t>(), numbers_of(object, where), {}};
  if (object.contains("validation")) {
    if (!object["validation"].is_object()) {
      throw Error(Error::corrupt, "{}: 'validation': found {}, expected names and numbers", where,
                  object["validation"].dump());
    }
    line.validation = numbers_of(object["validation"], where);
  }
  return line;
}

}  // namespace

std::string to_text(const LogLine& line) {
  Json object = {{"step", line.step}};
  for (const auto& [name, value] : line.numbers) object[name] = value;
  for (const auto& [name, value] : line.validation) object["validation"][name] = value;
  return object.dump();
}

std::vector<LogLine> parse_log(std::string_view text, std::string_view where) {
  std::vector<LogLine> lines;
  int64_t number = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    ++number;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (end == std::string_view::npos && !Json::accept(line) && line.starts_with("{")) continue;
    lines.push_back(parse_line(line, fmt::format("{}:{}", where, number)));
  }
  return lines;
}

std::vector<LogLine> read_log(const std::filesystem::path& path) {
  return parse_log(MappedFile(path).text(), path.string());
}

void truncate_log(const std::filesystem::path& path, int64_t step) {
  if (!path_exists(path)) return;
  std::string kept;
  for (const LogLine& line : read_log(path)) {
    if (line.step <= step) kept += to_text(line) + "\n";
  }
  write_text(path, kept);
}

LogFile::LogFile(std::filesystem::path path) : path_(std::move(path)) {
  descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw Error(Error::io, "{}: cannot write: {}", path_.string(), std::strerror(errno));
}

LogFile::~LogFile() { close(descriptor_); }

void LogFile::append(const LogLine& line) {
  const std::string text = to_text(line) + "\n";
  for (size_t done = 0; done < text.size();) {
    const ssize_t written = write(descriptor_, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw Error(Error::io, "{}: cannot write: {}", path_.string(), std::strerror(errno));
    done += static_cast<size_t>(written);
  }
}

void LogFile::sync() {
  if (fsync(descriptor_) != 0) throw Error(Error::io, "{}: cannot write: {}", path_.string(), std::strerror(errno));
}

}  // namespace fovea
