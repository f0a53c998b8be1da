#include "fovea/data/text/gguf_vocabulary.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/base/text.h"
#include "fovea/data/text/gguf_words.h"
#include "fovea/data/text/pretrained/json_object.h"
#include "fovea/data/text/pretrained/special_tokens.h"
#include "fovea/data/text/pretrained/tokenizer_json_parts.h"
#include "fovea/data/text/sentencepiece.h"
#include "fovea/data/text/sentencepiece_file.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Type = StoredPiece::Type;  // GGUF has the same numbers

constexpr std::string_view space = "\u2581";  // ▁, which stands for a space

struct Written {
  std::string where;
  const Tokenizer& tokenizer;
  std::vector<std::string> pieces;
  std::vector<int32_t> types;
  GgufMetadata metadata;

  Written(const fs::path& folder, const Tokenizer& t, int64_t entries) : where(folder.string()), tokenizer(t) {
    for (int64_t id = 0; id < t.size(); ++id) pieces.push_back(t.piece(id));
    types.assign(pieces.size(), Type::normal);
    for (int64_t id = t.size(); id < entries; ++id) pieces.push_back(fmt::format("[PAD{}]", id));
    types.resize(pieces.size(), Type::unused);
  }
  void set(const std::string& key, const GgufValue& value) { metadata["tokenizer.ggml." + key] = value; }
  void set_type(int64_t id, Type type) {
    if (id >= 0 && id < static_cast<int64_t>(types.size())) types[static_cast<size_t>(id)] = type;
  }
};

[[noreturn]] void refuse(const std::string& where, std::string_view found) {
  throw Error(Error::unsupported, "{}: found {}, which a GGUF file has no words for", where, found);
}

void mark_added(Written& w, const std::vector<AddedToken>& added) {
  for (const AddedToken& token : added) w.set_type(token.id, token.special ? Type::control : Type::user_defined);
}

void mark_special(Written& w, const std::vector<AddedToken>& added) {
  mark_added(w, added);
  const SpecialIds& s = w.tokenizer.special();
  for (int64_t id : {s.bos, s.eos, s.pad, s.mask}) w.set_type(id, Type::control);
  if (w.tokenizer.kind() == "wordpiece") w.set_type(s.unk, Type::control);
}

// ---- SentencePiece ----

void write_sentencepiece(Written& w, const fs::path& path) {
  const MappedFile bytes(path);
  const SentencePieceFile file = check_sentencepiece_file(bytes.text(), path.string());
  const bool unigram = file.model_type == 1;
  if (!unigram && file.model_type != 2) refuse(path.string(), "a model of words or characters");
  if (!file.escapes_spaces || file.space_ends) refuse(path.string(), "spaces behind words, or as they are");
  if (!unigram && !file.table.empty()) refuse(path.string(), "byte pair encoding behind a table of normalisation");
  std::vector<float> scores(w.pieces.size(), 0);
  for (size_t i = 0; i < file.pieces.size(); ++i) {
    if (i >= w.pieces.size() || file.pieces[i].text != w.pieces[i])
      refuse(path.string(), fmt::format("ids that are not those of its pieces, from {} on", i));
    scores[i] = file.pieces[i].score;
    w.types[i] = static_cast<int32_t>(file.pieces[i].type);
  }
  w.set("model", GgufValue::of(unigram ? "t5" : "llama"));
  w.set("scores", GgufValue::of(scores));
  w.set("add_space_prefix", GgufValue::of(file.adds_space));
  w.set("remove_extra_whitespaces", GgufValue::of(file.collapses_spaces));
  if (!file.table.empty())
    w.metadata["tokenizer.ggml.precompiled_charsmap"] = {GgufType::u8, true, file.table.size(),
                                                         std::string(file.table)};
}

// Merges that were made of a SentencePiece model are sorted by the scores of what they give: those that give one piece stand
// together, and their place is as good as its score.
std::vector<float> scores_of_merges(const Written& w, const MergePairs& merges) {
  std::unordered_map<std::string, size_t> ids;
  for (size_t i = 0; i < w.pieces.size(); ++i) ids.emplace(w.pieces[i], i);
  std::vector<float> scores(w.pieces.size(), 0);
  std::string last;
  float place = 0;
  for (const auto& [left, right] : merges) {
    const std::string both = left + right;
    if (both == last) continue;
    const auto found = ids.find(both);
    if (found == ids.end() || scores[found->second] != 0)
      refuse(w.where, fmt::format("merges to '{}' in several places, without a tokenizer.model", printable(both)));
    scores[found->second] = --place;
    last = both;
  }
  return scores;
}

// ---- tokenizer.json ----

// What a list of steps, or the one step, says of how words are cut.
struct Cutting {
  bool bytes = false, single_digits = false, nfc = false, prefix = false;
  std::string pattern;
  std::string other;  // a step that is none of these
};

void read_step(const JsonObject& step, Cutting& c) {
  const std::string type = step.text("type");
  if (type == "Sequence") {
    for (const char* list : {"pretokenizers", "normalizers"})
      for (size_t i = 0; step.has(list) && i < step.list(list).size(); ++i)
        read_step(JsonObject(step.list(list)[i], step.where()), c);
  } else if (type == "ByteLevel") {
    c.bytes = true, c.prefix = step.flag("add_prefix_space", true);
  } else if (type == "Digits") {
    c.single_digits = step.flag("individual_digits", false);
  } else if (type == "Split" && step.object("pattern").has("Regex")) {
    c.pattern = step.object("pattern").text("Regex");
  } else if (type == "NFC") {
    c.nfc = true;
  } else {
    c.other = type;
  }
}

void write_bytes_bpe(Written& w, const MergePairs& merges, const std::string& words, bool prefix) {
  std::vector<std::string> joined;
  for (const auto& [left, right] : merges) joined.push_back(left + " " + right);
  w.set("model", GgufValue::of("gpt2"));
  w.set("pre", GgufValue::of(words));
  w.set("merges", GgufValue::of(joined));
  w.set("add_space_prefix", GgufValue::of(prefix));
}

void write_json_bpe(Written& w, const JsonObject& root, const JsonObject& model) {
  const auto merges = read_merges(model);
  Cutting c;
  for (const char* part : {"normalizer", "pre_tokenizer"})
    if (root.has(part)) read_step(root.object(part), c);
  if (model.flag("byte_fallback", false) && !c.bytes) {
    w.set("model", GgufValue::of("llama"));
    w.set("scores", GgufValue::of(scores_of_merges(w, merges)));
    const Tokens tokens = w.tokenizer.encode("a");
    w.set("add_space_prefix",
          GgufValue::of(!tokens.ids.empty() && w.tokenizer.piece(tokens.ids[0]).starts_with(space)));
    w.set("remove_extra_whitespaces", GgufValue::of(false));
    for (size_t i = 0; i < w.pieces.size(); ++i)
      if (w.pieces[i].size() == 6 && w.pieces[i].starts_with("<0x") && w.pieces[i].ends_with('>'))
        w.types[i] = Type::byte;
    return;
  }
  if (!c.bytes || !c.other.empty())
    refuse(root.where(), c.other.empty() ? "BPE of characters" : fmt::format("a step '{}'", printable(c.other)));
  const bool whole_words = model.flag("ignore_merges", false);
  for (const GgufWords& words : gguf_words())
    if (words.pattern == c.pattern && words.single_digits == c.single_digits && words.nfc == c.nfc &&
        words.whole_words == whole_words)
      return write_bytes_bpe(w, merges, std::string(words.name), c.prefix);
  refuse(root.where(), "a way of cutting words that has no name there");
}

// GGUF writes ▁ before pieces that begin a word, and what goes on without "##".
void write_wordpiece(Written& w) {
  w.set("model", GgufValue::of("bert"));
  for (size_t i = 0; i < w.pieces.size(); ++i) {
    std::string& piece = w.pieces[i];
    if (w.types[i] == Type::control || w.types[i] == Type::unused || (piece.starts_with('[') && piece.ends_with(']')))
      continue;
    if (piece.starts_with("##") && piece.size() > 2)
      piece.erase(0, 2);
    else
      piece.insert(0, space);
  }
}

void write_json(Written& w, const fs::path& path) {
  const MappedFile bytes(path);
  const Json json = parse_json(bytes.text(), path.string());
  const JsonObject root(json, path.string()), model = root.object("model");
  if (root.has("added_tokens")) mark_added(w, read_added_tokens(root.at("added_tokens"), path.string()));
  if (model.has("merges")) return write_json_bpe(w, root, model);
  if (w.tokenizer.kind() != "wordpiece") refuse(path.string(), fmt::format("a {} model", w.tokenizer.kind()));
  write_wordpiece(w);
}

void write_special_ids(Written& w) {
  const SpecialIds& s = w.tokenizer.special();
  const auto set = [&](const char* role, int64_t id) {
    if (id >= 0) w.set(std::string(role) + "_token_id", GgufValue::of(static_cast<uint32_t>(id)));
  };
  set("bos", s.bos), set("eos", s.eos), set("unknown", s.unk), set("padding", s.pad), set("mask", s.mask);
  if (w.tokenizer.kind() == "wordpiece") set("cls", s.bos), set("seperator", s.eos);  // as the format spells it
  const std::vector<int64_t> frame = w.tokenizer.frame({}).ids;
  // Tokenizers that were trained here cannot say that a text has a start; models begin with it all the same.
  const bool bare = dynamic_cast<const SentencePiece*>(&w.tokenizer) != nullptr && s.bos >= 0;
  const bool before = bare || (!frame.empty() && frame.front() == s.bos);
  w.set("add_bos_token", GgufValue::of(before));
  w.set("add_eos_token", GgufValue::of(!bare && frame.size() > (before ? 1u : 0u) && frame.back() == s.eos));
}

}  // namespace

GgufMetadata gguf_vocabulary(const fs::path& folder, const Tokenizer& tokenizer, int64_t entries) {
  Written w(folder, tokenizer, entries);
  const SpecialTokens special = read_special_tokens(folder);
  mark_special(w, special.added);
  const auto has = [&](const char* name) { return path_exists(folder / name); };
  if (has("tokenizer.model"))
    write_sentencepiece(w, folder / "tokenizer.model");
  else if (has("spiece.model"))
    write_sentencepiece(w, folder / "spiece.model");
  else if (has("tokenizer.json"))
    write_json(w, folder / "tokenizer.json");
  else if (has("vocab.txt"))
    write_wordpiece(w);
  else if (has("merges.txt"))
    write_bytes_bpe(w, read_merges_txt(read_text(folder / "merges.txt"), (folder / "merges.txt").string()), "gpt-2",
                    special.add_prefix_space.value_or(false));
  else
    refuse(w.where, fmt::format("a tokenizer of kind '{}'", tokenizer.kind()));
  mark_special(w, special.added);  // whatever the pieces' own file says
  write_special_ids(w);
  w.set("tokens", GgufValue::of(w.pieces));
  w.set("token_type", GgufValue::of(w.types));
  return w.metadata;
}

void check_same_ids(const Tokenizer& given, const Tokenizer& written, std::string_view where) {
  for (const std::string_view text :
       {"", "Hello world", "It's 2024, isn't it?", "Grüße aus Köln", "CamelCase AND CAFÉ, naïve", "12345 + 6.7e-8",
        "two  spaces,   three\ttabs \n\n and lines\r\n  ", "日本語のテキスト und кириллица",
        "😀 👩‍👩‍👧 \"quoted\" (brackets) [x] {y}", "don't we'll I'M they'Re"}) {
    const Tokens expected = given.encode(text), found = written.encode(text);
    const bool same_frame = !given.frames() || given.frame(expected).ids == written.frame(found).ids;
    if (expected.ids == found.ids && same_frame) continue;
    throw Error(Error::unsupported, "{}: its tokenizer, as GGUF files can have it, gives other ids for \"{}\"", where,
                printable(text));
  }
}

}  // namespace fovea
