// Examples: pairs, labels, tags, in memory that only grows. The readers of files.h add to it.
//
//   Dataset data({.strict = false});
//   read_file("pairs.tsv.gz", ExampleKind::pairs, data);   // data[0].source, data[0].target; data.bad().text() for the user
//
// Lines that cannot be used are counted and passed over; strict makes the first one an Error.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/records.h"

namespace fovea {

struct Example {
  // A pair, whose label is what else a file may say of it (of JSON: as JSON); or a labelled sentence: a source with a label. The target of a text of JSON is the object that it stands in. The
  // label of a part of a document is what it is kept for: validation or test.
  std::string source = {}, target = {}, label = {};
  std::vector<std::string> tokens = {}, tags = {};  // a tagged sentence; the tags are IOB2
  std::string text_b = {};                          // the second of two texts that have one label
  std::vector<std::string> labels = {};             // any number of labels for a source, instead of `label`
  bool operator==(const Example&) const = default;
};

struct BadLines {
  static constexpr size_t most_reasons = 16;
  int64_t count = 0;
  std::string first, last;                 // "pairs.tsv:17: found 1 column, expected 2"
  std::map<std::string, int64_t> reasons;  // without the place, and how often; beyond so many under "other"
  std::string text() const;                // one line for the user; empty if there are none
};

// What a reader made of a file.
struct FileRead {
  std::string path;
  int64_t good = 0, bad = 0;
  bool header = false;  // its first row was taken as one
  std::string columns;  // "text = column 2 (review), label = column 3 (stars)"; empty where there is no choice
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
  void add_bad(const std::string& where, const std::string& why);  // throws it if strict
  int64_t size() const { return records_.size(); }
  Example operator[](int64_t index) const;
  const BadLines& bad() const { return bad_; }
  const std::vector<FileRead>& files() const { return files_; }
  void add_file(FileRead file) { files_.push_back(std::move(file)); }
  // Of every example's bytes in their order (FNV-1a of 64 bits): data that changed has another one.
  uint64_t fingerprint() const { return fingerprint_; }
  int64_t duplicates() const;  // examples that are equal to an earlier one

 private:
  std::string named(const std::string& label) const;
  std::string named_tag(const std::string& tag) const;

  Options options_;
  std::map<std::string, std::string> names_;
  Records records_;
  BadLines bad_;
  std::vector<FileRead> files_;
  uint64_t fingerprint_ = 0xcbf29ce484222325;
};

// Used by the readers: a file that gave nothing is an Error that says what was expected of it; others are listed in files().
class Reading final {
 public:
  Reading(Dataset& into, const std::string& path);
  void finish(std::string_view expected);

  FileRead file;  // whose header and columns the reader sets

 private:
  Dataset& into_;
  int64_t size_, bad_;
};

// CRC-32 of its bytes modulo 100: a division that needs no file and that a copy of a text can never cross.
int64_t bucket_of(std::string_view text);

}  // namespace fovea
