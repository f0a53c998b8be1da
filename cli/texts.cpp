#include "cli/texts.h"

#include <filesystem>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/data/text/utf8.h"

namespace fovea {

Texts::Texts(const TextOptions& o) {
  if (o.given || !o.text.empty()) {
    require(o.input == "-" && o.key.empty(), "found a text beside --input or --key, expected one of them");
    check_utf8(o.text, "text");
    argument_ = o.text;
  } else if (!o.key.empty()) {
    objects_ = std::make_unique<Dataset>(Dataset::Options{.strict = true});
    read_json(o.input, ExampleKind::texts, *objects_, {.source = o.key});
  } else {
    lines_ = std::make_unique<Lines>(o.input);
    std::error_code error;
    const auto size = std::filesystem::file_size(o.input, error);
    if (!error && !o.input.ends_with(".gz") && !o.input.ends_with(".zip")) bytes_ = static_cast<int64_t>(size);
  }
}

bool Texts::next(std::string& text) {
  if (lines_) return lines_->next(text);
  if (objects_ && object_ < objects_->size()) {
    Example example = (*objects_)[object_++];
    text = std::move(example.source);
    given_objects_.push_back(std::move(example.target));
    return true;
  }
  if (!argument_) return false;
  text = *std::exchange(argument_, std::nullopt);
  return true;
}

bool Texts::ready() { return !lines_ || lines_->ready(); }

bool Texts::next(std::vector<std::string>& texts) {
  texts.clear();
  given_objects_.clear();
  size_t bytes = 0;
  for (std::string text; texts.size() < most && bytes < enough_bytes && (texts.empty() || ready()) && next(text);) {
    bytes += text.size();
    texts.push_back(std::move(text));
  }
  return !texts.empty();
}

}  // namespace fovea
