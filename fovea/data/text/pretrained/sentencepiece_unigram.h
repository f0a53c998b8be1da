// SentencePiece's unigram models without its library, word by word, each cut once and remembered.
//
//   if (auto fast = SentencePieceUnigram::make(bytes, "spiece.model"))        // nullptr: only the library does what the file asks for
//     fast->each_piece(text, [&](int64_t id, Span span, std::string_view spelled) { … });
//
// A text is normalised by the file's table (of several entries at a place the longest counts), runs of spaces become the mark ▁ of the
// word behind them, and as no piece has one inside, words are cut by themselves (unigram.h).
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>

#include "fovea/data/text/pretrained/unigram.h"
#include "fovea/data/text/pretrained/word_cache.h"
#include "fovea/data/text/utf8.h"

namespace fovea {

struct SentencePieceFile;

class SentencePieceUnigram final {
 public:
  static std::shared_ptr<const SentencePieceUnigram> make(std::string_view bytes, std::string_view where);

  // Of a valid text without ▁ (which the library takes for a space here and there). `spelled` is what was normalised, be it a piece or unknown.
  static bool takes(std::string_view text) { return text.find("\u2581") == text.npos; }
  using Piece = std::function<void(int64_t id, Span span, std::string_view spelled)>;
  void each_piece(std::string_view text, const Piece&) const;

 private:
  struct Work;
  SentencePieceUnigram(const SentencePieceFile& file, std::string_view where);
  bool table_is_plain() const;
  void normalise(std::string_view text, size_t begin, size_t end, Work& work) const;
  void add_plain(size_t begin, size_t end, Work& work) const;
  void flush(int64_t end, Work& work) const;
  template <class Add>
  void cut(int64_t before, Work& work, Add add) const;

  struct Replaced {
    size_t size = 0;  // bytes of the text that it stands for; 0: there is no entry
    std::string_view by;
  };
  Replaced replaced(std::string_view text) const;

  std::vector<uint32_t> units_;  // the table's trie, a double array
  std::string texts_;
  std::array<bool, 128> plain_{};  // ASCII that stays as it is
  std::unique_ptr<const Unigram> model_;
  WordCaches caches_;
};

}  // namespace fovea
