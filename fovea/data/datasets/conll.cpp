// Tagged sentences in columns (Tjong Kim Sang and De Meulder 2003).
#include "fovea/base/error.h"
#include "fovea/data/datasets/dataset.h"
#include "fovea/data/text/lines.h"
#include "fovea/data/text/utf8.h"

namespace fovea {
namespace {

bool is_tag(std::string_view tag) {
  return tag == "O" || (tag.size() > 2 && tag[1] == '-' && std::string_view("BIESLU").find(tag[0]) < 6);
}

class Sentence {
 public:
  Sentence(Dataset& into, const ConllColumns& columns) : into_(into), wanted_(columns) {}

  void add(std::string_view line, const std::string& where) {
    const std::vector<std::string_view> columns = conll_columns(line);
    const auto count = static_cast<int>(columns.size());
    const int token = wanted_.token < 0 ? wanted_.token + count : wanted_.token;
    const int tag = wanted_.tag < 0 ? wanted_.tag + count : wanted_.tag;
    if (token < 0 || tag < 0 || token >= count || tag >= count || token == tag) {
      return spoil(
          fmt::format("{}: found {} column{}, expected a token and a tag", where, count, count == 1 ? "" : "s"));
    }
    const auto at = [&](int i) { return columns[static_cast<size_t>(i)]; };
    if (at(token).empty()) return spoil(where + ": found an empty token");
    if (!is_tag(at(tag))) {
      return spoil(fmt::format("{}: found the tag '{}', expected O, B-type or I-type", where, at(tag)));
    }
    example_.tokens.emplace_back(at(token));
    example_.tags.emplace_back(at(tag));
  }

  void finish() {
    if (good_ && !example_.tokens.empty()) {
      example_.tags = to_iob2(example_.tags);
      into_.add(example_);
    }
    example_ = {};
    good_ = true;
  }

 private:
  void spoil(const std::string& what) {
    into_.add_bad(what);
    good_ = false;
  }

  Dataset& into_;
  ConllColumns wanted_;
  Example example_;
  bool good_ = true;
};

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

void read_conll(const std::string& path, Dataset& into, const ConllColumns& columns) {
  const Reading reading(into, path);
  Lines lines(path);
  Sentence sentence(into, columns);
  for (std::string line; lines.next(line);) {
    if (trim(line).empty()) {
      sentence.finish();
    } else if (!line.starts_with("-DOCSTART-")) {
      sentence.add(line, lines.where());
    }
  }
  sentence.finish();
  reading.finish("columns with a token and a tag");
}

std::vector<std::string> to_iob2(const std::vector<std::string>& tags) {
  std::vector<std::string> result;
  std::string open;  // the type of the entity that the next I- may go on with
  for (const std::string& tag : tags) {
    require(is_tag(tag), "tags: found '{}', expected O, B-type or I-type", tag);
    if (tag == "O") {
      result.push_back(tag);
      open.clear();
      continue;
    }
    const std::string type = tag.substr(2);
    const bool begins = tag[0] == 'B' || tag[0] == 'S' || tag[0] == 'U' || type != open;
    result.push_back((begins ? "B-" : "I-") + type);
    const bool ends = tag[0] == 'S' || tag[0] == 'U' || tag[0] == 'E' || tag[0] == 'L';
    open = ends ? "" : type;
  }
  return result;
}

}  // namespace fovea
