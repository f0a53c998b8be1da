// Examples in the rows of a table, or in the lines of two files.
#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/datasets/files.h"
#include "fovea/data/datasets/table.h"
#include "fovea/data/text/lines.h"
#include "fovea/data/text/utf8.h"

namespace fovea {
namespace {

using Row = std::vector<std::string>;

std::vector<std::string> split_labels(std::string_view cell, const std::string& separator) {
  std::vector<std::string> labels;
  while (!cell.empty()) {
    const size_t end = separator.empty() ? std::string_view::npos : cell.find(separator);
    const std::string_view label = trim(cell.substr(0, end));
    if (!label.empty() && std::ranges::find(labels, label) == labels.end()) labels.emplace_back(label);
    cell.remove_prefix(end == std::string_view::npos ? cell.size() : end + separator.size());
  }
  return labels;
}

class RowReader {
 public:
  RowReader(ExampleKind kind, const Columns& wanted, const FoundColumns& found, char delimiter)
      : kind_(kind), separator_(wanted.separator), found_(found), delimiter_(delimiter) {}

  // What the row is wrong with, or nothing.
  std::string take(Row row, Example& example) const {
    while (found_.width > 0 && row.size() > found_.width && trim(row.back()).empty()) row.pop_back();
    if (found_.width > 0 && row.size() != found_.width) {
      return fmt::format("found {} columns, expected {} as in the first row", row.size(), found_.width);
    }
    if (is_text_alone(kind_)) return take_labelled(row, example);
    if (kind_ == ExampleKind::pairs) return take_pair(row, example);
    return found_.text_before_label ? take_before_last(row, example) : take_labelled(row, example);
  }

 private:
  static std::string_view cell(const Row& row, int index) { return trim(row[static_cast<size_t>(index)]); }

  std::string between() const {
    return delimiter_ == '\t' ? "a tab" : delimiter_ == ',' ? "a comma" : fmt::format("'{}'", delimiter_);
  }

  std::string take_pair(const Row& row, Example& example) const {
    const int last = std::max(found_.source, found_.target);
    if (static_cast<int>(row.size()) <= last) {
      return fmt::format("found {} column{}, expected {} with {} between", row.size(), row.size() == 1 ? "" : "s",
                         last + 1, between());
    }
    example.source = cell(row, found_.source);
    example.target = cell(row, found_.target);
    if (!example.source.empty() && !example.target.empty()) return {};
    const int empty = example.source.empty() ? found_.source : found_.target;
    return fmt::format("found an empty column {}", empty + 1);
  }

  std::string take_before_last(Row& row, Example& example) const {
    if (row.size() < 2) return fmt::format("found 1 column, expected {} between the sentence and its label", between());
    const std::string label = std::move(row.back());
    row.pop_back();
    std::string text = row[0];
    for (size_t i = 1; i < row.size(); ++i) text += delimiter_ + row[i];
    example.source = trim(text);
    return take_label(label, example);
  }

  std::string take_labelled(const Row& row, Example& example) const {
    if (static_cast<int>(row.size()) <= std::max({found_.source, found_.text_b, found_.label})) {
      return fmt::format("found {} column{}", row.size(), row.size() == 1 ? "" : "s");
    }
    example.source = cell(row, found_.source);
    if (found_.text_b >= 0) {
      example.text_b = cell(row, found_.text_b);
      if (example.text_b.empty()) return "found an empty second text";
    }
    return take_label(found_.label < 0 ? std::string_view() : cell(row, found_.label), example);
  }

  std::string take_label(std::string_view label, Example& example) const {
    if (example.source.empty()) return "found an empty sentence";
    if (is_text_alone(kind_)) return {};
    if (kind_ == ExampleKind::label_sets) {
      example.labels = split_labels(label, separator_);
      return {};
    }
    example.label = trim(label);
    return example.label.empty() ? "found no label" : "";
  }

  ExampleKind kind_;
  std::string separator_;
  FoundColumns found_;
  char delimiter_;
};

}  // namespace

void read_table(const std::string& path, ExampleKind kind, Dataset& into, const Columns& columns) {
  Reading reading(into, path);
  Table table(path, columns.delimiter);
  std::optional<RowReader> reader;
  for (Row row; table.next(row);) {
    if (!reader) {
      const FoundColumns found = find_columns(kind, columns, row, table.where());
      reader.emplace(kind, columns, found, table.delimiter());
      reading.file.header = found.header;
      reading.file.columns = found.text;
      if (found.header) continue;
    }
    Example example;
    const std::string wrong = reader->take(std::move(row), example);
    if (wrong.empty()) {
      into.add(example);
    } else {
      into.add_bad(table.where(), wrong);
    }
  }
  reading.finish(kind == ExampleKind::pairs
                     ? "source <TAB> target, or two files of one name line for line, as a.en a.de"
                     : "sentence <TAB> label");
}

void read_parallel(const std::string& source, const std::string& target, Dataset& into) {
  Reading reading(into, source + " and " + target);
  Lines left(source), right(target);
  std::string a, b;
  for (;;) {
    const bool more_left = left.next(a), more_right = right.next(b);
    if (more_left != more_right) {
      throw Error(Error::invalid, "{}: ends after line {}, but {} goes on; expected as many lines in both",
                  more_left ? target : source, more_left ? right.number() : left.number(), more_left ? source : target);
    }
    if (!more_left) break;
    const std::string_view x = trim(a), y = trim(b);
    if (x.empty() || y.empty()) {
      into.add_bad((x.empty() ? left : right).where(), "found an empty line, expected a text");
      continue;
    }
    into.add({.source = std::string(x), .target = std::string(y)});
  }
  reading.file.columns = "line for line";
  reading.finish("a text on each line");
}

}  // namespace fovea
