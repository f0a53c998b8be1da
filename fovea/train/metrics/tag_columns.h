// The words and tags of a CoNLL file: one token a line with its tag in one of the columns, a blank line behind each sentence.
//
//   TagColumns gold = parse_tag_columns(read_text("test.conll"), {.where = "test.conll"});
//   score_entities(gold.tags, found.tags);
//
// Columns are separated by spaces or tabs; lines that begin with -DOCSTART- are skipped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fovea {

struct TagColumns {
  std::vector<std::vector<std::string>> words, tags;  // [sentence][token]
  std::vector<size_t> lines;                          // where each sentence begins, from 1
};

struct TagColumnsOptions {
  std::string_view where = "text";  // names the file in errors
  size_t column = 0;                // of the tags, from 1; 0: the last one
};

TagColumns parse_tag_columns(std::string_view text, const TagColumnsOptions& options);

// An Error that names the first sentence or word in which the two differ.
void require_same_words(const TagColumns& references, const TagColumns& hypotheses, std::string_view where);

}  // namespace fovea
