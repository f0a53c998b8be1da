// Documents in plain text.
#include "fovea/base/catalogue.h"
#include "fovea/base/error.h"
#include "fovea/data/datasets/files.h"
#include "fovea/data/text/lines.h"
#include "fovea/data/text/pretrained/character_kinds.h"
#include "fovea/data/text/utf8.h"

namespace fovea {
namespace {

constexpr size_t longest_document = size_t{1} << 30;

// The byte at this share of a text, moved to where a character begins.
size_t byte_at(std::string_view text, int64_t percent) {
  size_t at = text.size() / 100 * static_cast<size_t>(percent) + text.size() % 100 * static_cast<size_t>(percent) / 100;
  while (at > 0 && at < text.size() && !begins_character(text[at])) --at;
  return at;
}

void add_parts(std::string_view text, const Columns& c, Dataset& into) {
  const size_t tail = byte_at(text, 100 - c.tail - c.test_tail), test = byte_at(text, 100 - c.test_tail);
  auto add = [&](std::string_view part, const char* label) {
    if (!part.empty()) into.add({.source = std::string(part), .label = label});
  };
  add(text.substr(0, tail), "");
  add(text.substr(tail, test - tail), "validation");
  add(text.substr(test), "test");
}

}  // namespace

void read_documents(const std::string& path, Dataset& into, const Columns& columns) {
  const std::string& how = columns.documents;
  if (how != "file" && how != "paragraphs" && how != "lines")
    throw_unknown("--documents", how, {"file", "paragraphs", "lines"});
  Reading reading(into, path);
  Lines lines(path);
  std::string text;
  auto end_document = [&] {
    if (!trim(text).empty()) into.add({.source = text});
    text.clear();
  };
  for (std::string line; lines.next(line);) {
    if (how == "paragraphs" && trim(line).empty()) {
      end_document();
      continue;
    }
    if (how != "file" && !text.empty()) text += '\n';
    text += line;
    if (how == "file") text += '\n';
    if (how == "lines") end_document();
    require(text.size() <= longest_document,
            "{}: found a document of more than {} MB; --documents paragraphs or lines makes smaller ones", path,
            longest_document >> 20);
  }
  if (how == "file") {
    add_parts(text, columns, into);
  } else {
    end_document();
  }
  reading.finish("a text");
}

}  // namespace fovea
