// Examples from files: pairs, labels, tags. One reader a file; each adds to a Dataset.
//
//   Dataset data({.strict = false});
//   read_pairs("pairs.tsv.gz", data);                  // data[0].source, data[0].target; data.bad().text() for the user
//
// Paths are as lines.h takes them: plain, .gz, .zip, "-". Lines that cannot be used are counted and passed over; strict
// makes the first one an Error. Invalid UTF-8, a damaged file and a file without a single good line are always Errors.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/records.h"

namespace fovea {

struct Example {
  std::string source = {}, target = {}, label = {};  // a pair; or a labelled sentence: a source with a label
  std::vector<std::string> tokens = {}, tags = {};   // a tagged sentence; the tags are IOB2
  bool operator==(const Example&) const = default;
};

struct BadLines {
  int64_t count = 0;
  std::string first, last;   // "pairs.tsv:17: found 1 column, expected 2"
  std::string text() const;  // one line for the user; empty if there are none
};

class Dataset final {
 public:
  struct Options {
    bool strict = false;
    int64_t memory = int64_t{1} << 30;  // beyond so many bytes the examples wait in a temporary file
    // "0=negative" or "person=PER": other names for labels and for the kinds of tags; a kind that is called O is no entity.
    std::vector<std::string> names = {};
  };
  Dataset() : Dataset(Options{}) {}
  explicit Dataset(const Options& options);

  void add(const Example& example);
  void add_bad(const std::string& what);  // throws it if strict
  int64_t size() const { return records_.size(); }
  Example operator[](int64_t index) const;
  const BadLines& bad() const { return bad_; }

 private:
  std::string named(const std::string& label) const;
  std::string named_tag(const std::string& tag) const;

  Options options_;
  std::map<std::string, std::string> names_;
  Records records_;
  BadLines bad_;
};

// Used by the readers: a file that gave nothing is an Error that says what was expected of it.
class Reading final {
 public:
  Reading(Dataset& into, std::string where);
  void finish(std::string_view expected) const;

 private:
  const Dataset& into_;
  std::string where_;
  int64_t size_, bad_;
};

// source <TAB> target; further columns are ignored.
void read_pairs(const std::string& path, Dataset& into);

// Line n of one file is the translation of line n of the other; an Error if one is longer.
void read_parallel(const std::string& source, const std::string& target, Dataset& into);

// sentence <TAB> label; the last tab counts.
void read_labelled(const std::string& path, Dataset& into);

// One token a line in columns between spaces or tabs, a blank line after each sentence, -DOCSTART- lines passed over. Tags in
// IOB1, IOB2 or IOBES (BILOU) come out as IOB2. A sentence with a bad line is passed over as a whole.
struct ConllColumns {
  int token = 0, tag = -1;  // from 0; negative: from the end
};
// A line's columns: between tabs if there is one, so that a token may hold a space; otherwise between spaces.
std::vector<std::string_view> conll_columns(std::string_view line);
void read_conll(const std::string& path, Dataset& into, const ConllColumns& columns = {});

// A JSON object a line, or one array of objects. Keys that are not empty must be there: texts (a label may be a number or
// true or false), and lists of texts for tokens and tags.
struct JsonKeys {
  std::string source = {}, target = {}, label = {}, tokens = {}, tags = {};
};
void read_json_lines(const std::string& path, Dataset& into, const JsonKeys& keys);

// IOB1 and IOBES to IOB2: an entity begins with B-, every other of its tokens has I-. An Error for what is no such tag.
std::vector<std::string> to_iob2(const std::vector<std::string>& tags);

// CRC-32 of its bytes modulo 100: a division that needs no file and that a copy of a text can never cross.
int64_t bucket_of(std::string_view text);

}  // namespace fovea
