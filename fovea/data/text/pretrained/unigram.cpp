#include "fovea/data/text/pretrained/unigram.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/data/text/pretrained/character_kinds.h"

namespace fovea {
namespace {

constexpr double unknown_penalty = 10;

// How far apart two sums are at most that roundings of the sums before them could put in another order.
constexpr double near = 0.01;

// The best way to the end of a byte: its sum, and its last piece.
template <class Score>
struct Best {
  Score score = 0;
  uint32_t begin = 0xFFFFFFFF;
  int32_t id = -1;
  bool close = false;  // to another way
};

}  // namespace

std::vector<int64_t> byte_pieces(const Vocabulary& vocabulary) {
  std::vector<int64_t> ids;
  for (int byte = 0; byte < 256; ++byte) ids.push_back(vocabulary.id_of(fmt::format("<0x{:02X}>", byte)));
  return ids;
}

Unigram::Unigram(Vocabulary vocabulary, std::vector<double> scores, const Options& options)
    : vocabulary_(std::move(vocabulary)),
      scores_(std::move(scores)),
      options_(options),
      bytes_(byte_pieces(vocabulary_)) {
  require(vocabulary_.size() == static_cast<int64_t>(scores_.size()), "unigram: found {} pieces and {} scores",
          vocabulary_.size(), scores_.size());
  require(options_.unknown >= -1 && options_.unknown < vocabulary_.size(),
          "unigram: found {} as the id of unknown pieces, expected one of {}", options_.unknown, vocabulary_.size());
  require(options_.hidden.empty() || options_.hidden.size() == scores_.size(),
          "unigram: found {} pieces, of which {} are hidden or not", scores_.size(), options_.hidden.size());
  double least = 0;
  bool first = true;
  for (int64_t id = 0; id < vocabulary_.size(); ++id) {
    const double score = scores_[static_cast<size_t>(id)];
    require(std::isfinite(score), "unigram: found a score of {}", score);
    if (!options_.hidden.empty() && options_.hidden[static_cast<size_t>(id)]) continue;
    least = first ? score : std::min(least, score);
    first = false;
    if (!vocabulary_.piece(id).empty()) trie_.add(vocabulary_.piece(id), id);
  }
  unknown_score_ = least - unknown_penalty;
}

void Unigram::add_unknown(std::string_view word, uint32_t begin, uint32_t end, std::vector<Cut>& cuts) const {
  const int64_t whole = options_.hidden.empty() ? vocabulary_.id_of(word.substr(begin, end - begin)) : -1;
  if (whole >= 0) {
    cuts.push_back({static_cast<int32_t>(whole), begin, end});
    return;
  }
  const auto has_piece = [&](char c) { return bytes_[static_cast<unsigned char>(c)] >= 0; };
  if (options_.byte_fallback && std::all_of(word.begin() + begin, word.begin() + end, has_piece)) {
    for (uint32_t at = begin; at < end;) {
      const uint32_t size = character_at(word, at).size;
      for (uint32_t i = 0; i < size; ++i)
        cuts.push_back(
            {static_cast<int32_t>(bytes_[static_cast<unsigned char>(word[at + i])]), at, std::min(at + size, end)});
      at += size;
    }
    return;
  }
  cuts.push_back({static_cast<int32_t>(options_.unknown), begin, end});
}

template <class Score>
Unigram::Sum<Score> Unigram::cut_behind(Score before, std::string_view word, std::vector<Cut>& cuts) const {
  std::vector<Best<Score>> best(word.size() + 1);
  best[0].score = before;
  Sum<Score> sum;
  const auto offer = [&](size_t end, Score score, size_t begin, int64_t id) {
    Best<Score>& there = best[end];
    const bool close = there.id >= 0 && std::abs(score - there.score) < static_cast<Score>(near);
    if (there.id < 0 || score > there.score)
      there = {score, static_cast<uint32_t>(begin), static_cast<int32_t>(id), close};
    else
      there.close = there.close || close;
  };
  for (size_t at = 0; at < word.size();) {
    const size_t size = character_at(word, at).size;
    const Score here = best[at].score;
    bool alone = false;
    uint32_t node = 0;
    for (size_t end = at; end < word.size();) {
      node = trie_.next(node, static_cast<unsigned char>(word[end++]));
      if (node == Trie::none) break;
      const int64_t id = trie_.id(node);
      if (id < 0) continue;
      offer(end, here + static_cast<Score>(scores_[static_cast<size_t>(id)]), at, id);
      alone = alone || end == at + size;
    }
    if (!alone) {
      require(options_.unknown >= 0, "tokenizer: found a character without a piece, and no piece for unknown ones");
      offer(at + size, here + static_cast<Score>(unknown_score_), at, options_.unknown);
    }
    at += size;
  }
  sum.score = best[word.size()].score;
  std::vector<Cut> backwards;
  for (auto end = static_cast<uint32_t>(word.size()); end > 0; end = best[end].begin) {
    const Best<Score>& piece = best[end];
    sum.close = sum.close || piece.close || piece.id == options_.unknown;
    if (piece.id == options_.unknown && !backwards.empty() && backwards.back().id == options_.unknown)
      backwards.back().begin = piece.begin;
    else
      backwards.push_back({piece.id, piece.begin, end});
  }
  for (auto cut = backwards.rbegin(); cut != backwards.rend(); ++cut) {
    if (cut->id == options_.unknown)
      add_unknown(word, cut->begin, cut->end, cuts);
    else
      cuts.push_back(*cut);
  }
  return sum;
}

void Unigram::cut(std::string_view word, std::vector<Cut>& cuts) const { cut_behind<double>(0, word, cuts); }

Unigram::Sum<float> Unigram::cut_in_floats(float before, std::string_view word, std::vector<Cut>& cuts) const {
  return cut_behind<float>(before, word, cuts);
}

}  // namespace fovea
