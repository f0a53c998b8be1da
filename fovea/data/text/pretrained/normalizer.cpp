#include "fovea/data/text/pretrained/normalizer.h"

#include <utf8proc.h>

#include <algorithm>

#include "fovea/data/text/pretrained/character_kinds.h"

namespace fovea {
namespace {

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

template <class Drop>
void take_out(Characters& characters, Drop drop) {
  std::erase_if(characters, [&](const Character& c) { return drop(c.value); });
}

void lower_ascii(std::string& text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

class Sequence final : public Normalizer {
 public:
  explicit Sequence(std::vector<NormalizerPointer> parts) : parts_(std::move(parts)) {}
  void apply(Characters& characters) const override {
    for (const auto& part : parts_) part->apply(characters);
  }
  bool apply_to_ascii(std::string& text) const override {
    return std::all_of(parts_.begin(), parts_.end(), [&](const auto& part) { return part->apply_to_ascii(text); });
  }

 private:
  std::vector<NormalizerPointer> parts_;
};

class Bert final : public Normalizer {
 public:
  explicit Bert(const BertNormalizerOptions& options) : o_(options) {}

  void apply(Characters& characters) const override {
    if (o_.clean_text) {
      take_out(characters, [](char32_t c) { return c == 0 || c == 0xFFFD || is_bert_control(c); });
      for (Character& c : characters) c.value = is_white_space(c.value) ? U' ' : c.value;
    }
    if (o_.chinese_characters) spread_chinese(characters);
    if (o_.strip_accents) {
      to_normal_form(characters, NormalForm::nfd);
      take_out(characters, is_nonspacing_mark);
    }
    if (o_.lower_case) to_lower_case(characters);
  }

  bool apply_to_ascii(std::string& text) const override {
    if (o_.clean_text) {
      for (char& c : text) {
        if (is_bert_control(static_cast<unsigned char>(c))) return false;
        if (c < ' ') c = ' ';
      }
    }
    if (o_.lower_case) lower_ascii(text);
    return true;
  }

 private:
  static void spread_chinese(Characters& characters) {
    if (std::none_of(characters.begin(), characters.end(),
                     [](const Character& c) { return is_chinese_character(c.value); }))
      return;
    std::vector<Change> changes;
    for (const Character& c : characters) {
      if (!is_chinese_character(c.value)) {
        changes.push_back({c.value, 0});
        continue;
      }
      changes.insert(changes.end(), {{U' ', 0}, {c.value, 1}, {U' ', 1}});
    }
    apply_changes(characters, changes);
  }
  BertNormalizerOptions o_;
};

class Unicode final : public Normalizer {
 public:
  explicit Unicode(NormalForm form) : form_(form) {}
  void apply(Characters& characters) const override { to_normal_form(characters, form_); }
  bool apply_to_ascii(std::string&) const override { return true; }

 private:
  NormalForm form_;
};

class Lowercase final : public Normalizer {
 public:
  void apply(Characters& characters) const override { to_lower_case(characters); }
  bool apply_to_ascii(std::string& text) const override { return lower_ascii(text), true; }
};

class StripAccents final : public Normalizer {
 public:
  void apply(Characters& characters) const override { take_out(characters, is_mark); }
  bool apply_to_ascii(std::string&) const override { return true; }
};

class Strip final : public Normalizer {
 public:
  Strip(bool left, bool right) : left_(left), right_(right) {}
  void apply(Characters& characters) const override {
    const auto stays = [](const Character& c) { return !is_white_space(c.value); };
    if (right_) characters.erase(std::find_if(characters.rbegin(), characters.rend(), stays).base(), characters.end());
    if (left_) characters.erase(characters.begin(), std::find_if(characters.begin(), characters.end(), stays));
  }
  bool apply_to_ascii(std::string& text) const override {
    const auto space = [](char c) { return is_white_space(static_cast<unsigned char>(c)); };
    return text.empty() || !((left_ && space(text.front())) || (right_ && space(text.back())));
  }

 private:
  bool left_, right_;
};

Characters characters_of(std::string_view text) { return AlignedText(text, 0).characters(0, text.size()); }

class Replace final : public Normalizer {
 public:
  Replace(Regex pattern, std::string_view content) : pattern_(std::move(pattern)), content_(characters_of(content)) {}
  void apply(Characters& characters) const override { replace_matches(characters, pattern_, content_); }
  bool apply_to_ascii(std::string& text) const override {
    bool found = false;
    pattern_.each_match(text, [&](size_t, size_t) { found = true; });
    return !found;
  }

 private:
  Regex pattern_;
  Characters content_;
};

class Prepend final : public Normalizer {
 public:
  explicit Prepend(std::string_view text) : text_(characters_of(text)) {}
  void apply(Characters& characters) const override {
    if (characters.empty()) return;
    Characters added = text_;
    for (Character& c : added) c.begin = characters.front().begin, c.end = characters.front().end;
    characters.insert(characters.begin(), added.begin(), added.end());
  }
  bool apply_to_ascii(std::string& text) const override { return text.empty() || text_.empty(); }

 private:
  Characters text_;
};

// The rules of SentencePiece's nmt_nfkc beside those of NFKC.
class Nmt final : public Normalizer {
 public:
  void apply(Characters& characters) const override {
    take_out(characters, is_control);
    for (Character& c : characters) c.value = is_blank(c.value) ? U' ' : c.value;
  }
  bool apply_to_ascii(std::string& text) const override {
    for (char& c : text) {
      if (is_control(static_cast<unsigned char>(c))) return false;
      if (is_blank(static_cast<unsigned char>(c))) c = ' ';
    }
    return true;
  }

 private:
  static bool is_control(char32_t c) {
    return (c >= 0x1 && c <= 0x8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
  }
  static bool is_blank(char32_t c) {
    return c == 0x9 || c == 0xA || c == 0xC || c == 0xD || c == 0x1680 || (c >= 0x200B && c <= 0x200F) || c == 0x2028 ||
           c == 0x2029 || c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
  }
};

class ByteLevel final : public Normalizer {
 public:
  void apply(Characters& characters) const override { to_byte_characters(characters); }
};

}  // namespace

void Normalizer::apply(AlignedText& text) const {
  if (is_ascii(text.text())) {
    std::string copy(text.text());
    if (apply_to_ascii(copy)) {
      if (copy != text.text()) text.change_bytes(std::move(copy));
      return;
    }
  }
  Characters characters = text.characters(0, text.text().size());
  apply(characters);
  text.replace(characters);
}

void to_lower_case(Characters& characters) {
  constexpr char32_t dotted_capital = 0x130;  // the only one whose small letter is two characters
  bool dotted = false;
  for (Character& c : characters) {
    dotted = dotted || c.value == dotted_capital;
    if (c.value < 0x80)
      c.value = c.value >= 'A' && c.value <= 'Z' ? c.value + 32 : c.value;
    else if (c.value != dotted_capital)
      c.value = static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c.value)));
  }
  if (!dotted) return;
  Characters result;
  for (const Character& c : characters) {
    result.push_back(c);
    if (c.value != dotted_capital) continue;
    result.back().value = 'i';
    result.push_back({0x307, c.begin, c.end});
  }
  characters = std::move(result);
}

void to_byte_characters(Characters& characters) {
  Characters result;
  result.reserve(characters.size());
  std::string bytes;
  for (const Character& c : characters) {
    bytes.clear();
    append_utf8(bytes, c.value);
    for (char byte : bytes) result.push_back({character_of_byte(static_cast<unsigned char>(byte)), c.begin, c.end});
  }
  characters = std::move(result);
}

void replace_matches(Characters& characters, const Regex& pattern, const Characters& content) {
  std::string text;
  std::vector<uint32_t> index;  // the character of each byte
  for (size_t i = 0; i < characters.size(); ++i) {
    append_utf8(text, characters[i].value);
    index.resize(text.size(), static_cast<uint32_t>(i));
  }
  index.push_back(static_cast<uint32_t>(characters.size()));
  Characters result;
  const uint32_t base = characters.empty() ? 0 : characters.front().begin;
  size_t done = 0;
  bool any = false;
  pattern.each_match(text, [&](size_t begin, size_t end) {
    any = true;
    result.insert(result.end(), characters.begin() + index[done], characters.begin() + index[begin]);
    for (Character c : content) {
      c.begin = end == 0 ? base : characters[index[end - 1]].begin;
      c.end = end == 0 ? base : characters[index[end - 1]].end;
      result.push_back(c);
    }
    done = end;
  });
  if (!any) return;
  result.insert(result.end(), characters.begin() + index[done], characters.end());
  characters = std::move(result);
}

NormalizerPointer sequence_of(std::vector<NormalizerPointer> normalizers) {
  return std::make_shared<Sequence>(std::move(normalizers));
}
NormalizerPointer bert_normalizer(const BertNormalizerOptions& options) { return std::make_shared<Bert>(options); }
NormalizerPointer unicode_normalizer(NormalForm form) { return std::make_shared<Unicode>(form); }
NormalizerPointer lowercase_normalizer() { return std::make_shared<Lowercase>(); }
NormalizerPointer strip_accents_normalizer() { return std::make_shared<StripAccents>(); }
NormalizerPointer strip_normalizer(bool left, bool right) { return std::make_shared<Strip>(left, right); }
NormalizerPointer replace_normalizer(Regex pattern, std::string_view content) {
  return std::make_shared<Replace>(std::move(pattern), content);
}
NormalizerPointer prepend_normalizer(std::string_view text) { return std::make_shared<Prepend>(text); }
NormalizerPointer nmt_normalizer() { return std::make_shared<Nmt>(); }
NormalizerPointer byte_level_normalizer() { return std::make_shared<ByteLevel>(); }

}  // namespace fovea
