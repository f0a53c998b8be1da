#include "fovea/data/datasets/table.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/datasets/columns.h"
#include "fovea/data/text/utf8.h"

namespace fovea {
namespace {

constexpr size_t most_lines_of_a_cell = 1000;  // in a TSV, where a quote may be no quote

std::vector<std::string> split(std::string_view line, char delimiter) {
  std::vector<std::string> cells;
  for (;;) {
    const size_t end = line.find(delimiter);
    cells.emplace_back(line.substr(0, end));
    if (end == std::string_view::npos) return cells;
    line.remove_prefix(end + 1);
  }
}

bool is_quoted(std::string_view cell) { return cell.size() >= 2 && cell.front() == '"' && cell.back() == '"'; }

bool are_names(const std::vector<std::string>& cells, bool quoted) {
  return cells.size() > 1 && std::ranges::all_of(cells, [&](std::string_view cell) {
           if (quoted != is_quoted(cell) || cell.find(' ') != std::string_view::npos) return false;
           return looks_like_a_name(quoted ? cell.substr(1, cell.size() - 2) : cell);
         });
}

// Whether a delimiter stands in the line outside of quotes.
bool has_outside_quotes(std::string_view line, char delimiter) {
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    if (c == delimiter && !quoted) return true;
  }
  return false;
}

char delimiter_of(const std::string& path, std::string_view first_line) {
  const std::string_view name = data_name(path);
  for (const char* ending : {".tsv", ".tab", ".txt"}) {
    if (name.ends_with(ending)) return '\t';
  }
  if (name.ends_with(".csv")) {
    for (const char c : {',', ';', '\t'}) {
      if (has_outside_quotes(first_line, c)) return c;
    }
    return ',';
  }
  for (const char c : {',', ';'}) {
    const std::vector<std::string> cells = split(first_line, c);
    if (first_line.find('\t') == std::string_view::npos && (are_names(cells, false) || are_names(cells, true)))
      return c;
  }
  return '\t';
}

// The text of a cell in quotes that are doubled inside.
std::string unquoted(std::string_view cell) {
  std::string text;
  for (size_t i = 1; i + 1 < cell.size(); ++i) {
    text += cell[i];
    if (cell[i] == '"') ++i;
  }
  return text;
}

// Where the quote that closes text[0] stands: before a tab or at the end, with only doubled ones before it. npos: nowhere;
// text.size(): the text ends before.
size_t closing_quote(std::string_view text, size_t begin = 1) {
  for (size_t i = begin; i < text.size(); ++i) {
    if (text[i] != '"') continue;
    if (i + 1 == text.size() || text[i + 1] == '\t') return i;
    if (text[i + 1] != '"') return std::string_view::npos;
    ++i;
  }
  return text.size();
}

// `open`: the last cell begins with a quote that nothing closes.
std::vector<std::string> split_quoted_tabs(std::string_view text, bool& open) {
  std::vector<std::string> cells;
  for (;;) {
    const size_t close = text.starts_with('"') ? closing_quote(text) : std::string_view::npos;
    const bool quoted = close < text.size();
    const size_t end = quoted ? close + 1 : std::min(text.find('\t'), text.size());
    cells.push_back(quoted ? unquoted(text.substr(0, end)) : std::string(text.substr(0, end)));
    open = close == text.size();
    if (end == text.size()) return cells;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string_view data_name(std::string_view path) {
  if (const size_t member = path.rfind(".zip:"); member != std::string_view::npos) path.remove_prefix(member + 5);
  if (path.ends_with(".gz")) path.remove_suffix(3);
  return path;
}

Table::Table(const std::string& path, char delimiter) : path_(path), lines_(path), delimiter_(delimiter) {
  require(delimiter != '"' && delimiter != '\n' && delimiter != '\r',
          "{}: found a quote or a line break as the delimiter, expected another character", path);
}

std::string Table::where() const { return fmt::format("{}:{}", path_ == "-" ? "stdin" : path_, row_); }

bool Table::next_line(std::string& line) {
  if (!ahead_.empty()) {
    line = std::move(ahead_.front());
    ahead_.pop_front();
  } else if (!lines_.next(line)) {
    return false;
  }
  ++number_;
  return true;
}

void Table::begin(const std::string& first_line) {
  if (delimiter_ == 0) delimiter_ = delimiter_of(path_, first_line);
  quotes_ = delimiter_ != '\t' || are_names(split(first_line, '\t'), true);
  names_ = std::ranges::all_of(split(first_line, delimiter_), looks_like_a_name);
  begun_ = true;
}

bool Table::next(std::vector<std::string>& row) {
  row.clear();
  std::string line;
  do {
    if (!next_line(line)) return false;
  } while (trim(line).empty());
  row_ = number_;
  if (!begun_) begin(line);
  if (quotes_) {
    read_quoted_row(std::move(line), row);
  } else {
    read_tab_row(line, row);
  }
  if (width_ == 0) width_ = row.size();
  return true;
}

// As Python's csv module: a quote opens a cell only at its beginning, and what follows a closing quote is taken as it is.
void Table::read_quoted_row(std::string line, std::vector<std::string>& row) {
  std::string cell;
  enum { start, plain, quoted } state = start;
  size_t size = 0;
  for (;;) {
    size += line.size() + 1;
    for (size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      if (state == quoted) {
        if (c != '"') {
          cell += c;
        } else if (i + 1 < line.size() && line[i + 1] == '"') {
          cell += line[++i];
        } else {
          state = plain;
        }
      } else if (c == delimiter_) {
        row.push_back(std::move(cell));
        cell.clear();
        state = start;
      } else if (c == '"' && state == start) {
        state = quoted;
      } else {
        cell += c;
        state = plain;
      }
    }
    if (state != quoted) return row.push_back(std::move(cell));
    cell += '\n';
    if (size > Lines::longest || !next_line(line)) {
      throw Error(Error::corrupt, "{}: found a quote that is not closed {}; a quote inside a cell in quotes is doubled",
                  where(), size > Lines::longest ? "within 16 MB" : "by the end of the file");
    }
  }
}

void Table::read_tab_row(const std::string& line, std::vector<std::string>& row) {
  row = split(line, '\t');
  const bool fits = row.size() == width_;
  if (width_ > 1 && line.find('"') != std::string::npos && (!fits || row.back().starts_with('"'))) {
    std::vector<std::string> below;
    std::optional<std::vector<std::string>> other = read_quoted_tabs(line, below);
    if (other && other->size() == width_ && (!fits || !below.empty())) {
      row = std::move(*other);
      return;
    }
    number_ -= static_cast<int64_t>(below.size());
    ahead_.insert(ahead_.begin(), below.begin(), below.end());
  }
  for (std::string& cell : row) {
    if (names_ && is_quoted(cell) && cell.find("\"\"", 1) < cell.size() - 2 && closing_quote(cell) == cell.size() - 1) {
      cell = unquoted(cell);
    }
  }
}

// The cells of a row whose last one may go on in the lines below it, which are no rows themselves: they have no tab before the
// quote that closes the cell. `below` gets all that were looked at.
std::optional<std::vector<std::string>> Table::read_quoted_tabs(std::string text, std::vector<std::string>& below) {
  bool open = false;
  std::vector<std::string> cells = split_quoted_tabs(text, open);
  while (open) {
    std::string line;
    size_t close = 0;
    do {
      if (below.size() == most_lines_of_a_cell || text.size() > Lines::longest || !next_line(line)) return {};
      below.push_back(line);
      close = closing_quote(line, 0);
      if (close == std::string::npos || line.find('\t') < close) return {};
      text += '\n' + line;
    } while (close == line.size());
    cells = split_quoted_tabs(text, open);
  }
  return cells;
}

}  // namespace fovea
