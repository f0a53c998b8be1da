#include "fovea/data/text/pretrained/decoder.h"

#include <algorithm>
#include <charconv>

#include "fovea/base/text.h"
#include "fovea/data/text/pretrained/aligned_text.h"
#include "fovea/data/text/pretrained/character_kinds.h"

namespace fovea {
namespace {

using Pieces = std::vector<std::string>;
constexpr std::string_view replacement_character = "\uFFFD";

std::string replaced(std::string_view text, std::string_view old, std::string_view now) {
  if (old.empty()) return std::string(text);
  std::string result;
  for (size_t at = 0;;) {
    const size_t found = text.find(old, at);
    result += text.substr(at, found - at);
    if (found == text.npos) return result;
    result += now;
    at = found + old.size();
  }
}

// English spaces before marks and short forms.
std::string cleaned(std::string text) {
  constexpr std::pair<std::string_view, std::string_view> rules[] = {
      {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [old, now] : rules) text = replaced(text, old, now);
  return text;
}

// Bytes that are not UTF-8 become U+FFFD, one for each longest beginning of a character.
std::string as_utf8(std::string_view bytes) {
  std::string result;
  while (!bytes.empty()) {
    const size_t bad = invalid_utf8(bytes);
    result += bytes.substr(0, bad);
    if (bad == bytes.npos) break;
    bytes.remove_prefix(bad);
    const auto first = static_cast<unsigned char>(bytes[0]);
    const auto in = [&](size_t i, unsigned low, unsigned high) {
      return i < bytes.size() && static_cast<unsigned char>(bytes[i]) >= low &&
             static_cast<unsigned char>(bytes[i]) <= high;
    };
    size_t size = 1;
    if (first >= 0xE0 && first <= 0xEF && in(1, first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF)) size = 2;
    if (first >= 0xF0 && first <= 0xF4 && in(1, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF))
      size = in(2, 0x80, 0xBF) ? 3 : 2;
    result += replacement_character;
    bytes.remove_prefix(size);
  }
  return result;
}

class Sequence final : public Decoder {
 public:
  explicit Sequence(std::vector<DecoderPointer> parts) : parts_(std::move(parts)) {}
  void apply(Pieces& pieces) const override {
    for (const auto& part : parts_) part->apply(pieces);
  }

 private:
  std::vector<DecoderPointer> parts_;
};

class ByteLevel final : public Decoder {
 public:
  void apply(Pieces& pieces) const override {
    std::string all, bytes;
    for (const std::string& piece : pieces) {
      bytes.clear();
      bool good = true;
      for (size_t at = 0; at < piece.size() && good;) {
        const auto [value, size] = character_at(piece, at);
        const int byte = byte_of_character(value);
        good = byte >= 0;
        bytes += static_cast<char>(byte);
        at += size;
      }
      all += good ? bytes : piece;
    }
    pieces = {as_utf8(all)};
  }
};

class WordPieceDecoder final : public Decoder {
 public:
  WordPieceDecoder(std::string_view prefix, bool cleanup) : prefix_(prefix), cleanup_(cleanup) {}
  void apply(Pieces& pieces) const override {
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (i > 0) {
        if (pieces[i].starts_with(prefix_))
          pieces[i].erase(0, prefix_.size());
        else
          pieces[i].insert(0, " ");
      }
      if (cleanup_) pieces[i] = cleaned(std::move(pieces[i]));
    }
  }

 private:
  std::string prefix_;
  bool cleanup_;
};

class Metaspace final : public Decoder {
 public:
  Metaspace(char32_t replacement, bool prepended) : prepended_(prepended) { append_utf8(mark_, replacement); }
  void apply(Pieces& pieces) const override {
    for (size_t i = 0; i < pieces.size(); ++i) pieces[i] = replaced(pieces[i], mark_, i == 0 && prepended_ ? "" : " ");
  }

 private:
  std::string mark_;
  bool prepended_;
};

class BpeDecoder final : public Decoder {
 public:
  explicit BpeDecoder(std::string_view suffix) : suffix_(suffix) {}
  void apply(Pieces& pieces) const override {
    for (size_t i = 0; i < pieces.size(); ++i)
      pieces[i] = replaced(pieces[i], suffix_, i + 1 == pieces.size() ? "" : " ");
  }

 private:
  std::string suffix_;
};

class ByteFallback final : public Decoder {
 public:
  void apply(Pieces& pieces) const override {
    Pieces result;
    std::string bytes;
    const auto flush = [&] {
      if (bytes.empty()) return;
      if (invalid_utf8(bytes) == std::string_view::npos)
        result.push_back(bytes);
      else
        result.insert(result.end(), bytes.size(), std::string(replacement_character));
      bytes.clear();
    };
    for (std::string& piece : pieces) {
      if (const int byte = byte_of(piece); byte >= 0) {
        bytes += static_cast<char>(byte);
        continue;
      }
      flush();
      result.push_back(std::move(piece));
    }
    flush();
    pieces = std::move(result);
  }

 private:
  static int byte_of(std::string_view piece) {  // of "<0x0A>"
    if (piece.size() != 6 || !piece.starts_with("<0x") || piece.back() != '>') return -1;
    int value = -1;
    const auto [end, error] = std::from_chars(piece.data() + 3, piece.data() + 5, value, 16);
    return error == std::errc() && end == piece.data() + 5 ? value : -1;
  }
};

class Fuse final : public Decoder {
 public:
  void apply(Pieces& pieces) const override {
    std::string all;
    for (const std::string& piece : pieces) all += piece;
    pieces = {std::move(all)};
  }
};

class Strip final : public Decoder {
 public:
  Strip(char32_t content, int64_t start, int64_t stop) : start_(start), stop_(stop) { append_utf8(mark_, content); }
  void apply(Pieces& pieces) const override {
    for (std::string& piece : pieces) {
      std::string_view rest = piece;
      for (int64_t i = 0; i < start_ && rest.starts_with(mark_); ++i) rest.remove_prefix(mark_.size());
      for (int64_t i = 0; i < stop_ && rest.ends_with(mark_); ++i) rest.remove_suffix(mark_.size());
      piece = std::string(rest);
    }
  }

 private:
  std::string mark_;
  int64_t start_, stop_;
};

class Replace final : public Decoder {
 public:
  Replace(Regex pattern, std::string_view content) : pattern_(std::move(pattern)), content_(content) {}
  void apply(Pieces& pieces) const override {
    for (std::string& piece : pieces) {
      std::string result;
      size_t done = 0;
      pattern_.each_match(piece, [&](size_t begin, size_t end) {
        result += std::string_view(piece).substr(done, begin - done);
        result += content_;
        done = end;
      });
      result += std::string_view(piece).substr(done);
      piece = std::move(result);
    }
  }

 private:
  Regex pattern_;
  std::string content_;
};

class Ctc final : public Decoder {
 public:
  Ctc(std::string_view pad, std::string_view delimiter, bool cleanup)
      : pad_(pad), delimiter_(delimiter), cleanup_(cleanup) {}
  void apply(Pieces& pieces) const override {
    pieces.erase(std::unique(pieces.begin(), pieces.end()), pieces.end());
    for (std::string& piece : pieces) {
      piece = replaced(piece, pad_, "");
      if (cleanup_) piece = replaced(cleaned(std::move(piece)), delimiter_, " ");
    }
    std::erase_if(pieces, [](const std::string& piece) { return piece.empty(); });
  }

 private:
  std::string pad_, delimiter_;
  bool cleanup_;
};

}  // namespace

DecoderPointer sequence_of(std::vector<DecoderPointer> decoders) {
  return std::make_shared<Sequence>(std::move(decoders));
}
DecoderPointer byte_level_decoder() { return std::make_shared<ByteLevel>(); }
DecoderPointer wordpiece_decoder(std::string_view prefix, bool cleanup) {
  return std::make_shared<WordPieceDecoder>(prefix, cleanup);
}
DecoderPointer metaspace_decoder(char32_t replacement, bool prepended) {
  return std::make_shared<Metaspace>(replacement, prepended);
}
DecoderPointer bpe_decoder(std::string_view suffix) { return std::make_shared<BpeDecoder>(suffix); }
DecoderPointer byte_fallback_decoder() { return std::make_shared<ByteFallback>(); }
DecoderPointer fuse_decoder() { return std::make_shared<Fuse>(); }
DecoderPointer strip_decoder(char32_t content, int64_t start, int64_t stop) {
  return std::make_shared<Strip>(content, start, stop);
}
DecoderPointer replace_decoder(Regex pattern, std::string_view content) {
  return std::make_shared<Replace>(std::move(pattern), content);
}
DecoderPointer ctc_decoder(std::string_view pad, std::string_view delimiter, bool cleanup) {
  return std::make_shared<Ctc>(pad, delimiter, cleanup);
}

}  // namespace fovea
