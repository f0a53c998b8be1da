// Which columns of a file hold what: by the names of a header, by number, by the keys of JSON, or found by themselves.
//
//   read_file("reviews.csv", ExampleKind::labelled, data, {.source = "review", .label = "stars"});
//   read_file("rows.tsv", ExampleKind::labelled, data, {.source = "2", .label = "-1"});   // the second and the last
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

enum class ExampleKind {
  texts,       // a source alone
  documents,   // a source alone, with its line breaks: what language models learn from
  pairs,       // source and target
  labelled,    // a text (or two: text_b) and its label, which may be a number
  label_sets,  // a text (or two) and any number of labels
  tagged,      // tokens and their tags
  pictures,    // a picture and its label (pictures.h)
};

inline bool is_text_alone(ExampleKind kind) { return kind == ExampleKind::texts || kind == ExampleKind::documents; }

// A name is one of the header's cells, or a key of JSON ("a.b": b inside a); a whole number counts from 1 and, if negative,
// from the end (in JSON it is a key as well). What is empty is found by the usual names (text, review, premise …; label,
// category …; source and target, en and de …), and where there are none by its place: source and target first and second;
// the label last and the text all before it; a token first, its tag last.
struct Columns {
  std::string source = {}, text_b = {};  // of a labelled text: the text, and the second of two texts
  std::string target = {}, label = {}, tokens = {}, tags = {};
  std::string separator = {};       // label_sets: between the labels of a cell, as | or ,
  std::optional<bool> header = {};  // whether the first row of a table is one; nothing: if its cells name columns
  char delimiter = 0;               // between the cells of a table; 0: as the file's name says
  // Documents: whether a plain text is one ("file"), or each of its paragraphs between blank lines ("paragraphs") or "lines".
  std::string documents = "file";
  // A plain text that is one document is cut so many percent of it before its end; the part behind is validated on.
  int64_t tail = 0, test_tail = 0;  // and the last one of all, for testing
};

// A column's number from 1, or nothing if it is given by its name. 0 is an Error.
std::optional<int> column_number(const std::string& column);
// A number from 1 or from the end as an index; -1 if there are fewer columns.
int column_index(int number, size_t columns);

// Where the columns are in a file. Indices are from 0; -1: not there or not asked for.
struct FoundColumns {
  bool header = false;  // the first row is no example
  size_t width = 0;     // cells of every row; 0: they may differ
  int source = -1, text_b = -1, target = -1, label = -1;
  bool text_before_label = false;  // the source is all that stands before the last column
  std::string text;                // for the user: "text = 2 (review), label = 3 (stars)"
};

// Of a table, by its first row. An Error if a name that was given is not there, or if a header leaves open what is what.
FoundColumns find_columns(ExampleKind kind, const Columns& wanted, const std::vector<std::string>& first_row,
                          const std::string& where);
// Of JSON: with the names that were left empty filled in from the keys of the first object.
Columns find_keys(ExampleKind kind, const Columns& wanted, const std::vector<std::string>& keys,
                  const std::string& where);

// Whether a cell looks like a name rather than a text: a short word of letters, digits, _ and -.
bool looks_like_a_name(std::string_view cell);

}  // namespace fovea
