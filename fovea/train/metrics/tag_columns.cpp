#include "fovea/train/metrics/tag_columns.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/train/metrics/python_text.h"

namespace fovea {

TagColumns parse_tag_columns(std::string_view text, const TagColumnsOptions& options) {
  TagColumns result;
  size_t number = 0, columns = 0;
  bool inside = false;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::vector<std::string_view> fields = python::split(text.substr(begin, end - begin));
    begin = end + 1;
    ++number;
    if (fields.empty() || fields[0] == "-DOCSTART-") {
      inside = false;
      continue;
    }
    require(fields.size() >= 2, "{}:{}: found one column, expected a word and its tag", options.where, number);
    if (columns == 0) columns = fields.size();
    require(fields.size() == columns, "{}:{}: found {} columns, expected {} as in the lines before", options.where,
            number, fields.size(), columns);
    require(options.column <= columns, "{}:{}: found {} columns, expected the tag in column {}", options.where, number,
            columns, options.column);
    if (!inside) {
      result.words.emplace_back();
      result.tags.emplace_back();
      result.lines.push_back(number);
      inside = true;
    }
    const std::string tag(fields[options.column == 0 ? columns - 1 : options.column - 1]);
    const bool known = tag.size() == 1
                           ? std::string_view("OBIES").find(tag[0]) != std::string_view::npos
                           : tag[1] == '-' && std::string_view("BIES").find(tag[0]) != std::string_view::npos;
    require(known, "{}:{}: found the tag '{}', expected O or one that begins with B-, I-, E- or S-", options.where,
            number, tag);
    result.words.back().emplace_back(fields[0]);
    result.tags.back().push_back(tag);
  }
  return result;
}

void require_same_words(const TagColumns& references, const TagColumns& hypotheses, std::string_view where) {
  const size_t sentences = std::min(references.words.size(), hypotheses.words.size());
  for (size_t s = 0; s < sentences; ++s) {
    const std::vector<std::string>&wanted = references.words[s], &found = hypotheses.words[s];
    for (size_t i = 0; i < std::min(wanted.size(), found.size()); ++i) {
      require(wanted[i] == found[i], "{}:{}: found the word '{}', expected '{}' as in the references", where,
              hypotheses.lines[s] + i, found[i], wanted[i]);
    }
    require(wanted.size() == found.size(), "{}:{}: found a sentence of {} words, expected {} as in the references",
            where, hypotheses.lines[s], found.size(), wanted.size());
  }
  require(references.words.size() == hypotheses.words.size(),
          "{}: found {} sentences, expected {} as in the references", where, hypotheses.words.size(),
          references.words.size());
}

}  // namespace fovea
