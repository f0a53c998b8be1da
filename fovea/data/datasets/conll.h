// CoNLL columns (Tjong Kim Sang and De Meulder 2003): a token a line, a blank line behind each sentence. The one reader and
// the one writer of them.
//
//   ConllReader reader("in.conll");
//   for (ConllSentence s; reader.next(s);) write(with_column(s, tag(s.column(1))));   // the lines again, with a column more
//
// Columns stand between tabs if the line has one, so that a token may hold a space; otherwise between spaces. Lines that begin
// with -DOCSTART- hold no token. Columns are counted from 1, and from -1 for the last.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/text/lines.h"

namespace fovea {

std::vector<std::string_view> conll_columns(std::string_view line);

struct ConllSentence {
  std::vector<std::string> lines;  // as they stand, with the blank and -DOCSTART- lines before and the blank one behind
  std::vector<size_t> words;       // which of them hold a token; none in the lines behind the last sentence
  std::string where;               // the file
  int64_t first = 1;               // the number of lines[0] in it

  std::string place(size_t word) const;               // "test.conll:17"
  std::vector<std::string> column(int number) const;  // of each word; an Error if one has none or an empty one
};

class ConllReader final {
 public:
  explicit ConllReader(const std::string& path);                                 // as lines.h takes it
  ConllReader(std::function<bool(std::string& line)> lines, std::string where);  // lines from elsewhere
  bool next(ConllSentence& sentence);                                            // false at the end
  bool ready();                                                                  // as Lines has it, of the next line

 private:
  std::shared_ptr<Lines> file_;
  std::function<bool(std::string&)> lines_;
  std::string where_;
  int64_t number_ = 0;
};

// The sentence's lines, each word's with its cell behind a tab or a space, as the line has them.
std::string with_column(const ConllSentence& sentence, const std::vector<std::string>& cells);

// O, or one of B, I, E, S, L and U, alone or with - and a type.
bool is_tag(const std::string& tag);
// IOB1 and IOBES (BILOU) to IOB2: an entity begins with B-, every other of its tokens has I-. An Error for what is no tag.
std::vector<std::string> to_iob2(const std::vector<std::string>& tags);

// The words and tags of a whole file, for comparing two: the tags are IOB2, whatever scheme they are written in.
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
