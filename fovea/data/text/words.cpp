#include "fovea/data/text/words.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json.h"

namespace fovea {
namespace {

const std::vector<std::string> special_names = {"<pad>", "<s>", "</s>", "<unk>"};

std::vector<std::string> by_frequency(const std::unordered_map<std::string, int64_t>& counts, int64_t at_least,
                                      int64_t most) {
  std::vector<std::pair<std::string, int64_t>> entries;
  for (const auto& entry : counts) {
    if (entry.second >= at_least) entries.push_back(entry);
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::vector<std::string> names = special_names;
  for (const auto& [name, count] : entries) {
    if (static_cast<int64_t>(names.size()) == most) break;
    if (std::find(special_names.begin(), special_names.end(), name) == special_names.end()) names.push_back(name);
  }
  return names;
}

std::vector<std::string> string_list(const nlohmann::json& json, const char* key, std::string_view where) {
  const auto found = json.find(key);
  const bool good = found != json.end() && found->is_array() &&
                    std::all_of(found->begin(), found->end(), [](const auto& item) { return item.is_string(); });
  if (!good) throw Error(Error::corrupt, "{}: '{}': expected a list of texts; the file is damaged", where, key);
  auto names = found->get<std::vector<std::string>>();
  if (!std::equal(special_names.begin(), special_names.end(), names.begin(),
                  names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), special_names.size())))) {
    throw Error(Error::corrupt, "{}: '{}': expected <pad>, <s>, </s> and <unk> first", where, key);
  }
  return names;
}

std::unordered_map<std::string, int64_t> numbered(const std::vector<std::string>& names, std::string_view where) {
  std::unordered_map<std::string, int64_t> ids;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!ids.emplace(names[i], static_cast<int64_t>(i)).second) {
      throw Error(Error::corrupt, "{}: '{}' stands there twice", where, names[i]);
    }
  }
  return ids;
}

}  // namespace

struct Words::Counts {
  std::unordered_map<std::string, int64_t> words, letters;

  void add(std::string_view word, const std::string& normal) {
    ++words[normal];
    for (const CodePoint& c : code_points(nfkc(word))) ++letters[to_utf8(c.value)];
  }
};

Words::Words(const Counts& counts, const Options& options)
    : options_(options),
      words_(by_frequency(counts.words, options.at_least, options.vocabulary)),
      letters_(by_frequency(counts.letters, 1, std::numeric_limits<int64_t>::max())) {
  index("words");
}

Words Words::train(const std::function<bool(std::vector<std::string>&)>& sentences, const Options& options) {
  require(options.vocabulary > SpecialIds::count, "words: found a vocabulary of {}, expected at least {}",
          options.vocabulary, SpecialIds::count + 1);
  Counts counts;
  const Words empty(counts, options);
  for (std::vector<std::string> words; sentences(words);) {
    for (const std::string& word : words) counts.add(word, empty.normal(word));
  }
  require(!counts.words.empty(), "words: found no text to learn from");
  return Words(counts, options);
}

Words Words::train(const TextSource& texts, const Options& options) {
  std::string text;
  return train(
      [&](std::vector<std::string>& words) {
        words.clear();
        if (!texts(text)) return false;
        for (Span span : split_words(text)) words.emplace_back(piece_of(text, span));
        return true;
      },
      options);
}

Words::Words(const std::filesystem::path& file) {
  const std::string where = file.string();
  const nlohmann::json json = parse_json(MappedFile(file).text(), where);
  if (!json.is_object() || json.value("kind", nlohmann::json()) != "words") {
    throw Error(Error::corrupt, "{}: not a vocabulary of words, or damaged", where);
  }
  const auto flag = [&](const char* key) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_boolean()) {
      throw Error(Error::corrupt, "{}: '{}': expected true or false", where, key);
    }
    return found->get<bool>();
  };
  options_.lower_case = flag("lower_case");
  options_.zero_digits = flag("zero_digits");
  words_ = string_list(json, "words", where);
  letters_ = string_list(json, "characters", where);
  for (size_t i = SpecialIds::count; i < letters_.size(); ++i) {
    if (code_points(letters_[i]).size() != 1)
      throw Error(Error::corrupt, "{}: 'characters': found '{}', expected single characters", where, letters_[i]);
  }
  index(where);
}

void Words::index(std::string_view where) {
  word_ids_ = numbered(words_, where);
  letter_ids_ = numbered(letters_, where);
}

void Words::save(const std::filesystem::path& folder) const {
  const nlohmann::ordered_json json = {{"kind", "words"},
                                       {"lower_case", options_.lower_case},
                                       {"zero_digits", options_.zero_digits},
                                       {"words", words_},
                                       {"characters", letters_}};
  make_folder(folder);
  write_text(folder / "vocabulary.json", json.dump(0) + "\n");
}

std::string Words::normal(std::string_view word) const {
  std::string result = nfkc(word);
  if (options_.lower_case) result = lower_case(result);
  if (options_.zero_digits) {
    std::replace_if(
        result.begin(), result.end(), [](char c) { return c >= '0' && c <= '9'; }, '0');
  }
  return result;
}

std::string Words::piece(int64_t id) const {
  check_id(id);
  return words_[static_cast<size_t>(id)];
}

// A word that is spelled like a special one is no special one.
int64_t Words::id_of(std::string_view word) const {
  const auto found = word_ids_.find(normal(word));
  return found == word_ids_.end() || found->second < SpecialIds::count ? special_.unk : found->second;
}

std::vector<int64_t> Words::characters(std::string_view word) const {
  std::vector<int64_t> ids;
  for (const CodePoint& c : code_points(nfkc(word))) {
    const auto found = letter_ids_.find(to_utf8(c.value));
    ids.push_back(found == letter_ids_.end() ? special_.unk : found->second);
  }
  return ids;
}

Tokens Words::encode(std::string_view text) const {
  Tokens tokens;
  tokens.spans = split_words(text);
  for (Span span : tokens.spans) tokens.ids.push_back(id_of(piece_of(text, span)));
  return tokens;
}

std::string Words::decode(std::span<const int64_t> ids) const {
  std::string text;
  for (int64_t id : ids) {
    check_id(id);
    if (id == special_.pad || id == special_.bos || id == special_.eos) continue;
    text += (text.empty() ? "" : " ") + words_[static_cast<size_t>(id)];
  }
  return text;
}

}  // namespace fovea
