#include "fovea/data/text/pretrained/vocabulary_files.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/base/text.h"
#include "fovea/data/text/pretrained/character_kinds.h"
#include "fovea/data/text/pretrained/special_tokens.h"
#include "fovea/data/text/pretrained/tokenizer_json_parts.h"
#include "fovea/data/text/pretrained/wordpiece.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

template <class Use>
void each_line(std::string_view text, Use use) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    use(line);
    at = end + 1;
  }
}

int64_t id_in(const PipelineParts& parts, const std::string& name) {
  for (const AddedToken& token : parts.added)
    if (token.content == name) return token.id;
  return parts.model->vocabulary().id_of(name);
}

std::string named(const SpecialTokens& special, const char* role, const char* otherwise) {
  const auto found = special.names.find(role);
  return found == special.names.end() ? otherwise : found->second;
}

// ---- GPT-2, RoBERTa, BART and what is cut as they are ----

PipelineParts byte_level_parts(std::shared_ptr<const SubwordModel> model, bool add_prefix_space) {
  PipelineParts parts;
  parts.model = std::move(model);
  parts.pre_tokenizer = byte_level_pre_tokenizer({.add_prefix_space = add_prefix_space});
  parts.decoder = byte_level_decoder();
  return parts;
}

// ---- tiktoken ----

std::string spelled(std::string_view bytes) {
  std::string piece;
  for (char byte : bytes) append_utf8(piece, character_of_byte(static_cast<unsigned char>(byte)));
  return piece;
}

constexpr std::string_view cl100k_pattern =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| "
    "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|"
    "\\s+(?!\\S)|\\s+";
constexpr std::string_view qwen_pattern =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|"
    "\\s+(?!\\S)|\\s+";
constexpr std::string_view o200k_pattern =
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|"
    "'d)?|"
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|"
    "'d)?|"
    "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

// A table of ranks does not say how texts are cut into words: that is known by how many ranks it has.
PreTokenizerPointer tiktoken_words(int64_t ranks, const std::string& where) {
  if (ranks <= 50'281) return byte_level_pre_tokenizer({});  // gpt2, r50k, p50k; Whisper's two
  const auto by_pattern = [&](std::string_view pattern) {
    return sequence_of(
        std::vector<PreTokenizerPointer>{split_pre_tokenizer(Regex(pattern, where), Behaviour::isolated, false),
                                         byte_level_pre_tokenizer({.add_prefix_space = false, .use_regex = false})});
  };
  if (ranks == 100'256) return by_pattern(cl100k_pattern);
  if (ranks == 199'998) return by_pattern(o200k_pattern);
  if (ranks == 151'643) return by_pattern(qwen_pattern);
  throw Error(Error::unsupported,
              "{}: found {} ranks, expected those of GPT-2 or Whisper, cl100k, o200k or Qwen; use a tokenizer.json",
              where, ranks);
}

Vocabulary read_ranks(std::string_view text, const std::string& where) {
  std::vector<std::string> pieces;
  each_line(text, [&](std::string_view line) {
    if (line.empty()) return;
    const auto fail = [&](std::string_view what) {
      throw Error(Error::corrupt, "{}: line {}: {}, expected a token in base64 and its rank", where, pieces.size() + 1,
                  what);
    };
    const size_t space = line.find(' ');
    if (space == line.npos) fail("found no space");
    size_t rank = 0;
    const auto [end, error] = std::from_chars(line.data() + space + 1, line.data() + line.size(), rank);
    if (error != std::errc() || end != line.data() + line.size()) fail("found no rank");
    if (rank != pieces.size()) fail(fmt::format("found rank {} where {} comes next", rank, pieces.size()));
    pieces.push_back(spelled(decode_base64(line.substr(0, space), where)));  // Whisper's last one is empty
  });
  return Vocabulary(std::move(pieces), where);
}

}  // namespace

MergePairs read_merges_txt(std::string_view text, const std::string& where) {
  MergePairs merges;
  int64_t number = 0;
  each_line(text, [&](std::string_view line) {
    ++number;
    if (line.starts_with("#version") || line.empty()) return;
    const size_t space = line.find(' ');
    if (space == line.npos || line.find(' ', space + 1) != line.npos)
      throw Error(Error::corrupt, "{}:{}: found '{}', expected two pieces", where, number,
                  printable(line.substr(0, 100)));
    merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  });
  return merges;
}

namespace {

PipelineParts wordpiece_parts(std::vector<std::string> pieces, const SpecialTokens& special, const std::string& where) {
  const bool lower = special.do_lower_case.value_or(true);
  PipelineParts parts;
  parts.where = where;
  parts.model = std::make_shared<WordPiece>(Vocabulary(std::move(pieces), where),
                                            WordPiece::Options{.unknown = named(special, "unk", "[UNK]")});
  parts.normalizer = bert_normalizer({.clean_text = true,
                                      .chinese_characters = special.tokenize_chinese_chars.value_or(true),
                                      .strip_accents = special.strip_accents.value_or(lower),
                                      .lower_case = lower});
  parts.pre_tokenizer = bert_pre_tokenizer();
  parts.decoder = wordpiece_decoder("##", true);
  parts.added = special.added;
  SpecialTokens complete = special;
  for (const auto& [role, name] :
       {std::pair{"unk", "[UNK]"}, {"sep", "[SEP]"}, {"pad", "[PAD]"}, {"cls", "[CLS]"}, {"mask", "[MASK]"}}) {
    complete.names.emplace(role, name);
    if (parts.model->vocabulary().id_of(complete.names[role]) >= 0) add_named_token(parts, complete.names[role]);
  }
  const FrameIds frame = {.cls = id_in(parts, complete.names["cls"]), .sep = id_in(parts, complete.names["sep"])};
  if (frame.cls >= 0 && frame.sep >= 0) parts.post_processor = bert_processor(frame);
  add_special_tokens(parts, complete);
  return parts;
}

}  // namespace

std::unique_ptr<Tokenizer> load_vocab_txt(const fs::path& file) {
  const MappedFile bytes(file);
  check_utf8(bytes.text(), file.string());
  std::vector<std::string> pieces;
  each_line(bytes.text(), [&](std::string_view line) { pieces.emplace_back(line); });
  PipelineParts parts = wordpiece_parts(std::move(pieces), read_special_tokens(file.parent_path()), file.string());
  parts.files.emplace(file.filename().string(), bytes);
  return std::make_unique<Pipeline>(std::move(parts));
}

std::unique_ptr<Tokenizer> wordpiece_tokenizer(const std::vector<std::string>& pieces, bool lower_case) {
  SpecialTokens special;
  special.do_lower_case = lower_case;
  PipelineParts parts = wordpiece_parts(pieces, special, "wordpiece tokenizer");
  for (const std::string& piece : pieces) parts.texts["vocab.txt"] += piece + "\n";
  parts.texts["tokenizer_config.json"] =
      nlohmann::json({{"tokenizer_class", "BertTokenizer"}, {"do_lower_case", lower_case}}).dump(2) + "\n";
  return std::make_unique<Pipeline>(std::move(parts));
}

std::unique_ptr<Tokenizer> load_vocab_and_merges(const fs::path& vocab, const fs::path& merges_file) {
  const MappedFile vocab_bytes(vocab), merges_bytes(merges_file);
  SpecialTokens special = read_special_tokens(vocab.parent_path());
  Vocabulary vocabulary =
      read_vocabulary(parse_json(vocab_bytes.text(), vocab.string()), special.added, vocab.string());
  check_utf8(merges_bytes.text(), merges_file.string());
  const auto merges =
      merges_of_pairs(vocabulary, read_merges_txt(merges_bytes.text(), merges_file.string()), "", merges_file.string());
  const auto model = std::make_shared<Bpe>(std::move(vocabulary), merges, Bpe::Options{});
  if (!model->knows_all_bytes())
    throw Error(Error::unsupported,
                "{}: not every byte has a piece: this is no byte-level vocabulary as GPT-2's; use a tokenizer.json",
                vocab.string());
  PipelineParts parts = byte_level_parts(model, special.add_prefix_space.value_or(false));
  parts.where = vocab.string();
  parts.files.emplace(vocab.filename().string(), vocab_bytes);
  parts.files.emplace(merges_file.filename().string(), merges_bytes);
  parts.added = special.added;
  const bool roberta = model->vocabulary().id_of("<s>") >= 0 && model->vocabulary().id_of("</s>") >= 0;
  using Names = std::vector<std::pair<const char*, const char*>>;
  const Names usual =
      roberta ? Names{{"bos", "<s>"}, {"eos", "</s>"}, {"unk", "<unk>"}, {"pad", "<pad>"}, {"mask", "<mask>"}}
              : Names{{"bos", "<|endoftext|>"}, {"eos", "<|endoftext|>"}, {"unk", "<|endoftext|>"}};
  for (const auto& [role, name] : usual)
    if (model->vocabulary().id_of(name) >= 0) special.names.emplace(role, name);
  for (const auto& [role, name] : special.names) add_named_token(parts, name, roberta && role == "mask");
  if (roberta) {
    parts.post_processor = roberta_processor(
        {.cls = id_in(parts, named(special, "cls", "<s>")), .sep = id_in(parts, named(special, "sep", "</s>"))});
    parts.post_processor.add_prefix_space = special.add_prefix_space.value_or(false);
  }
  add_special_tokens(parts, special);
  return std::make_unique<Pipeline>(std::move(parts));
}

namespace {

// BPE by the order of the pieces.
PipelineParts ranked_parts(Vocabulary vocabulary, const std::string& where) {
  std::vector<int32_t> ranks(static_cast<size_t>(vocabulary.size()));
  for (size_t i = 0; i < ranks.size(); ++i) ranks[i] = static_cast<int32_t>(i);
  const auto merges = merges_of_ranks(vocabulary, ranks);
  const auto model = std::make_shared<Bpe>(std::move(vocabulary), merges, Bpe::Options{.whole_words = true});
  if (!model->knows_all_bytes()) throw Error(Error::corrupt, "{}: not every byte has a rank", where);
  PipelineParts parts = byte_level_parts(model, false);
  parts.where = where;
  parts.pre_tokenizer = tiktoken_words(model->vocabulary().size(), where);
  return parts;
}

}  // namespace

std::unique_ptr<Tokenizer> load_tiktoken(const fs::path& file) {
  const MappedFile bytes(file);
  const std::string where = file.string();
  PipelineParts parts = ranked_parts(read_ranks(bytes.text(), where), where);
  SpecialTokens special = read_special_tokens(file.parent_path());
  parts.files.emplace(file.filename().string(), bytes);
  parts.added = special.added;
  if (special.names.empty()) special.names = {{"bos", "<|endoftext|>"}, {"eos", "<|endoftext|>"}};
  for (const auto& [role, name] : special.names) add_named_token(parts, name);
  add_special_tokens(parts, special);
  return std::make_unique<Pipeline>(std::move(parts));
}

std::unique_ptr<Tokenizer> whisper_tokenizer(const std::vector<std::string>& words, const std::string& where) {
  std::vector<std::string> pieces;
  for (const std::string& word : words) pieces.push_back(spelled(word));
  PipelineParts parts = ranked_parts(Vocabulary(std::move(pieces), where), where);
  SpecialTokens special;
  special.names = {{"bos", "<|endoftext|>"}, {"eos", "<|endoftext|>"}};
  for (const auto& [role, name] : special.names) add_named_token(parts, name);
  add_special_tokens(parts, special);
  return std::make_unique<Pipeline>(std::move(parts));
}

}  // namespace fovea
