#include "fovea/data/text/pretrained/learn_pieces.h"

#include <algorithm>
#include <queue>
#include <set>

#include "fovea/data/text/pretrained/character_kinds.h"

namespace fovea {
namespace {

using Pair = std::pair<int32_t, int32_t>;

struct PairHash {
  size_t operator()(const Pair& p) const {
    return (static_cast<uint64_t>(static_cast<uint32_t>(p.first)) << 32 | static_cast<uint32_t>(p.second)) *
           0x9E3779B97F4A7C15u;
  }
};

struct Word {
  std::vector<int32_t> pieces;
  int64_t count = 0;
};

class Learning final {
 public:
  Learning(const TextIds& counts, const LearnPiecesOptions& options) : o_(options) {
    for (const std::string& piece : o_.first) id_of(piece);
    std::set<std::string_view> characters;
    for (const auto& [text, count] : counts) each_character(text, [&](std::string_view c) { characters.insert(c); });
    for (const std::string_view character : characters) id_of(std::string(character));
    for (const auto& [text, count] : counts) {
      Word& word = words_.emplace_back(Word{{}, count});
      each_character(text, [&](std::string_view c) { word.pieces.push_back(id_of(std::string(c))); });
    }
    for (size_t w = 0; w < words_.size(); ++w) count_pairs(w, 1);
    for (const auto& [pair, count] : counts_) queue_.push({count, pair});
  }

  LearnedPieces run() {
    while (static_cast<int64_t>(found_.pieces.size()) < o_.pieces && !queue_.empty()) {
      const auto [count, pair] = queue_.top();
      queue_.pop();
      const int64_t now = counts_[pair];
      if (now < o_.at_least) continue;
      if (now == count) {
        join(pair);
      } else if (now < count) {
        queue_.push({now, pair});
      }
    }
    return std::move(found_);
  }

 private:
  struct Entry {
    int64_t count;
    Pair pair;
    bool operator<(const Entry& other) const { return count != other.count ? count < other.count : other.pair < pair; }
  };

  int32_t id_of(const std::string& piece) {
    const auto [place, fresh] = ids_.emplace(piece, static_cast<int64_t>(found_.pieces.size()));
    if (fresh) found_.pieces.push_back(piece);
    return static_cast<int32_t>(place->second);
  }

  static void each_character(std::string_view text, auto&& use) {
    for (size_t at = 0; at < text.size();) {
      const size_t size = character_at(text, at).size;
      use(text.substr(at, size));
      at += size;
    }
  }

  void count_pairs(size_t w, int64_t sign) {
    const Word& word = words_[w];
    for (size_t i = 0; i + 1 < word.pieces.size(); ++i) {
      const Pair pair = {word.pieces[i], word.pieces[i + 1]};
      counts_[pair] += sign * word.count;
      if (sign < 0) continue;
      std::vector<int32_t>& places = places_[pair];
      if (places.empty() || places.back() != static_cast<int32_t>(w)) places.push_back(static_cast<int32_t>(w));
      changed_.insert(pair);
    }
  }

  void join(const Pair& pair) {
    const std::string left = found_.pieces[static_cast<size_t>(pair.first)];
    const std::string right = found_.pieces[static_cast<size_t>(pair.second)];
    const int32_t joined = id_of(left + right);
    found_.merges.emplace_back(left, right);
    changed_.clear();
    for (const int32_t place : std::exchange(places_[pair], {})) {
      const auto w = static_cast<size_t>(place);
      count_pairs(w, -1);
      join_in(words_[w].pieces, pair, joined);
      count_pairs(w, 1);
    }
    for (const Pair& p : changed_) queue_.push({counts_[p], p});
  }

  static void join_in(std::vector<int32_t>& pieces, const Pair& pair, int32_t joined) {
    size_t to = 0;
    for (size_t i = 0; i < pieces.size(); ++to) {
      const bool here = i + 1 < pieces.size() && pieces[i] == pair.first && pieces[i + 1] == pair.second;
      pieces[to] = here ? joined : pieces[i];
      i += here ? 2 : 1;
    }
    pieces.resize(to);
  }

  const LearnPiecesOptions& o_;
  LearnedPieces found_;
  TextIds ids_;
  std::vector<Word> words_;
  std::unordered_map<Pair, int64_t, PairHash> counts_;
  std::unordered_map<Pair, std::vector<int32_t>, PairHash> places_;  // words, of which some have lost the pair since
  std::set<Pair> changed_;
  std::priority_queue<Entry> queue_;  // with counts as they were; those that grew are there again
};

}  // namespace

LearnedPieces learn_pieces(const TextIds& counts, const LearnPiecesOptions& options) {
  return Learning(counts, options).run();
}

}  // namespace fovea
