#include "fovea/data/text/pretrained/bpe.h"

#include <algorithm>
#include <queue>

#include "fovea/base/error.h"
#include "fovea/base/text.h"
#include "fovea/data/text/pretrained/aligned_text.h"
#include "fovea/data/text/pretrained/character_kinds.h"
#include "fovea/data/text/pretrained/unigram.h"

namespace fovea {
namespace {

constexpr uint64_t no_pair = ~uint64_t{0};
constexpr int32_t never = 0x7FFFFFFF;
constexpr size_t few = 48;  // symbols of a word up to which looking at all of them is faster than a queue

uint64_t pair_of(int32_t left, int32_t right) {
  return uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right);
}

size_t hash_of(uint64_t pair) { return pair * 0x9E3779B97F4A7C15u >> 24; }

// The bytes that a piece of a byte-level vocabulary stands for; false if one of its characters stands for none.
bool bytes_of_piece(std::string_view piece, std::string& bytes) {
  bytes.clear();
  if (invalid_utf8(piece) != std::string_view::npos) return false;
  for (size_t at = 0; at < piece.size();) {
    const auto [value, size] = character_at(piece, at);
    const int byte = byte_of_character(value);
    if (byte < 0) return false;
    bytes += static_cast<char>(byte);
    at += size;
  }
  return true;
}

}  // namespace

std::vector<Merge> merges_of_pairs(const Vocabulary& vocabulary,
                                   std::span<const std::pair<std::string, std::string>> pairs, std::string_view prefix,
                                   std::string_view where) {
  std::vector<Merge> merges;
  merges.reserve(pairs.size());
  const auto id = [&](const std::string& piece) {
    const int64_t found = vocabulary.id_of(piece);
    if (found < 0)
      throw Error(Error::corrupt, "{}: merge {}: found '{}', which is not in the vocabulary", where, merges.size(),
                  printable(piece));
    return static_cast<int32_t>(found);
  };
  for (const auto& [left, right] : pairs) {
    if (right.size() < prefix.size() || begins_character(right[prefix.size()]) == false)
      throw Error(Error::corrupt, "{}: merge {}: found '{}', expected it to begin with '{}'", where, merges.size(),
                  printable(right), printable(prefix));
    merges.push_back(
        {id(left), id(right), id(left + right.substr(prefix.size())), static_cast<int32_t>(merges.size())});
  }
  return merges;
}

std::vector<Merge> merges_of_ranks(const Vocabulary& vocabulary, std::span<const int32_t> ranks) {
  require(static_cast<int64_t>(ranks.size()) == vocabulary.size(), "bpe: found {} ranks for {} pieces", ranks.size(),
          vocabulary.size());
  std::vector<Merge> merges;
  for (int64_t id = 0; id < vocabulary.size(); ++id) {
    const std::string_view piece = vocabulary.piece(id);
    const int32_t rank = ranks[static_cast<size_t>(id)];
    if (rank < 0 || piece.size() > 1024) continue;
    for (size_t cut = 1; cut < piece.size(); ++cut) {
      if (!begins_character(piece[cut])) continue;
      const int64_t left = vocabulary.id_of(piece.substr(0, cut));
      const int64_t right = left < 0 ? -1 : vocabulary.id_of(piece.substr(cut));
      if (right >= 0)
        merges.push_back({static_cast<int32_t>(left), static_cast<int32_t>(right), static_cast<int32_t>(id), rank});
    }
  }
  return merges;
}

Bpe::Bpe(Vocabulary vocabulary, std::span<const Merge> merges, Options options)
    : vocabulary_(std::move(vocabulary)), options_(std::move(options)), fallback_(byte_pieces(vocabulary_)) {
  if (!options_.unknown.empty()) unknown_ = vocabulary_.id_of(options_.unknown);
  size_t size = 64;
  while (size < merges.size() * 2) size *= 2;
  table_.assign(size, {no_pair, 0, 0});
  mask_ = size - 1;
  for (const Merge& merge : merges) add(merge);
  for (unsigned byte = 0; byte < 256; ++byte) {
    std::string piece;
    append_utf8(piece, character_of_byte(static_cast<unsigned char>(byte)));
    byte_ids_[byte] = static_cast<int32_t>(vocabulary_.id_of(piece));
    if (byte_ids_[byte] < 0) knows_all_bytes_ = false;
  }
  if (!options_.prefix.empty() || !options_.suffix.empty()) knows_all_bytes_ = false;
  if (!knows_all_bytes_ || !options_.whole_words) return;
  std::string bytes;
  for (int64_t id = 0; id < vocabulary_.size(); ++id) {
    if (bytes_of_piece(vocabulary_.piece(id), bytes)) words_in_bytes_.emplace(bytes, id);
  }
}

// A later merge of the same pair replaces the one before.
void Bpe::add(const Merge& merge) {
  const uint64_t pair = pair_of(merge.left, merge.right);
  size_t slot = hash_of(pair) & mask_;
  while (table_[slot].pair != no_pair && table_[slot].pair != pair) slot = (slot + 1) & mask_;
  table_[slot] = {pair, merge.rank, merge.result};
}

const Bpe::Entry* Bpe::find(int32_t left, int32_t right) const {
  const uint64_t pair = pair_of(left, right);
  for (size_t slot = hash_of(pair) & mask_;; slot = (slot + 1) & mask_) {
    if (table_[slot].pair == pair) return &table_[slot];
    if (table_[slot].pair == no_pair) return nullptr;
  }
}

void Bpe::begin(std::string_view word, std::vector<Symbol>& symbols) const {
  uint32_t unknown_size = 0;  // of an unknown symbol that is not there yet
  std::string piece;
  const auto flush = [&] {
    if (unknown_size > 0) symbols.push_back({static_cast<int32_t>(unknown_), unknown_size});
    unknown_size = 0;
  };
  for (size_t at = 0; at < word.size();) {
    const uint32_t size = character_at(word, at).size;
    piece.assign(at > 0 ? options_.prefix : "");
    piece += word.substr(at, size);
    if (at + size == word.size()) piece += options_.suffix;
    at += size;
    if (const int64_t id = vocabulary_.id_of(piece); id >= 0) {
      flush();
      symbols.push_back({static_cast<int32_t>(id), size});
      continue;
    }
    const auto has_piece = [&](char c) { return fallback_[static_cast<unsigned char>(c)] >= 0; };
    if (options_.byte_fallback && std::all_of(piece.begin(), piece.end(), has_piece)) {
      for (char c : piece) symbols.push_back({static_cast<int32_t>(fallback_[static_cast<unsigned char>(c)]), 1});
      continue;
    }
    if (options_.unknown.empty()) continue;
    require(unknown_ >= 0, "tokenizer: found a character without a piece, and '{}' is not in the vocabulary",
            printable(options_.unknown));
    if (!options_.fuse_unknown) flush();
    unknown_size += size;
  }
  flush();
}

// All pairs' ranks in a row; the least one is looked for each time.
void Bpe::join_few(std::vector<Symbol>& symbols) const {
  int32_t ranks[few], results[few];
  size_t count = symbols.size();
  const auto rank = [&](size_t i) {
    const Entry* entry = i + 1 < count ? find(symbols[i].id, symbols[i + 1].id) : nullptr;
    ranks[i] = entry ? entry->rank : never;
    results[i] = entry ? entry->result : 0;
  };
  for (size_t i = 0; i < count; ++i) rank(i);
  while (count > 1) {
    const size_t i = static_cast<size_t>(std::min_element(ranks, ranks + count) - ranks);
    if (ranks[i] == never) break;
    symbols[i] = {results[i], symbols[i].size + symbols[i + 1].size};
    --count;
    for (size_t j = i + 1; j < count; ++j)
      symbols[j] = symbols[j + 1], ranks[j] = ranks[j + 1], results[j] = results[j + 1];
    rank(i);
    if (i > 0) rank(i - 1);
  }
  symbols.resize(count);
}

// The same with a queue of pairs; those whose symbols have changed since are passed over.
void Bpe::join_many(std::vector<Symbol>& symbols) const {
  struct Link {
    int64_t before, behind;
  };
  struct Pair {
    int32_t rank, result;
    int64_t at;
    bool operator<(const Pair& other) const { return rank != other.rank ? rank > other.rank : at > other.at; }
  };
  const auto count = static_cast<int64_t>(symbols.size());
  std::vector<Link> links(symbols.size());
  std::vector<bool> gone(symbols.size());
  for (int64_t i = 0; i < count; ++i) links[static_cast<size_t>(i)] = {i - 1, i + 1 < count ? i + 1 : -1};
  std::vector<Pair> first;
  const auto entry_at = [&](int64_t at) -> const Entry* {
    const int64_t behind = at < 0 ? -1 : links[static_cast<size_t>(at)].behind;
    return behind < 0 ? nullptr : find(symbols[static_cast<size_t>(at)].id, symbols[static_cast<size_t>(behind)].id);
  };
  for (int64_t i = 0; i < count; ++i) {
    if (const Entry* entry = entry_at(i)) first.push_back({entry->rank, entry->result, i});
  }
  std::priority_queue<Pair> queue({}, std::move(first));
  while (!queue.empty()) {
    const Pair top = queue.top();
    queue.pop();
    const auto at = static_cast<size_t>(top.at);
    if (gone[at]) continue;
    const Entry* entry = entry_at(top.at);
    if (!entry || entry->result != top.result) continue;
    const auto behind = static_cast<size_t>(links[at].behind);
    symbols[at] = {entry->result, symbols[at].size + symbols[behind].size};
    gone[behind] = true;
    links[at].behind = links[behind].behind;
    if (links[at].behind >= 0) links[static_cast<size_t>(links[at].behind)].before = top.at;
    for (int64_t changed : {links[at].before, top.at}) {
      if (const Entry* next = entry_at(changed)) queue.push({next->rank, next->result, changed});
    }
  }
  size_t kept = 0;
  for (size_t i = 0; i < symbols.size(); ++i) {
    if (!gone[i]) symbols[kept++] = symbols[i];
  }
  symbols.resize(kept);
}

void Bpe::finish(std::vector<Symbol>& symbols, std::vector<Cut>& cuts) const {
  if (symbols.size() > few)
    join_many(symbols);
  else if (symbols.size() > 1)
    join_few(symbols);
  uint32_t at = 0;
  for (const Symbol& symbol : symbols) {
    cuts.push_back({symbol.id, at, at + symbol.size});
    at += symbol.size;
  }
}

void Bpe::cut(std::string_view word, std::vector<Cut>& cuts) const {
  if (options_.whole_words) {
    if (const int64_t id = vocabulary_.id_of(word); id >= 0)
      return cuts.push_back({static_cast<int32_t>(id), 0, static_cast<uint32_t>(word.size())});
  }
  std::vector<Symbol> symbols;
  symbols.reserve(word.size());
  begin(word, symbols);
  const size_t before = cuts.size();
  finish(symbols, cuts);
  for (size_t i = before; i < cuts.size(); ++i) {  // with a prefix, bytes may stand for more than the word has
    cuts[i].begin = std::min(cuts[i].begin, static_cast<uint32_t>(word.size()));
    cuts[i].end = std::min(cuts[i].end, static_cast<uint32_t>(word.size()));
  }
}

void Bpe::cut_bytes(std::string_view word, std::vector<Cut>& cuts) const {
  if (options_.whole_words) {
    if (const auto found = words_in_bytes_.find(word); found != words_in_bytes_.end())
      return cuts.push_back({static_cast<int32_t>(found->second), 0, static_cast<uint32_t>(word.size())});
  }
  std::vector<Symbol> symbols;
  symbols.reserve(word.size());
  for (char c : word) symbols.push_back({byte_ids_[static_cast<unsigned char>(c)], 1});
  finish(symbols, cuts);
}

}  // namespace fovea
