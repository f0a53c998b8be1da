#include "fovea/data/text/pretrained/tokenizer_json_parts.h"

#include "fovea/data/text/pretrained/character_kinds.h"
#include "fovea/data/text/pretrained/json_object.h"

namespace fovea {
namespace {

using Json = nlohmann::json;

[[noreturn]] void unknown_kind(const JsonObject& part) {
  throw Error(Error::unsupported, "{}: found the kind '{}', which is not supported", part.where(), part.text("type"));
}

char32_t one_character(const JsonObject& part, const char* key) {
  const std::string text = part.text(key);
  if (text.empty() || character_at(text, 0).size != text.size()) part.fail(key, "one character");
  return character_at(text, 0).value;
}

// {"String": …} or {"Regex": …}
Regex read_pattern(const JsonObject& part) {
  const JsonObject pattern = part.object("pattern");
  if (pattern.has("String")) return Regex::literal(pattern.text("String"), part.where());
  return Regex(pattern.text("Regex"), part.where());
}

template <class Pointer, class Read>
Pointer read_sequence(const JsonObject& part, const char* key, Read read) {
  std::vector<Pointer> parts;
  for (const Json& item : part.list(key)) {
    if (Pointer one = read(item, part.where())) parts.push_back(std::move(one));
  }
  return sequence_of(std::move(parts));
}

Behaviour read_behaviour(const JsonObject& part, const char* otherwise) {
  const std::string name = part.text("behavior", otherwise);
  if (name == "Isolated") return Behaviour::isolated;
  if (name == "Removed") return Behaviour::removed;
  if (name == "Contiguous") return Behaviour::contiguous;
  if (name == "MergedWithPrevious") return Behaviour::merged_with_previous;
  if (name == "MergedWithNext") return Behaviour::merged_with_next;
  throw Error(Error::unsupported, "{}: found the behaviour '{}', which is not supported", part.where(), name);
}

MetaspaceOptions read_metaspace(const JsonObject& part) {
  MetaspaceOptions o;
  o.replacement = one_character(part, "replacement");
  const std::string scheme = part.text("prepend_scheme", part.flag("add_prefix_space", true) ? "always" : "never");
  if (scheme != "always" && scheme != "first" && scheme != "never")
    throw Error(Error::unsupported, "{}: found the prepend_scheme '{}', which is not supported", part.where(), scheme);
  o.prepend = scheme == "always"  ? MetaspaceOptions::Prepend::always
              : scheme == "first" ? MetaspaceOptions::Prepend::first
                                  : MetaspaceOptions::Prepend::never;
  o.split = part.flag("split", true);
  return o;
}

// ["[SEP]", 102]
int64_t id_of_pair(const JsonObject& part, const char* key) {
  const Json& pair = part.list(key);
  if (pair.size() != 2 || !pair[0].is_string() || !pair[1].is_number_unsigned()) part.fail(key, "a text and an id");
  return static_cast<int64_t>(std::min<uint64_t>(pair[1].get<uint64_t>(), INT32_MAX));
}

std::vector<PostProcessor::Item> read_template(const JsonObject& part, const char* key) {
  std::vector<PostProcessor::Item> items;
  for (const Json& json : part.list(key)) {
    const JsonObject item(json, part.where() + ": " + key);
    if (item.has("Sequence")) {
      const JsonObject sequence = item.object("Sequence");
      const std::string which = sequence.text("id");
      if (which != "A" && which != "B") sequence.fail("id", "A or B");
      items.push_back({which == "A" ? 0 : 1, {}, sequence.number("type_id", 0)});
      continue;
    }
    const JsonObject special = item.object("SpecialToken");
    const JsonObject token = part.object("special_tokens").object(special.text("id").c_str());
    PostProcessor::Item found = {-1, {}, special.number("type_id", 0)};
    for (const Json& id : token.list("ids")) {
      if (!id.is_number_unsigned()) token.fail("ids", "ids");
      found.ids.push_back(static_cast<int64_t>(std::min<uint64_t>(id.get<uint64_t>(), INT32_MAX)));
    }
    items.push_back(std::move(found));
  }
  for (const auto& item : items) {
    if (item.text == 1 && std::string_view(key) == "single") part.fail(key, "no second text");
  }
  return items;
}

void join(PostProcessor& all, const PostProcessor& next, const std::string& where) {
  if (all.adds() && next.adds())
    throw Error(Error::unsupported, "{}: found two post-processors that add special tokens, expected one", where);
  if (next.adds()) all.single = next.single, all.pair = next.pair;
  if (next.trim_offsets) all.trim_offsets = true, all.add_prefix_space = next.add_prefix_space;
}

}  // namespace

NormalizerPointer read_normalizer(const Json& json, const std::string& where) {
  if (json.is_null()) return nullptr;
  const JsonObject part(json, where);
  const std::string type = part.text("type");
  if (type == "Sequence") return read_sequence<NormalizerPointer>(part, "normalizers", read_normalizer);
  if (type == "BertNormalizer") {
    const bool lower = part.flag("lowercase", true);
    return bert_normalizer({.clean_text = part.flag("clean_text", true),
                            .chinese_characters = part.flag("handle_chinese_chars", true),
                            .strip_accents = part.flag("strip_accents", lower),
                            .lower_case = lower});
  }
  if (type == "NFC") return unicode_normalizer(NormalForm::nfc);
  if (type == "NFD") return unicode_normalizer(NormalForm::nfd);
  if (type == "NFKC") return unicode_normalizer(NormalForm::nfkc);
  if (type == "NFKD") return unicode_normalizer(NormalForm::nfkd);
  if (type == "Lowercase") return lowercase_normalizer();
  if (type == "StripAccents") return strip_accents_normalizer();
  if (type == "Strip") return strip_normalizer(part.flag("strip_left", true), part.flag("strip_right", true));
  if (type == "Replace") return replace_normalizer(read_pattern(part), part.text("content"));
  if (type == "Prepend") return prepend_normalizer(part.text("prepend"));
  if (type == "Nmt") return nmt_normalizer();
  if (type == "ByteLevel") return byte_level_normalizer();
  if (type == "Precompiled")
    return precompiled_normalizer(decode_base64(part.text("precompiled_charsmap", ""), where), where);
  unknown_kind(part);
}

PreTokenizerPointer read_pre_tokenizer(const Json& json, const std::string& where) {
  if (json.is_null()) return nullptr;
  const JsonObject part(json, where);
  const std::string type = part.text("type");
  if (type == "Sequence") return read_sequence<PreTokenizerPointer>(part, "pretokenizers", read_pre_tokenizer);
  if (type == "BertPreTokenizer") return bert_pre_tokenizer();
  if (type == "ByteLevel")
    return byte_level_pre_tokenizer(
        {.add_prefix_space = part.flag("add_prefix_space", true), .use_regex = part.flag("use_regex", true)});
  if (type == "Whitespace") return whitespace_pre_tokenizer();
  if (type == "WhitespaceSplit") return whitespace_split_pre_tokenizer();
  if (type == "Punctuation") return punctuation_pre_tokenizer(read_behaviour(part, "Isolated"));
  if (type == "Digits") return digits_pre_tokenizer(part.flag("individual_digits", false));
  if (type == "Metaspace") return metaspace_pre_tokenizer(read_metaspace(part));
  if (type == "CharDelimiterSplit") return delimiter_pre_tokenizer(one_character(part, "delimiter"));
  if (type == "UnicodeScripts") return unicode_scripts_pre_tokenizer();
  if (type == "FixedLength") return fixed_length_pre_tokenizer(part.number("length", 5));
  if (type == "Split") {
    const Behaviour behaviour = read_behaviour(part, "Removed");
    const JsonObject pattern = part.object("pattern");
    if (pattern.has("String") && pattern.text("String").empty()) return sequence_of(std::vector<PreTokenizerPointer>{});
    return split_pre_tokenizer(read_pattern(part), behaviour, part.flag("invert", false));
  }
  unknown_kind(part);
}

PostProcessor read_post_processor(const Json& json, const std::string& where) {
  if (json.is_null()) return {};
  const JsonObject part(json, where);
  const std::string type = part.text("type");
  PostProcessor p;
  if (type == "TemplateProcessing") {
    p.single = read_template(part, "single");
    p.pair = read_template(part, "pair");
  } else if (type == "BertProcessing") {
    p = bert_processor({.cls = id_of_pair(part, "cls"), .sep = id_of_pair(part, "sep")});
  } else if (type == "RobertaProcessing") {
    p = roberta_processor({.cls = id_of_pair(part, "cls"), .sep = id_of_pair(part, "sep")});
    p.trim_offsets = part.flag("trim_offsets", true);
    p.add_prefix_space = part.flag("add_prefix_space", true);
  } else if (type == "ByteLevel") {
    p.trim_offsets = part.flag("trim_offsets", true);
    p.add_prefix_space = part.flag("add_prefix_space", true);
  } else if (type == "Sequence") {
    for (const Json& item : part.list("processors")) join(p, read_post_processor(item, where), where);
  } else {
    unknown_kind(part);
  }
  return p;
}

DecoderPointer read_decoder(const Json& json, const std::string& where) {
  if (json.is_null()) return nullptr;
  const JsonObject part(json, where);
  const std::string type = part.text("type");
  if (type == "Sequence") return read_sequence<DecoderPointer>(part, "decoders", read_decoder);
  if (type == "ByteLevel") return byte_level_decoder();
  if (type == "WordPiece") return wordpiece_decoder(part.text("prefix", "##"), part.flag("cleanup", true));
  if (type == "BPEDecoder") return bpe_decoder(part.text("suffix", "</w>"));
  if (type == "ByteFallback") return byte_fallback_decoder();
  if (type == "Fuse") return fuse_decoder();
  if (type == "Replace") return replace_decoder(read_pattern(part), part.text("content"));
  if (type == "Strip") {
    return strip_decoder(one_character(part, "content"), part.number("start", 0), part.number("stop", 0));
  }
  if (type == "Metaspace") {
    const MetaspaceOptions o = read_metaspace(part);
    return metaspace_decoder(o.replacement, o.prepend != MetaspaceOptions::Prepend::never);
  }
  if (type == "CTC")
    return ctc_decoder(part.text("pad_token", "<pad>"), part.text("word_delimiter_token", "|"),
                       part.flag("cleanup", true));
  unknown_kind(part);
}

std::string decode_base64(std::string_view text, std::string_view where) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  while (text.ends_with('=')) text.remove_suffix(1);
  for (char c : text) {
    const size_t digit = digits.find(c);
    if (digit == digits.npos) throw Error(Error::corrupt, "{}: found '{}' in base64", where, printable({&c, 1}));
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xFF);
  }
  return bytes;
}

}  // namespace fovea
