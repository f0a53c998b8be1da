#include "fovea/data/text/gguf_tokenizer.h"

#include <algorithm>
#include <numeric>

#include "fovea/base/text.h"
#include "fovea/data/text/gguf_words.h"
#include "fovea/data/text/pretrained/pipeline.h"
#include "fovea/data/text/pretrained/unigram.h"
#include "fovea/data/text/pretrained/wordpiece.h"

namespace fovea {
namespace {

constexpr std::string_view space = "\u2581";  // ▁, which stands for a space

enum TokenType { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

// What all kinds have: pieces with their types and scores.
struct Stored {
  explicit Stored(const Gguf& f) : file(f), where(f.path().string()), pieces(f.texts("tokenizer.ggml.tokens")) {
    types.assign(pieces.size(), normal), scores.assign(pieces.size(), 0);
    if (f.contains("tokenizer.ggml.token_type")) types = f.integers("tokenizer.ggml.token_type");
    if (f.contains("tokenizer.ggml.scores")) scores = f.numbers("tokenizer.ggml.scores");
    if (types.size() != pieces.size() || scores.size() != pieces.size())
      throw Error(Error::corrupt, "{}: found {} tokens, {} types and {} scores, expected as many of each", where,
                  pieces.size(), types.size(), scores.size());
    for (const std::string& piece : pieces) check_utf8(piece, where);
  }
  // An id that the metadata names, or −1.
  int64_t id(const char* role) const {
    const std::string key = fmt::format("tokenizer.ggml.{}_token_id", role);
    if (!file.contains(key)) return -1;
    const int64_t id = file.integer(key);
    if (id < 0 || id >= static_cast<int64_t>(pieces.size()))
      throw Error(Error::corrupt, "{}: found {} {}, expected one of {} tokens", where, key, id, pieces.size());
    return id;
  }
  bool flag(const char* key, bool otherwise) const {
    return file.flag(std::string("tokenizer.ggml.") + key, otherwise);
  }

  const Gguf& file;
  std::string where;
  std::vector<std::string> pieces;
  std::vector<int64_t> types;
  std::vector<double> scores;
};

// Tokens of control and of the user are found before the text is cut; the first are left out when it is put together again.
void add_tokens(const Stored& stored, PipelineParts& parts) {
  for (size_t i = 0; i < stored.pieces.size(); ++i) {
    const int64_t type = stored.types[i];
    if (type != control && type != user_defined) continue;
    if (stored.pieces[i].empty()) continue;
    parts.added.push_back({.id = static_cast<int64_t>(i), .content = stored.pieces[i], .special = type == control});
  }
}

void add_ids(const Stored& stored, PipelineParts& parts) {
  const auto first = [](int64_t a, int64_t b) { return a >= 0 ? a : b; };
  parts.where = stored.where;
  parts.special.bos = first(stored.id("bos"), stored.id("cls"));
  parts.special.eos = first(stored.id("eos"), first(stored.id("seperator"), stored.id("separator")));
  parts.special.unk = first(stored.id("unknown"), parts.model->unknown());
  parts.special.pad = stored.id("padding");
  parts.special.mask = stored.id("mask");
}

// <s> A and <s> A <s> B, if the file asks for them; the same behind.
void add_frame(const Stored& stored, PipelineParts& parts, bool before, bool behind) {
  before = stored.flag("add_bos_token", before) && parts.special.bos >= 0;
  behind = stored.flag("add_eos_token", behind) && parts.special.eos >= 0;
  if (!before && !behind) return;
  for (int text : {0, 1}) {
    for (auto* items : {&parts.post_processor.single, &parts.post_processor.pair}) {
      if (text == 1 && items == &parts.post_processor.single) continue;
      const int64_t type = text;
      if (before) items->push_back({.text = -1, .ids = {parts.special.bos}, .type = type});
      items->push_back({.text = text, .type = type});
      if (behind) items->push_back({.text = -1, .ids = {parts.special.eos}, .type = type});
    }
  }
}

// Spaces as ▁, one more before the text; and back.
void add_spaces(const Stored& stored, PipelineParts& parts, bool collapse) {
  std::vector<NormalizerPointer> normalizers;
  if (stored.file.contains("tokenizer.ggml.precompiled_charsmap")) {
    std::string table = stored.file.metadata().at("tokenizer.ggml.precompiled_charsmap").bytes;
    if (!table.empty()) normalizers.push_back(precompiled_normalizer(std::move(table), stored.where));
  }
  if (stored.flag("remove_extra_whitespaces", collapse)) {
    normalizers.push_back(replace_normalizer(Regex("\\A +| +\\z", stored.where), ""));
    normalizers.push_back(replace_normalizer(Regex(" {2,}", stored.where), " "));
  }
  const bool prefix = stored.flag("add_space_prefix", true);
  if (prefix) normalizers.push_back(prepend_normalizer(space));
  normalizers.push_back(replace_normalizer(Regex::literal(" ", stored.where), space));
  parts.normalizer = sequence_of(std::move(normalizers));
  std::vector<DecoderPointer> decoders = {replace_decoder(Regex::literal(space, stored.where), " "),
                                          byte_fallback_decoder(), fuse_decoder()};
  if (prefix) decoders.push_back(strip_decoder(U' ', 1, 0));
  parts.decoder = sequence_of(std::move(decoders));
}

// Pieces are joined in the order of their scores, the greatest first; those of equal score are equal.
std::vector<int32_t> ranks_of(const Stored& stored) {
  std::vector<double> order = stored.scores;
  std::sort(order.begin(), order.end(), std::greater<>());
  order.erase(std::unique(order.begin(), order.end()), order.end());
  std::vector<int32_t> ranks(stored.pieces.size(), -1);
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (stored.types[i] != normal && stored.types[i] != user_defined) continue;
    const auto place = std::lower_bound(order.begin(), order.end(), stored.scores[i], std::greater<>());
    ranks[i] = static_cast<int32_t>(place - order.begin());
  }
  return ranks;
}

PipelineParts llama(const Stored& stored) {
  PipelineParts parts;
  Vocabulary vocabulary(stored.pieces, stored.where);
  const auto merges = merges_of_ranks(vocabulary, ranks_of(stored));
  const int64_t none = stored.id("unknown");
  const std::string name = none >= 0 ? stored.pieces[static_cast<size_t>(none)] : "";
  parts.model = std::make_shared<Bpe>(std::move(vocabulary), merges,
                                      Bpe::Options{.unknown = name, .fuse_unknown = true, .byte_fallback = true});
  add_spaces(stored, parts, false);
  add_tokens(stored, parts);
  add_ids(stored, parts);
  add_frame(stored, parts, true, false);
  return parts;
}

PipelineParts t5(const Stored& stored) {
  PipelineParts parts;
  const auto unk = std::find(stored.types.begin(), stored.types.end(), int64_t{unknown});
  const int64_t none = unk == stored.types.end() ? stored.id("unknown") : unk - stored.types.begin();
  parts.model = std::make_shared<Unigram>(Vocabulary(stored.pieces, stored.where), stored.scores,
                                          Unigram::Options{.unknown = none});
  add_spaces(stored, parts, true);
  add_tokens(stored, parts);
  add_ids(stored, parts);
  add_frame(stored, parts, false, true);
  return parts;
}

// GGUF writes ▁ before pieces that begin a word, and what goes on without "##".
PipelineParts bert(const Stored& stored) {
  std::vector<std::string> pieces = stored.pieces;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (stored.types[i] == control || stored.types[i] == unknown) continue;
    if (pieces[i].starts_with(space))
      pieces[i].erase(0, space.size());
    else if (!(pieces[i].starts_with('[') && pieces[i].ends_with(']')))
      pieces[i].insert(0, "##");
  }
  PipelineParts parts;
  const int64_t none = stored.id("unknown");
  WordPiece::Options options;
  if (none >= 0) options.unknown = pieces[static_cast<size_t>(none)];
  parts.model = std::make_shared<WordPiece>(Vocabulary(std::move(pieces), stored.where), options);
  parts.normalizer = bert_normalizer({});
  parts.pre_tokenizer = bert_pre_tokenizer();
  parts.decoder = wordpiece_decoder("##", true);
  add_tokens(stored, parts);
  add_ids(stored, parts);
  if (parts.special.bos >= 0 && parts.special.eos >= 0)
    parts.post_processor = bert_processor({.cls = parts.special.bos, .sep = parts.special.eos});
  return parts;
}

// Files from before there was such a key, and those of "default", are cut as GPT-2 does.
GgufWords words_of(const Stored& stored) {
  const std::string pre = stored.file.text("tokenizer.ggml.pre", "default");
  if (pre == "default") return gguf_words()[0];
  for (const GgufWords& words : gguf_words())
    if (words.name == pre) return words;
  std::string known;
  for (const GgufWords& words : gguf_words()) known += (known.empty() ? "" : ", ") + std::string(words.name);
  throw Error(Error::unsupported, "{}: found tokenizer.ggml.pre '{}', expected one of {}", stored.where, printable(pre),
              known);
}

PreTokenizerPointer pre_tokenizer_of(const GgufWords& words, bool prefix, const std::string& where) {
  std::vector<PreTokenizerPointer> all;
  if (words.single_digits) all.push_back(digits_pre_tokenizer(true));
  if (!words.pattern.empty())
    all.push_back(split_pre_tokenizer(Regex(words.pattern, where), Behaviour::isolated, false));
  all.push_back(byte_level_pre_tokenizer({.add_prefix_space = prefix, .use_regex = words.pattern.empty()}));
  return all.size() == 1 ? all[0] : sequence_of(std::move(all));
}

PipelineParts gpt2(const Stored& stored) {
  const GgufWords words = words_of(stored);
  Vocabulary vocabulary(stored.pieces, stored.where);
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& merge : stored.file.texts("tokenizer.ggml.merges")) {
    const size_t cut = merge.find(' ', 1);
    if (cut == merge.npos || cut + 1 == merge.size())
      throw Error(Error::corrupt, "{}: found the merge '{}', expected two pieces", stored.where,
                  printable(std::string_view(merge).substr(0, 100)));
    pairs.emplace_back(merge.substr(0, cut), merge.substr(cut + 1));
  }
  const auto merges = merges_of_pairs(vocabulary, pairs, "", stored.where);
  PipelineParts parts;
  parts.model = std::make_shared<Bpe>(std::move(vocabulary), merges, Bpe::Options{.whole_words = words.whole_words});
  if (words.nfc) parts.normalizer = unicode_normalizer(NormalForm::nfc);
  parts.pre_tokenizer = pre_tokenizer_of(words, stored.flag("add_space_prefix", false), stored.where);
  parts.decoder = byte_level_decoder();
  add_tokens(stored, parts);
  add_ids(stored, parts);
  add_frame(stored, parts, false, false);
  return parts;
}

}  // namespace

std::unique_ptr<Tokenizer> gguf_tokenizer(const Gguf& file) {
  const std::string model = file.text("tokenizer.ggml.model");
  PipelineParts (*parts_of)(const Stored&) = nullptr;
  if (model == "llama") parts_of = llama;
  if (model == "gpt2") parts_of = gpt2;
  if (model == "bert") parts_of = bert;
  if (model == "t5") parts_of = t5;
  if (!parts_of)
    throw Error(Error::unsupported, "{}: found tokenizer.ggml.model '{}', expected llama, gpt2, bert or t5",
                file.path().string(), printable(model));
  return std::make_unique<Pipeline>(parts_of(Stored(file)));
}

}  // namespace fovea
