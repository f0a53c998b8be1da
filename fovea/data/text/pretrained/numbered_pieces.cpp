#include "fovea/data/text/pretrained/numbered_pieces.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/data/text/pretrained/special_tokens.h"
#include "fovea/data/text/pretrained/tokenizer_json_parts.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;
using Parts = NumberedPieces::Parts;

std::vector<std::string> pieces_of(const SentencePiece& model) {
  std::vector<std::string> pieces;
  for (int64_t id = 0; id < model.size(); ++id) pieces.push_back(model.piece(id));
  return pieces;
}

// fairseq put <s>, <pad>, </s> and <unk> first (XLM-R: Conneau et al. 2020); the model's own three are taken off.
std::vector<std::string> fairseq_pieces(const SentencePiece& model) {
  std::vector<std::string> pieces = {"<s>", "<pad>", "</s>", "<unk>"};
  const std::vector<std::string> own = pieces_of(model);
  require(own.size() > 3, "sentencepiece: found {} pieces, expected more than three", own.size());
  pieces.insert(pieces.end(), own.begin() + 3, own.end());
  return pieces;
}

int64_t find_piece(const Parts& parts, const std::string& name) {
  const auto found = std::find(parts.pieces.begin(), parts.pieces.end(), name);
  return found == parts.pieces.end() ? -1 : found - parts.pieces.begin();
}

// A token that is found in texts; with the next free id if it is no piece yet.
void add_token(Parts& parts, AddedToken token) {
  const auto same = [&](const AddedToken& t) { return t.content == token.content; };
  if (std::any_of(parts.added.begin(), parts.added.end(), same)) return;
  const int64_t own = find_piece(parts, token.content);
  if (own < 0) parts.pieces.push_back(token.content);
  token.id = own < 0 ? static_cast<int64_t>(parts.pieces.size()) - 1 : own;
  parts.added.push_back(std::move(token));
}

void add_declared_tokens(Parts& parts, const SpecialTokens& special) {
  for (const AddedToken& token : special.added) {
    if (token.id > static_cast<int64_t>(parts.pieces.size()))
      throw Error(Error::corrupt, "{}: found id {} for '{}', expected at most {}; ids have no holes", parts.where,
                  token.id, printable(token.content), parts.pieces.size());
    const int64_t own = find_piece(parts, token.content);
    const bool free = own < 0 && token.id == static_cast<int64_t>(parts.pieces.size());
    if (own != token.id && !free)
      throw Error(Error::corrupt, "{}: found id {} for '{}', which is another piece's", parts.where, token.id,
                  printable(token.content));
    add_token(parts, token);
  }
  for (const auto& [role, name] : special.names) add_token(parts, {.content = name, .special = true});
}

void set_special_ids(Parts& parts, const SpecialTokens& special) {
  const auto id = [&](const char* role, const char* usual) {
    const auto name = special.names.find(role);
    return find_piece(parts, name == special.names.end() ? usual : name->second);
  };
  const auto first = [](int64_t a, int64_t b) { return a >= 0 ? a : b; };
  SpecialIds& s = parts.special;
  s.bos = first(id("bos", "<s>"), id("cls", "[CLS]"));
  s.eos = first(id("eos", "</s>"), id("sep", "[SEP]"));
  s.unk = id("unk", "<unk>");
  s.pad = id("pad", "<pad>");
  s.mask = first(id("mask", "<mask>"), find_piece(parts, "[MASK]"));
}

PostProcessor around(const std::vector<int64_t>& before, const std::vector<int64_t>& behind) {
  PostProcessor p;
  const PostProcessor::Item begin = {-1, before, 0}, end = {-1, behind, 0};
  p.single = {begin, {0, {}, 0}, end};
  p.pair = {begin, {0, {}, 0}, end, {1, {}, 0}, end};
  return p;
}

// T5's <extra_id_0> is the last id, <extra_id_99> the first behind the model's.
void add_extra_ids(Parts& parts, int64_t count) {
  for (int64_t i = count - 1; i >= 0; --i)
    add_token(parts, {.content = fmt::format("<extra_id_{}>", i), .special = true});
}

void complete(Parts& parts, const SpecialTokens& special) {
  const std::string& kind = special.tokenizer_class;
  const SentencePiece& model = *parts.source;
  const auto is = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), kind) != names.end();
  };
  const bool fairseq = is({"XLMRobertaTokenizer", "MBartTokenizer", "MBart50Tokenizer", "NllbTokenizer"});
  const bool plain =
      is({"", "T5Tokenizer", "LlamaTokenizer", "AlbertTokenizer", "GemmaTokenizer", "PreTrainedTokenizer"});
  if (!fairseq && !plain)
    throw Error(Error::unsupported, "{}: found the tokenizer_class '{}', whose ids are not known; use a tokenizer.json",
                parts.where, kind);
  if (fairseq && kind != "XLMRobertaTokenizer" && special.added.empty())
    throw Error(Error::unsupported, "{}: a {} needs added_tokens_decoder in tokenizer_config.json for its languages",
                parts.where, kind);
  parts.pieces = fairseq ? fairseq_pieces(model) : pieces_of(model);
  const bool declared = special.added.size() >= 100;
  if (kind == "T5Tokenizer" && !declared) add_extra_ids(parts, 100);
  if (kind == "XLMRobertaTokenizer") add_token(parts, {.content = "<mask>", .lstrip = true, .special = true});
  add_declared_tokens(parts, special);
  set_special_ids(parts, special);
  const SpecialIds& s = parts.special;
  const auto some = [](bool wanted, int64_t id) {
    return wanted && id >= 0 ? std::vector{id} : std::vector<int64_t>();
  };
  if (kind == "T5Tokenizer") parts.post_processor = around({}, some(true, s.eos));
  if (kind == "LlamaTokenizer" || kind == "GemmaTokenizer")
    parts.post_processor =
        around(some(special.add_bos.value_or(true), s.bos), some(special.add_eos.value_or(false), s.eos));
  if (kind == "XLMRobertaTokenizer") {
    parts.post_processor = roberta_processor({.cls = s.bos, .sep = s.eos});
  }
  if (kind == "AlbertTokenizer")
    parts.post_processor = bert_processor({.cls = find_piece(parts, "[CLS]"), .sep = find_piece(parts, "[SEP]")});
}

}  // namespace

NumberedPieces::NumberedPieces(Parts parts)
    : parts_(std::move(parts)), vocabulary_(parts_.pieces, parts_.where), added_(parts_.added, nullptr, parts_.where) {
  const SentencePiece& source = *parts_.source;
  for (int64_t id = 0; id < source.size(); ++id) {
    const int64_t found = vocabulary_.id_of(source.piece(id));
    ids_.push_back(found < 0 ? parts_.special.unk : found);
  }
  left_out_.assign(parts_.pieces.size(), false);
  const auto leave_out = [&](int64_t id) {
    if (id >= 0) left_out_[static_cast<size_t>(id)] = true;
  };
  for (const AddedToken& token : parts_.added)
    if (token.special) leave_out(token.id);
  for (int64_t id : {parts_.special.pad, parts_.special.bos, parts_.special.eos}) leave_out(id);
}

std::string NumberedPieces::piece(int64_t id) const {
  check_id(id);
  return vocabulary_.piece(id);
}

int64_t NumberedPieces::id_of(std::string_view piece) const {
  const int64_t id = vocabulary_.id_of(piece);
  return id < 0 ? parts_.special.unk : id;
}

Tokens NumberedPieces::encode(std::string_view text) const {
  check_utf8(text, "text");
  Tokens tokens;
  std::vector<std::string> pieces;
  const int64_t unknown = parts_.source->special().unk;
  const auto part = [&](int64_t id, size_t begin, size_t end) {
    const auto at = static_cast<int64_t>(begin);
    if (id >= 0) {
      tokens.ids.push_back(id);
      tokens.spans.push_back({at, static_cast<int64_t>(end)});
      return;
    }
    const auto add = [&](int64_t own, Span span, std::string_view spelled) {
      tokens.ids.push_back(own == unknown ? id_of(spelled) : ids_[static_cast<size_t>(own)]);
      tokens.spans.push_back({at + span.begin, at + span.end});
    };
    const std::string_view own_part = text.substr(begin, end - begin);
    if (parts_.fast && parts_.fast->takes(own_part)) return parts_.fast->each_piece(own_part, add);
    pieces.clear();
    const Tokens own = parts_.source->encode(own_part, pieces);
    for (size_t i = 0; i < own.ids.size(); ++i) add(own.ids[i], own.spans[i], pieces[i]);
  };
  size_t begin = 0;
  if (parts_.language_codes && text.starts_with(">>")) {
    const size_t end = text.find("<<");
    const int64_t code = end == text.npos ? -1 : vocabulary_.id_of(text.substr(0, end + 2));
    if (code >= 0) part(code, 0, begin = end + 2);
  }
  added_.as_given().each_part(text.substr(begin),
                              [&](int64_t id, size_t from, size_t to) { part(id, begin + from, begin + to); });
  require(tokens.ids.empty() || *std::min_element(tokens.ids.begin(), tokens.ids.end()) >= 0,
          "{}: found a piece without an id, and no id for unknown ones", parts_.where);
  return tokens;
}

std::string NumberedPieces::decode(std::span<const int64_t> ids) const {
  std::vector<std::string> pieces;
  for (int64_t id : ids) {
    check_id(id);
    if (!left_out_[static_cast<size_t>(id)]) pieces.push_back(vocabulary_.piece(id));
  }
  std::string text = parts_.target->decode_pieces(pieces);
  if (parts_.source == parts_.target) return text;
  // Pieces of the vocabulary that the target's model lacks come back as they are spelled.
  for (size_t at; (at = text.find("\u2581")) != text.npos;) text.replace(at, 3, " ");
  return std::string(trim(text));
}

void NumberedPieces::save(const fs::path& folder) const {
  make_folder(folder);
  for (const auto& [name, file] : parts_.files) write_text(folder / name, file.text());
}

Tokens NumberedPieces::frame(const Tokens& text, const Tokens* second) const {
  return parts_.post_processor.frame(text, second);
}

std::unique_ptr<Tokenizer> load_sentencepiece_model(const fs::path& file) {
  Parts parts;
  parts.where = file.string();
  parts.source = parts.target = std::make_shared<SentencePiece>(file);
  const SpecialTokens special = read_special_tokens(file.parent_path());
  parts.files = special.files;
  parts.files.emplace(file.filename().string(), MappedFile(file));
  parts.fast = SentencePieceUnigram::make(parts.files.at(file.filename().string()).text(), parts.where);
  complete(parts, special);
  return std::make_unique<NumberedPieces>(std::move(parts));
}

std::unique_ptr<Tokenizer> load_marian(const fs::path& folder) {
  Parts parts;
  parts.where = (folder / "vocab.json").string();
  parts.source = std::make_shared<SentencePiece>(folder / "source.spm");
  parts.target = std::make_shared<SentencePiece>(folder / "target.spm");
  const SpecialTokens special = read_special_tokens(folder);
  parts.files = special.files;
  for (const char* name : {"source.spm", "target.spm", "vocab.json"})
    parts.files.emplace(name, MappedFile(folder / name));
  parts.fast = SentencePieceUnigram::make(parts.files.at("source.spm").text(), parts.where);
  const Vocabulary vocabulary =
      read_vocabulary(parse_json(parts.files.at("vocab.json").text(), parts.where), {}, parts.where);
  for (int64_t id = 0; id < vocabulary.size(); ++id) parts.pieces.push_back(vocabulary.piece(id));
  parts.language_codes = true;
  for (const char* name : {"</s>", "<unk>", "<pad>"})
    if (find_piece(parts, name) >= 0) add_token(parts, {.content = name, .special = true});
  set_special_ids(parts, special);
  parts.special.bos = -1;
  if (parts.special.unk < 0) throw Error(Error::corrupt, "{}: found no <unk>", parts.where);
  if (parts.special.eos >= 0) parts.post_processor = around({}, {parts.special.eos});
  return std::make_unique<NumberedPieces>(std::move(parts));
}

}  // namespace fovea
