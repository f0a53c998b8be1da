// The rows of a table: CSV as RFC 4180 and Python's csv module read it, or TSV; plain or packed, as lines.h reads files.
//
//   Table table("reviews.csv.gz");
//   for (std::vector<std::string> row; table.next(row);) …   // row[0]; table.where() is "reviews.csv.gz:17"
//
// The delimiter follows from the name: a comma in .csv (or ; or a tab if its first line has no comma), a tab elsewhere (in a
// file without an ending also , or ; if the first line is made of names between them). In CSV a cell in quotes may hold
// delimiters, line breaks (which come out as \n) and quotes that are doubled. A TSV is split at its tabs, and quotes that are
// part of the text stay: a cell that begins and ends with a quote is unquoted only if the row has as many cells as the first
// one only this way or, below a first row of names, if it holds a doubled quote or all these names are in quotes. Blank lines
// are passed over. A row may not be longer than a line may be; a quote that is never closed is an Error in CSV.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/text/lines.h"

namespace fovea {

class Table final {
 public:
  explicit Table(const std::string& path, char delimiter = 0);

  bool next(std::vector<std::string>& row);  // false at the end
  std::string where() const;                 // of the line in which that row begins
  char delimiter() const { return delimiter_; }

 private:
  bool next_line(std::string& line);
  void read_quoted_row(std::string line, std::vector<std::string>& row);
  void read_tab_row(const std::string& line, std::vector<std::string>& row);
  std::optional<std::vector<std::string>> read_quoted_tabs(std::string text, std::vector<std::string>& below);
  void begin(const std::string& first_line);

  std::string path_;
  Lines lines_;
  std::deque<std::string> ahead_;  // lines that were looked at and given back
  char delimiter_;
  bool begun_ = false, quotes_ = false, names_ = false;  // read as CSV whatever the delimiter; the first row is names
  size_t width_ = 0;                                     // cells of the first row
  int64_t row_ = 0, number_ = 0;                         // the lines in which the last row began and ended
};

// The name whose ending says what is in a file: without .gz; of a member of a zip its own.
std::string_view data_name(std::string_view path);

}  // namespace fovea
