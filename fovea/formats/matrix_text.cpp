#include "fovea/formats/matrix_text.h"

#include <charconv>
#include <cmath>

namespace fovea {

std::vector<std::string> split_text(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = text.find(separator);
    std::string_view part = text.substr(0, end);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    parts.emplace_back(part);
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Tensor parse_matrix(std::string_view text, std::string_view where) {
  std::vector<float> values;
  int64_t columns = -1, rows = 0;
  for (const std::string& row : split_text(text, ';')) {
    int64_t count = 0;
    for (const std::string& part : split_text(row, ',')) {
      float value = 0;
      const char* begin = part.data() + (part.starts_with('+') ? 1 : 0);
      auto [end, failure] = std::from_chars(begin, part.data() + part.size(), value);
      require(failure == std::errc() && end == part.data() + part.size() && std::isfinite(value),
              "{}: found '{}', expected numbers such as \"1,2;3,4\"", where, part);
      values.push_back(value);
      ++count;
    }
    require(columns < 0 || columns == count, "{}: found a row of {} numbers after rows of {}, expected equal ones",
            where, count, columns);
    columns = count;
    ++rows;
  }
  return tensor({rows, columns}, values);
}

}  // namespace fovea
