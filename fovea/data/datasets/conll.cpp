#include "fovea/data/datasets/conll.h"

#include <algorithm>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/data/datasets/files.h"
#include "fovea/data/text/utf8.h"

namespace fovea {
namespace {

struct Word {
  std::string_view token, tag;
};

// What a word's line is wrong with, or nothing.
std::string take(std::string_view line, int token, int tag, Word& word) {
  const std::vector<std::string_view> columns = conll_columns(line);
  const int at = column_index(token, columns.size()), tag_at = column_index(tag, columns.size());
  if (at < 0 || tag_at < 0 || at == tag_at) {
    return fmt::format("found {} column{}, expected a token and a tag", columns.size(), columns.size() == 1 ? "" : "s");
  }
  word = {columns[static_cast<size_t>(at)], columns[static_cast<size_t>(tag_at)]};
  if (word.token.empty()) return "found an empty token";
  if (is_tag(std::string(word.tag))) return {};
  return fmt::format("found the tag '{}', expected O, B-type or I-type", word.tag);
}

int number_of(const std::string& column, int otherwise) {
  const std::optional<int> number = column_number(column);
  require(column.empty() || number, "columns: found '{}', expected the number of a CoNLL column, from 1 or from -1",
          column);
  return number.value_or(otherwise);
}

}  // namespace

std::vector<std::string_view> conll_columns(std::string_view line) {
  const bool tabs = line.find('\t') != std::string_view::npos;
  std::vector<std::string_view> columns;
  while (true) {
    const size_t end = line.find(tabs ? '\t' : ' ');
    const std::string_view column = trim(line.substr(0, end));
    if (tabs || !column.empty()) columns.push_back(column);
    if (end == std::string_view::npos) return columns;
    line.remove_prefix(end + 1);
  }
}

std::string ConllSentence::place(size_t word) const {
  return fmt::format("{}:{}", where, first + static_cast<int64_t>(words[word]));
}

std::vector<std::string> ConllSentence::column(int number) const {
  std::vector<std::string> cells;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::vector<std::string_view> columns = conll_columns(lines[words[i]]);
    const int at = column_index(number, columns.size());
    require(at >= 0 && !columns[static_cast<size_t>(at)].empty(), "{}: found nothing in column {}, expected a token",
            place(i), number);
    cells.emplace_back(columns[static_cast<size_t>(at)]);
  }
  return cells;
}

ConllReader::ConllReader(const std::string& path)
    : file_(std::make_shared<Lines>(path)),
      lines_([file = file_](std::string& line) { return file->next(line); }),
      where_(path == "-" ? "stdin" : path) {}

ConllReader::ConllReader(std::function<bool(std::string&)> lines, std::string where)
    : lines_(std::move(lines)), where_(std::move(where)) {}

bool ConllReader::ready() { return !file_ || file_->ready(); }

bool ConllReader::next(ConllSentence& sentence) {
  sentence = {.lines = {}, .words = {}, .where = where_, .first = number_ + 1};
  for (std::string line; lines_(line);) {
    ++number_;
    const bool word = !trim(line).empty() && !line.starts_with("-DOCSTART-");
    if (word) sentence.words.push_back(sentence.lines.size());
    sentence.lines.push_back(std::move(line));
    if (!word && !sentence.words.empty()) return true;
  }
  return !sentence.lines.empty();
}

std::string with_column(const ConllSentence& sentence, const std::vector<std::string>& cells) {
  require(cells.size() == sentence.words.size(), "columns: found {} cells for {} words, expected as many", cells.size(),
          sentence.words.size());
  std::string text;
  size_t word = 0;
  for (size_t i = 0; i < sentence.lines.size(); ++i) {
    const std::string& line = sentence.lines[i];
    text += line;
    if (word < cells.size() && sentence.words[word] == i) {
      text += line.find('\t') == std::string::npos ? ' ' : '\t';
      text += cells[word++];
    }
    text += '\n';
  }
  return text;
}

// A sentence with a bad line is passed over as a whole.
void read_conll(const std::string& path, Dataset& into, const Columns& columns) {
  Reading reading(into, path);
  const int token = number_of(columns.tokens, 1), tag = number_of(columns.tags, -1);
  ConllReader reader(path);
  for (ConllSentence sentence; reader.next(sentence);) {
    Example example;
    bool good = !sentence.words.empty();
    for (size_t i = 0; i < sentence.words.size(); ++i) {
      Word word;
      const std::string wrong = take(sentence.lines[sentence.words[i]], token, tag, word);
      if (!wrong.empty()) into.add_bad(sentence.place(i), wrong);
      good = good && wrong.empty();
      example.tokens.emplace_back(word.token);
      example.tags.emplace_back(word.tag);
    }
    if (!good) continue;
    example.tags = to_iob2(example.tags);
    into.add(example);
  }
  const auto named = [](int column) {
    if (column > 0) return fmt::format("column {}", column);
    return column == -1 ? std::string("the last column") : fmt::format("column {} from the end", -column);
  };
  reading.file.columns = fmt::format("token = {}, tag = {}", named(token), named(tag));
  reading.finish("columns with a token and a tag");
}

bool is_tag(const std::string& tag) {
  if (tag == "O") return true;
  const bool marked = !tag.empty() && std::string_view("BIESLU").find(tag[0]) != std::string_view::npos;
  return marked && (tag.size() == 1 || (tag.size() > 2 && tag[1] == '-'));
}

std::vector<std::string> to_iob2(const std::vector<std::string>& tags) {
  std::vector<std::string> result;
  std::optional<std::string> open;  // the type of the entity that the next I- may go on with
  for (const std::string& tag : tags) {
    require(is_tag(tag), "tags: found '{}', expected O, B-type or I-type", tag);
    if (tag == "O") {
      result.push_back(tag);
      open.reset();
      continue;
    }
    const std::string type = tag.substr(1);  // with its dash; empty if there is none
    const bool begins = tag[0] == 'B' || tag[0] == 'S' || tag[0] == 'U' || type != open;
    result.push_back((begins ? "B" : "I") + type);
    const bool ends = tag[0] == 'S' || tag[0] == 'U' || tag[0] == 'E' || tag[0] == 'L';
    open = ends ? std::nullopt : std::optional(type);
  }
  return result;
}

TagColumns parse_tag_columns(std::string_view text, const TagColumnsOptions& options) {
  TagColumns result;
  size_t begin = 0, columns = 0;
  ConllReader reader(
      [&](std::string& line) {
        if (begin >= text.size()) return false;
        const size_t end = std::min(text.find('\n', begin), text.size());
        line = text.substr(begin, end - begin);
        begin = end + 1;
        return true;
      },
      std::string(options.where));
  for (ConllSentence sentence; reader.next(sentence);) {
    if (sentence.words.empty()) continue;
    std::vector<std::string> words, tags;
    for (size_t i = 0; i < sentence.words.size(); ++i) {
      const std::string& line = sentence.lines[sentence.words[i]];
      const size_t found = conll_columns(line).size();
      require(found >= 2, "{}: found one column, expected a word and its tag", sentence.place(i));
      if (columns == 0) columns = found;
      require(found == columns, "{}: found {} columns, expected {} as in the lines before", sentence.place(i), found,
              columns);
      require(options.column <= columns, "{}: found {} columns, expected the tag in column {}", sentence.place(i),
              columns, options.column);
      Word word;
      const std::string wrong = take(line, 1, options.column == 0 ? -1 : static_cast<int>(options.column), word);
      require(wrong.empty(), "{}: {}", sentence.place(i), wrong);
      words.emplace_back(word.token);
      tags.emplace_back(word.tag);
    }
    result.lines.push_back(static_cast<size_t>(sentence.first) + sentence.words[0]);
    result.words.push_back(std::move(words));
    result.tags.push_back(to_iob2(tags));
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
