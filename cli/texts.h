// The texts that a verb is asked about: the argument, the lines of a file or of stdin, or the values of a key in JSON.
//
//   Texts texts(options.texts);
//   for (std::vector<std::string> some; texts.next(some);) …   // as many as are there without waiting, at most 512
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fovea/base/fields.h"
#include "fovea/data/datasets/files.h"
#include "fovea/data/text/lines.h"

namespace fovea {

struct TextOptions {
  std::string text, input = "-", key;
  bool given = false;  // the text, be it empty

  void fields(Fields& f) {
    f("text", text, "the text; without it each line of --input is one");
    f("input", input, "a file with a text a line, plain, .gz or .zip; - is stdin");
    f("key", key, "the input is JSON, an object a line or an array of objects; their texts have this key");
  }
};

class Texts final {
 public:
  explicit Texts(const TextOptions&);

  bool next(std::vector<std::string>& texts);  // false at the end
  // Of the texts that next() gave last, as JSON: the object that each stands in; none without --key.
  const std::vector<std::string>& objects() const { return given_objects_; }
  std::optional<int64_t> bytes() const { return bytes_; }  // of all texts, if known; a text's line break counts

 private:
  static constexpr size_t most = 512, enough_bytes = size_t{1} << 20;
  bool next(std::string& text);
  bool ready();

  std::optional<std::string> argument_;
  std::unique_ptr<Lines> lines_;
  std::unique_ptr<Dataset> objects_;
  std::vector<std::string> given_objects_;
  int64_t object_ = 0;
  std::optional<int64_t> bytes_;
};

}  // namespace fovea
