// Byte pair encoding (Sennrich, Haddow and Birch 2016): the characters of a word, or its bytes (GPT-2), are joined pair by
// pair; always the pair with the least rank, of several the leftmost.
//
//   Vocabulary v(pieces, "vocab.json");
//   auto merges = merges_of_pairs(v, {{"l", "o"}, {"lo", "w"}}, "", "merges.txt");    // ranks are their places
//   Bpe model(std::move(v), merges, {.unknown = "<unk>"});
//
// With a score for each piece instead (SentencePiece), or an order of the pieces (tiktoken), merges_of_ranks makes the same.
#pragma once

#include <array>
#include <span>
#include <utility>

#include "fovea/data/text/pretrained/subword_model.h"

namespace fovea {

struct Merge {
  int32_t left = 0, right = 0, result = 0, rank = 0;  // ids, and the order
};
// `prefix`: what stands before a piece that goes on, and is left out where it is joined. An Error if a piece is unknown.
std::vector<Merge> merges_of_pairs(const Vocabulary& vocabulary,
                                   std::span<const std::pair<std::string, std::string>> pairs, std::string_view prefix,
                                   std::string_view where);
// Every way to join two pieces to a third, in the order of the third one's rank; a negative rank: never.
std::vector<Merge> merges_of_ranks(const Vocabulary& vocabulary, std::span<const int32_t> ranks);

class Bpe final : public SubwordModel {
 public:
  struct Options {
    std::string unknown = {};  // the piece for what has none; empty: it is left out
    std::string prefix = {};   // stands before characters that do not begin a word
    std::string suffix = {};   // stands behind the last one
    bool fuse_unknown = false, byte_fallback = false;
    bool whole_words = false;  // a word that is a piece itself is not cut, whatever the merges say
  };
  Bpe(Vocabulary vocabulary, std::span<const Merge> merges, Options options);

  std::string_view kind() const override { return "bpe"; }
  const Vocabulary& vocabulary() const override { return vocabulary_; }
  int64_t unknown() const override { return unknown_; }
  void cut(std::string_view word, std::vector<Cut>& cuts) const override;

  // Byte-level: the word's bytes as they are, of which each must have a piece under its character_of_byte.
  bool knows_all_bytes() const { return knows_all_bytes_; }
  void cut_bytes(std::string_view word, std::vector<Cut>& cuts) const;

 private:
  struct Symbol {
    int32_t id;
    uint32_t size;
  };
  struct Entry {
    uint64_t pair;
    int32_t rank, result;
  };
  const Entry* find(int32_t left, int32_t right) const;
  void add(const Merge& merge);
  void begin(std::string_view word, std::vector<Symbol>& symbols) const;
  void join_few(std::vector<Symbol>& symbols) const;
  void join_many(std::vector<Symbol>& symbols) const;
  void finish(std::vector<Symbol>& symbols, std::vector<Cut>& cuts) const;

  Vocabulary vocabulary_;
  Options options_;
  int64_t unknown_ = -1;
  std::vector<Entry> table_;
  size_t mask_ = 0;
  std::vector<int64_t> fallback_;
  std::array<int32_t, 256> byte_ids_{};
  bool knows_all_bytes_ = true;
  TextIds words_in_bytes_;  // with whole_words: the pieces, spelled in bytes
};

}  // namespace fovea
