#include "fovea/data/text/pretrained/learned_tokenizers.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "fovea/data/text/pretrained/character_kinds.h"
#include "fovea/data/text/pretrained/learn_pieces.h"
#include "fovea/data/text/pretrained/special_tokens.h"
#include "fovea/data/text/pretrained/tokenizer_json.h"

namespace fovea {
namespace {

using Json = nlohmann::ordered_json;
using Names = std::vector<std::pair<const char*, const char*>>;  // roles of special tokens, and how they are spelled

void add_one(TextIds& counts, std::string_view word) {
  const auto found = counts.find(word);
  if (found == counts.end()) {
    counts.emplace(word, 1);
  } else {
    ++found->second;
  }
}

std::vector<std::string> spelled(const Names& names) {
  std::vector<std::string> pieces;
  for (const auto& [role, name] : names)
    if (std::ranges::find(pieces, name) == pieces.end()) pieces.emplace_back(name);
  return pieces;
}

Json ids_of(const std::vector<std::string>& pieces) {
  Json::object_t vocabulary;  // whose own insertion looks through all that are there
  for (size_t i = 0; i < pieces.size(); ++i) vocabulary.Container::emplace_back(pieces[i], i);
  return vocabulary;
}

// What is different from kind to kind: the other parts of tokenizer.json.
std::unique_ptr<Tokenizer> tokenizer_of(const Names& names, const Json& parts) {
  Json json = {{"version", "1.0"}, {"truncation", nullptr}, {"padding", nullptr}, {"added_tokens", Json::array()}};
  const std::vector<std::string> special = spelled(names);
  for (size_t i = 0; i < special.size(); ++i)
    json["added_tokens"].push_back({{"id", i},
                                    {"content", special[i]},
                                    {"single_word", false},
                                    {"lstrip", false},
                                    {"rstrip", false},
                                    {"normalized", false},
                                    {"special", true}});
  for (const char* key : {"normalizer", "pre_tokenizer", "post_processor", "decoder", "model"})
    json[key] = parts.contains(key) ? parts[key] : Json();
  Json config = {{"tokenizer_class", "PreTrainedTokenizerFast"}, {"clean_up_tokenization_spaces", false}};
  SpecialTokens tokens;
  for (const auto& [role, name] : names) {
    config[std::string(role) + "_token"] = name;
    tokens.names.emplace(role, name);
  }
  PipelineParts read = read_tokenizer_json(json.dump(), "tokenizer.json");
  add_special_tokens(read, tokens);
  read.texts = {{"tokenizer.json", json.dump(1) + "\n"}, {"tokenizer_config.json", config.dump(1) + "\n"}};
  return std::make_unique<Pipeline>(std::move(read));
}

constexpr const char *end = "<|endoftext|>", *padding = "<|padding|>";

}  // namespace

std::unique_ptr<Tokenizer> learn_byte_bpe(const TextSource& texts, const ByteBpeLearning& o) {
  TextIds counts, in_characters;
  for (std::string text; texts(text);) {
    for (size_t at = 0; at < text.size();) {
      const size_t next = end_of_gpt2_word(text, at);
      add_one(counts, std::string_view(text).substr(at, next - at));
      at = next;
    }
  }
  for (const auto& [word, count] : counts) {
    std::string characters;
    for (const char byte : word) append_utf8(characters, character_of_byte(static_cast<unsigned char>(byte)));
    in_characters.emplace(std::move(characters), count);
  }
  const Names names = {{"bos", end}, {"eos", end}, {"pad", padding}};
  LearnPiecesOptions options = {.pieces = o.vocabulary, .first = spelled(names)};
  std::set<char32_t> bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.insert(character_of_byte(static_cast<unsigned char>(byte)));
  for (const char32_t character : bytes) append_utf8(options.first.emplace_back(), character);
  const LearnedPieces found = learn_pieces(in_characters, options);
  const Json level = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  return tokenizer_of(names, {{"pre_tokenizer", level},
                              {"decoder", level},
                              {"model", {{"type", "BPE"}, {"vocab", ids_of(found.pieces)}, {"merges", found.merges}}}});
}

// Byte pair encoding without a pair: each character is a piece.
std::unique_ptr<Tokenizer> learn_characters(const TextSource& texts) {
  std::set<std::string, std::less<>> characters;
  for (std::string text; texts(text);) {
    for (size_t at = 0; at < text.size();) {
      const std::string_view character = std::string_view(text).substr(at, character_at(text, at).size);
      if (!characters.contains(character)) characters.emplace(character);
      at += character.size();
    }
  }
  const Names names = {{"bos", end}, {"eos", end}, {"pad", padding}, {"unk", "<unk>"}};
  std::vector<std::string> pieces = spelled(names);
  pieces.insert(pieces.end(), characters.begin(), characters.end());
  return tokenizer_of(
      names,
      {{"decoder", {{"type", "Fuse"}}},
       {"model", {{"type", "BPE"}, {"unk_token", "<unk>"}, {"vocab", ids_of(pieces)}, {"merges", Json::array()}}}});
}

}  // namespace fovea
