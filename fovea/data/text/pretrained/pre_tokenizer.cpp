#include "fovea/data/text/pretrained/pre_tokenizer.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/text/pretrained/character_kinds.h"
#include "fovea/data/text/pretrained/normalizer.h"

namespace fovea {
namespace {

using Piece = PreTokens::Piece;

struct Match {
  size_t begin, end;
  bool found;  // or what lies between two
};

// The neighbour takes the match in, unless it is one itself.
std::vector<Match> merged_with_previous(const std::vector<Match>& matches) {
  std::vector<Match> result;
  bool before = false;
  for (const Match& m : matches) {
    if (m.found && !before && !result.empty())
      result.back().end = m.end;
    else
      result.push_back(m);
    before = m.found;
  }
  return result;
}

std::vector<Match> merged_with_next(const std::vector<Match>& matches) {
  std::vector<Match> result;
  bool behind = false;
  for (auto m = matches.rbegin(); m != matches.rend(); ++m) {
    if (m->found && !behind && !result.empty())
      result.back().begin = m->begin;
    else
      result.push_back(*m);
    behind = m->found;
  }
  std::reverse(result.begin(), result.end());
  return result;
}

std::vector<Match> contiguous(const std::vector<Match>& matches) {
  std::vector<Match> result;
  bool before = false;
  for (const Match& m : matches) {
    if (m.found == before && !result.empty())
      result.back().end = m.end;
    else
      result.push_back(m);
    before = m.found;
  }
  return result;
}

std::vector<Match> behaved(std::vector<Match> matches, Behaviour behaviour) {
  switch (behaviour) {
    case Behaviour::isolated:
      return matches;
    case Behaviour::removed:
      std::erase_if(matches, [](const Match& m) { return m.found; });
      return matches;
    case Behaviour::contiguous:
      return contiguous(matches);
    case Behaviour::merged_with_previous:
      return merged_with_previous(matches);
    case Behaviour::merged_with_next:
      return merged_with_next(matches);
  }
  return matches;
}

// `cut(text, begin, end, add)` calls add(begin, end) for each part that stays.
template <class CutPiece>
void split(PreTokens& words, CutPiece cut) {
  std::vector<Piece> pieces;
  pieces.reserve(words.pieces.size() + words.text.text().size() / 4);
  const auto add = [&](size_t begin, size_t end) {
    if (begin < end) pieces.push_back({begin, end, words.text.origin(begin, end).begin});
  };
  for (const Piece& piece : words.pieces) cut(words.text.text(), piece.begin, piece.end, add);
  words.pieces = std::move(pieces);
}

// `find(text, found)` calls found(begin, end) for each match in the text.
template <class Find>
void split_at_matches(PreTokens& words, Behaviour behaviour, bool invert, Find find) {
  std::vector<Match> matches;
  split(words, [&](std::string_view text, size_t begin, size_t end, auto add) {
    matches.clear();
    size_t done = begin;
    find(text.substr(begin, end - begin), [&](size_t from, size_t to) {
      if (done < begin + from) matches.push_back({done, begin + from, invert});
      matches.push_back({begin + from, begin + to, !invert});
      done = begin + to;
    });
    if (done < end) matches.push_back({done, end, invert});
    if (behaviour == Behaviour::isolated) {
      for (const Match& m : matches) add(m.begin, m.end);
      return;
    }
    for (const Match& m : behaved(matches, behaviour)) add(m.begin, m.end);
  });
}

template <class Is>
void split_at_characters(PreTokens& words, Behaviour behaviour, Is is) {
  split_at_matches(words, behaviour, false, [&](std::string_view text, auto found) {
    for (size_t at = 0; at < text.size();) {
      const auto [value, size] = character_at(text, at);
      if (is(value)) found(at, at + size);
      at += size;
    }
  });
}

// `change(characters)` of each piece.
template <class ChangePiece>
void rewrite(PreTokens& words, ChangePiece change) {
  std::string text;
  std::vector<Character> origins;
  for (Piece& piece : words.pieces) {
    Characters characters = words.text.characters(piece.begin, piece.end);
    change(characters, piece);
    piece.begin = text.size();
    for (const Character& c : characters) {
      append_utf8(text, c.value);
      origins.resize(text.size(), {0, c.begin, c.end});
    }
    piece.end = text.size();
  }
  if (text.empty()) words.pieces.clear();
  words.text.replace(std::move(text), std::move(origins));
}

void prepend(Characters& characters, char32_t value) {
  if (characters.empty()) return;
  characters.insert(characters.begin(), {value, characters.front().begin, characters.front().end});
}

class Sequence final : public PreTokenizer {
 public:
  explicit Sequence(std::vector<PreTokenizerPointer> parts) : parts_(std::move(parts)) {}
  void apply(PreTokens& words) const override {
    for (const auto& part : parts_) part->apply(words);
  }
  bool apply_but_keep_bytes(PreTokens& words) const override {
    if (!ends_in_bytes()) return false;
    for (size_t i = 0; i + 1 < parts_.size(); ++i) parts_[i]->apply(words);
    return parts_.back()->apply_but_keep_bytes(words);
  }
  bool ends_in_bytes() const override { return !parts_.empty() && parts_.back()->ends_in_bytes(); }

 private:
  std::vector<PreTokenizerPointer> parts_;
};

class Bert final : public PreTokenizer {
 public:
  void apply(PreTokens& words) const override {
    split(words, [](std::string_view text, size_t begin, size_t end, auto add) {
      size_t word = begin;
      for (size_t at = begin; at < end;) {
        const auto [value, size] = character_at(text, at);
        const bool space = is_white_space(value), mark = !space && is_punctuation(value);
        if (space || mark) {
          add(word, at);
          if (mark) add(at, at + size);
          word = at + size;
        }
        at += size;
      }
      add(word, end);
    });
  }
};

class ByteLevel final : public PreTokenizer {
 public:
  explicit ByteLevel(const ByteLevelOptions& options) : o_(options) {}
  void apply(PreTokens& words) const override {
    apply_but_keep_bytes(words);
    rewrite(words, [](Characters& characters, const Piece&) { to_byte_characters(characters); });
  }
  bool apply_but_keep_bytes(PreTokens& words) const override {
    const auto lacks_space = [&](const Piece& p) { return p.begin < p.end && words.text.text()[p.begin] != ' '; };
    if (o_.add_prefix_space && std::any_of(words.pieces.begin(), words.pieces.end(), lacks_space)) {
      rewrite(words, [](Characters& characters, const Piece&) {
        if (!characters.empty() && characters.front().value != ' ') prepend(characters, ' ');
      });
    }
    if (!o_.use_regex) return true;
    split(words, [](std::string_view text, size_t begin, size_t end, auto add) {
      const std::string_view part = text.substr(0, end);
      for (size_t at = begin; at < end;) {
        const size_t next = end_of_gpt2_word(part, at);
        add(at, next);
        at = next;
      }
    });
    return true;
  }
  bool ends_in_bytes() const override { return true; }

 private:
  ByteLevelOptions o_;
};

class Whitespace final : public PreTokenizer {
 public:
  void apply(PreTokens& words) const override {
    split(words, [](std::string_view text, size_t begin, size_t end, auto add) {
      const auto kind = [](char32_t c) { return is_letter_of_word(c) ? 1 : is_white_space(c) ? 0 : 2; };
      size_t word = begin;
      int before = 0;
      for (size_t at = begin; at < end;) {
        const auto [value, size] = character_at(text, at);
        const int here = kind(value);
        if (here != before) {
          if (before != 0) add(word, at);
          word = at;
          before = here;
        }
        at += size;
      }
      if (before != 0) add(word, end);
    });
  }
};

// At each character of a kind.
class AtCharacters final : public PreTokenizer {
 public:
  using Is = std::function<bool(char32_t)>;
  AtCharacters(Is is, Behaviour behaviour) : is_(std::move(is)), behaviour_(behaviour) {}
  void apply(PreTokens& words) const override { split_at_characters(words, behaviour_, is_); }

 private:
  Is is_;
  Behaviour behaviour_;
};

class Split final : public PreTokenizer {
 public:
  Split(Regex pattern, Behaviour behaviour, bool invert)
      : pattern_(std::move(pattern)), behaviour_(behaviour), invert_(invert) {}
  void apply(PreTokens& words) const override {
    split_at_matches(words, behaviour_, invert_,
                     [&](std::string_view text, auto found) { pattern_.each_match(text, found); });
  }

 private:
  Regex pattern_;
  Behaviour behaviour_;
  bool invert_;
};

class Metaspace final : public PreTokenizer {
 public:
  explicit Metaspace(const MetaspaceOptions& options) : o_(options) {}
  void apply(PreTokens& words) const override {
    rewrite(words, [&](Characters& characters, const Piece& piece) {
      for (Character& c : characters) c.value = c.value == ' ' ? o_.replacement : c.value;
      const bool wanted = o_.prepend == MetaspaceOptions::Prepend::always ||
                          (o_.prepend == MetaspaceOptions::Prepend::first && piece.origin == 0);
      if (wanted && !characters.empty() && characters.front().value != o_.replacement)
        prepend(characters, o_.replacement);
    });
    if (o_.split)
      split_at_characters(words, Behaviour::merged_with_next, [&](char32_t c) { return c == o_.replacement; });
  }

 private:
  MetaspaceOptions o_;
};

class FixedLength final : public PreTokenizer {
 public:
  explicit FixedLength(int64_t characters) : characters_(characters) {}
  void apply(PreTokens& words) const override {
    split(words, [&](std::string_view text, size_t begin, size_t end, auto add) {
      for (size_t at = begin; at < end;) {
        const size_t from = at;
        for (int64_t i = 0; i < characters_ && at < end; ++i) at += character_at(text, at).size;
        add(from, at);
      }
    });
  }

 private:
  int64_t characters_;
};

}  // namespace

PreTokenizerPointer sequence_of(std::vector<PreTokenizerPointer> parts) {
  return std::make_shared<Sequence>(std::move(parts));
}
PreTokenizerPointer bert_pre_tokenizer() { return std::make_shared<Bert>(); }
PreTokenizerPointer byte_level_pre_tokenizer(const ByteLevelOptions& options) {
  return std::make_shared<ByteLevel>(options);
}
PreTokenizerPointer whitespace_pre_tokenizer() { return std::make_shared<Whitespace>(); }
PreTokenizerPointer whitespace_split_pre_tokenizer() {
  return std::make_shared<AtCharacters>(is_white_space, Behaviour::removed);
}
PreTokenizerPointer punctuation_pre_tokenizer(Behaviour behaviour) {
  return std::make_shared<AtCharacters>(is_punctuation, behaviour);
}
PreTokenizerPointer digits_pre_tokenizer(bool individual) {
  return std::make_shared<AtCharacters>(is_number, individual ? Behaviour::isolated : Behaviour::contiguous);
}
PreTokenizerPointer split_pre_tokenizer(Regex pattern, Behaviour behaviour, bool invert) {
  return std::make_shared<Split>(std::move(pattern), behaviour, invert);
}
PreTokenizerPointer metaspace_pre_tokenizer(const MetaspaceOptions& options) {
  return std::make_shared<Metaspace>(options);
}
PreTokenizerPointer delimiter_pre_tokenizer(char32_t delimiter) {
  return std::make_shared<AtCharacters>([delimiter](char32_t c) { return c == delimiter; }, Behaviour::removed);
}
PreTokenizerPointer fixed_length_pre_tokenizer(int64_t characters) {
  require(characters > 0, "FixedLength: found {} characters, expected at least 1", characters);
  return std::make_shared<FixedLength>(characters);
}

}  // namespace fovea
