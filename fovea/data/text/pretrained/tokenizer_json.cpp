#include "fovea/data/text/pretrained/tokenizer_json.h"

#include "fovea/base/json.h"
#include "fovea/data/text/pretrained/json_object.h"
#include "fovea/data/text/pretrained/special_tokens.h"
#include "fovea/data/text/pretrained/tokenizer_json_parts.h"
#include "fovea/data/text/pretrained/unigram.h"
#include "fovea/data/text/pretrained/word_level.h"
#include "fovea/data/text/pretrained/wordpiece.h"

namespace fovea {
namespace {

using Json = nlohmann::json;
constexpr int64_t most_pieces = 10'000'000;

std::shared_ptr<const SubwordModel> read_bpe(const JsonObject& model, Vocabulary vocabulary) {
  if (model.has("dropout") && model.at("dropout") != 0)
    throw Error(Error::unsupported, "{}: found dropout, which is for training; set it to null", model.where());
  Bpe::Options o = {.unknown = model.text("unk_token", ""),
                    .prefix = model.text("continuing_subword_prefix", ""),
                    .suffix = model.text("end_of_word_suffix", ""),
                    .fuse_unknown = model.flag("fuse_unk", false),
                    .byte_fallback = model.flag("byte_fallback", false),
                    .whole_words = model.flag("ignore_merges", false)};
  const auto merges = merges_of_pairs(vocabulary, read_merges(model), o.prefix, model.where());
  return std::make_shared<Bpe>(std::move(vocabulary), merges, std::move(o));
}

std::shared_ptr<const SubwordModel> read_unigram(const JsonObject& model) {
  std::vector<std::string> pieces;
  std::vector<double> scores;
  for (const Json& item : model.list("vocab")) {
    if (!item.is_array() || item.size() != 2 || !item[0].is_string() || !item[1].is_number())
      throw Error(Error::corrupt, "{}: piece {}: expected a text and a score", model.where(), pieces.size());
    pieces.push_back(item[0].get<std::string>());
    scores.push_back(item[1].get<double>());
  }
  return std::make_shared<Unigram>(
      Vocabulary(std::move(pieces), model.where()), std::move(scores),
      Unigram::Options{.unknown = model.number("unk_id", -1), .byte_fallback = model.flag("byte_fallback", false)});
}

// Older files do not say it.
std::string kind_of(const JsonObject& model) {
  if (model.has("type")) return model.text("type");
  if (model.has("merges")) return "BPE";
  if (model.at("vocab").is_array()) return "Unigram";
  return model.has("max_input_chars_per_word") ? "WordPiece" : "WordLevel";
}

}  // namespace

// ["a b", …], or [["a", "b"], …] since pieces may have spaces.
MergePairs read_merges(const JsonObject& model) {
  MergePairs merges;
  for (const Json& item : model.list("merges")) {
    if (item.is_array() && item.size() == 2 && item[0].is_string() && item[1].is_string()) {
      merges.emplace_back(item[0].get<std::string>(), item[1].get<std::string>());
      continue;
    }
    const std::string text = item.is_string() ? item.get<std::string>() : "";
    const size_t space = text.find(' ');
    if (space == text.npos || text.find(' ', space + 1) != text.npos)
      throw Error(Error::corrupt, "{}: merge {}: found {}, expected two pieces", model.where(), merges.size(),
                  printable(item.dump().substr(0, 100)));
    merges.emplace_back(text.substr(0, space), text.substr(space + 1));
  }
  return merges;
}

Vocabulary read_vocabulary(const Json& json, const std::vector<AddedToken>& added, const std::string& where) {
  if (!json.is_object()) throw Error(Error::corrupt, "{}: found {}, expected pieces and ids", where, json.type_name());
  std::vector<std::pair<int64_t, const std::string*>> entries;
  int64_t most = -1;
  for (const auto& [piece, id] : json.items()) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= static_cast<uint64_t>(most_pieces))
      throw Error(Error::corrupt, "{}: '{}': found {}, expected an id from 0 to {}", where, printable(piece),
                  printable(id.dump().substr(0, 100)), most_pieces - 1);
    most = std::max(most, id.get<int64_t>());
  }
  const auto room = static_cast<int64_t>(json.size() + added.size());
  if (most >= room)
    throw Error(Error::corrupt, "{}: found id {} among {} pieces; ids have no holes", where, most, room);
  std::vector<std::string> pieces(static_cast<size_t>(most + 1));
  std::vector<bool> there(pieces.size());
  const auto place = [&](int64_t id, const std::string& piece) {
    if (there[static_cast<size_t>(id)])
      throw Error(Error::corrupt, "{}: '{}' and '{}' have the same id {}", where,
                  printable(pieces[static_cast<size_t>(id)]), printable(piece), id);
    pieces[static_cast<size_t>(id)] = piece;
    there[static_cast<size_t>(id)] = true;
  };
  for (const auto& [piece, id] : json.items()) place(id.get<int64_t>(), piece);
  for (const AddedToken& token : added) {
    if (token.id >= 0 && token.id <= most && !there[static_cast<size_t>(token.id)]) place(token.id, token.content);
  }
  for (size_t id = 0; id < pieces.size(); ++id) {
    if (!there[id]) throw Error(Error::corrupt, "{}: found no piece with id {}; ids have no holes", where, id);
  }
  return Vocabulary(std::move(pieces), where);
}

std::shared_ptr<const SubwordModel> read_model(const Json& json, const std::vector<AddedToken>& added,
                                               const std::string& where) {
  const JsonObject model(json, where);
  const std::string kind = kind_of(model);
  if (kind == "Unigram") return read_unigram(model);
  if (kind != "BPE" && kind != "WordPiece" && kind != "WordLevel")
    throw Error(Error::unsupported, "{}: found a model of kind '{}', expected BPE, WordPiece, Unigram or WordLevel",
                where, kind);
  Vocabulary vocabulary = read_vocabulary(model.at("vocab"), added, where + ": vocab");
  if (kind == "BPE") return read_bpe(model, std::move(vocabulary));
  if (kind == "WordLevel") return std::make_shared<WordLevel>(std::move(vocabulary), model.text("unk_token", "<unk>"));
  return std::make_shared<WordPiece>(std::move(vocabulary),
                                     WordPiece::Options{.unknown = model.text("unk_token", "[UNK]"),
                                                        .prefix = model.text("continuing_subword_prefix", "##"),
                                                        .longest_word = model.number("max_input_chars_per_word", 100)});
}

std::vector<AddedToken> read_added_tokens(const Json& json, const std::string& where) {
  std::vector<AddedToken> tokens;
  if (json.is_null()) return tokens;
  if (!json.is_array()) throw Error(Error::corrupt, "{}: found {}, expected a list", where, json.type_name());
  for (const Json& item : json) {
    const JsonObject token(item, where);
    const bool special = token.flag("special", false);
    tokens.push_back({.id = token.number("id"),
                      .content = token.text("content"),
                      .single_word = token.flag("single_word", false),
                      .lstrip = token.flag("lstrip", false),
                      .rstrip = token.flag("rstrip", false),
                      .normalized = token.flag("normalized", !special),
                      .special = special});
  }
  return tokens;
}

PipelineParts read_tokenizer_json(std::string_view text, std::string_view where) {
  const Json json = parse_json(text, where);
  const std::string file(where);
  const JsonObject root(json, file);
  const auto part = [&](const char* key) { return json.contains(key) ? json[key] : Json(); };
  PipelineParts parts;
  parts.where = file;
  parts.added = read_added_tokens(part("added_tokens"), file + ": added_tokens");
  parts.normalizer = read_normalizer(part("normalizer"), file + ": normalizer");
  parts.pre_tokenizer = read_pre_tokenizer(part("pre_tokenizer"), file + ": pre_tokenizer");
  parts.model = read_model(root.at("model"), parts.added, file + ": model");
  parts.post_processor = read_post_processor(part("post_processor"), file + ": post_processor");
  parts.decoder = read_decoder(part("decoder"), file + ": decoder");
  return parts;
}

std::unique_ptr<Tokenizer> load_tokenizer_json(const std::filesystem::path& file) {
  const MappedFile bytes(file);
  PipelineParts parts = read_tokenizer_json(bytes.text(), file.string());
  parts.files.emplace(file.filename().string(), bytes);
  add_special_tokens(parts, read_special_tokens(file.parent_path()));
  return std::make_unique<Pipeline>(std::move(parts));
}

}  // namespace fovea
