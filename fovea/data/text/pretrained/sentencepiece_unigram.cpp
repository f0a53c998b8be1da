#include "fovea/data/text/pretrained/sentencepiece_unigram.h"

#include <algorithm>
#include <cstring>

#include "fovea/data/text/pretrained/character_kinds.h"
#include "fovea/data/text/sentencepiece_file.h"

namespace fovea {
namespace {

constexpr std::string_view mark = "\u2581";  // ▁
constexpr int64_t longest_sum = 4096;        // bytes, as sentencepiece.cpp gives the library

uint32_t offset_of(uint32_t unit) { return (unit >> 10) << ((unit & (1u << 9)) >> 6); }
uint32_t label_of(uint32_t unit) { return unit & ((1u << 31) | 0xFF); }

bool marks_begin_words_alone(const SentencePieceFile& file) {
  return std::all_of(file.pieces.begin(), file.pieces.end(), [](const StoredPiece& piece) {
    return piece.type == StoredPiece::user_defined ? false : piece.text.find(mark, 1) == piece.text.npos;
  });
}

}  // namespace

// One word as it is normalised: its bytes, where each came from, and where the space before it stood.
struct SentencePieceUnigram::Work {
  std::string_view text;
  const Piece& piece;
  WordCaches::Lease cache;
  std::string word = std::string(mark);
  std::vector<int64_t> origins = std::vector<int64_t>(mark.size(), 0);
  std::vector<Cut> cuts = {};
  float sum = 0;          // of the scores so far, which decides where several ways to cut are as good but for rounding
  int64_t sum_from = 0;   // where it began
  bool first = true;      // word of the text
  int64_t space_at = -1;  // of the space before the word; −1: none yet

  void add(std::string_view bytes, int64_t origin) {
    word += bytes;
    origins.insert(origins.end(), bytes.size(), origin);
  }
};

std::shared_ptr<const SentencePieceUnigram> SentencePieceUnigram::make(std::string_view bytes, std::string_view where) {
  const SentencePieceFile file = check_sentencepiece_file(bytes, where);
  if (file.model_type != 1 || !file.space_begins || !file.collapses_spaces || !marks_begin_words_alone(file))
    return nullptr;
  const auto unknown = [](const StoredPiece& piece) { return piece.type == StoredPiece::unknown; };
  if (std::count_if(file.pieces.begin(), file.pieces.end(), unknown) != 1) return nullptr;
  std::shared_ptr<SentencePieceUnigram> made(new SentencePieceUnigram(file, where));
  return made->table_is_plain() ? made : nullptr;
}

SentencePieceUnigram::SentencePieceUnigram(const SentencePieceFile& file, std::string_view where) {
  std::vector<std::string> pieces;
  std::vector<double> scores;
  Unigram::Options options = {.byte_fallback = file.byte_fallback};
  for (const StoredPiece& piece : file.pieces) {
    if (piece.type == StoredPiece::unknown) options.unknown = static_cast<int64_t>(pieces.size());
    options.hidden.push_back(piece.type != StoredPiece::normal);
    pieces.emplace_back(piece.text), scores.push_back(piece.score);
  }
  model_ = std::make_unique<Unigram>(Vocabulary(std::move(pieces), where), std::move(scores), options);
  std::fill(plain_.begin(), plain_.end(), true);
  if (file.table.empty()) return;
  uint32_t size = 0;
  std::memcpy(&size, file.table.data(), sizeof size);
  units_.resize(size / sizeof(uint32_t));
  std::memcpy(units_.data(), file.table.data() + sizeof size, size);
  texts_ = file.table.substr(sizeof size + size);
  for (size_t c = 0; c < plain_.size(); ++c) {
    const auto begins_entry = [&](size_t next) {
      const char pair[] = {static_cast<char>(c), static_cast<char>(next)};
      return replaced({pair, 2}).size > 0;
    };
    bool plain = true;
    for (size_t next = 1; next < 128 && plain; ++next) plain = !begins_entry(next);
    plain_[c] = plain;
  }
}

// No entry has a space that is not all of it: then what stands between two spaces is normalised by itself.
bool SentencePieceUnigram::table_is_plain() const {
  if (invalid_utf8(texts_) != std::string_view::npos) return false;
  if (units_.empty()) return true;
  const uint32_t single = offset_of(units_[0]) ^ ' ';
  for (uint32_t i = 0; i < units_.size(); ++i)
    if (label_of(units_[i]) == ' ' && i != single && i != 0) return false;
  return plain_[' '];
}

SentencePieceUnigram::Replaced SentencePieceUnigram::replaced(std::string_view text) const {
  Replaced found;
  if (units_.empty()) return found;
  uint32_t at = offset_of(units_[0]);
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    at ^= byte;
    if (byte == 0 || at >= units_.size() || label_of(units_[at]) != byte) break;
    const uint32_t unit = units_[at];
    at ^= offset_of(unit);
    if (!(unit & (1u << 8)) || at >= units_.size()) continue;
    const uint32_t place = units_[at] & 0x7FFFFFFF;
    if (place < texts_.size())
      found = {i + 1, std::string_view(texts_).substr(place, texts_.find('\0', place) - place)};
  }
  return found;
}

void SentencePieceUnigram::each_piece(std::string_view text, const Piece& piece) const {
  Work work = {text, piece, caches_.lease()};
  for (size_t begin = 0; begin < text.size();) {
    if (text[begin] == ' ') {
      flush(static_cast<int64_t>(begin), work);
      if (work.space_at < 0) work.space_at = static_cast<int64_t>(begin);
      ++begin;
      continue;
    }
    size_t end = begin;
    bool plain = true;
    for (; end < text.size() && text[end] != ' '; ++end) {
      const auto byte = static_cast<unsigned char>(text[end]);
      plain = plain && byte > ' ' && byte < 128 && plain_[byte];
    }
    if (plain)
      add_plain(begin, end, work);
    else
      normalise(text, begin, end, work);
    begin = end;
  }
  flush(static_cast<int64_t>(text.size()), work);
}

void SentencePieceUnigram::normalise(std::string_view text, size_t begin, size_t end, Work& work) const {
  for (size_t at = begin; at < end;) {
    Replaced r = replaced(text.substr(at, end - at));
    if (r.size == 0) r.size = character_at(text, at).size, r.by = text.substr(at, r.size);
    const auto origin = static_cast<int64_t>(at);
    for (size_t i = 0; i < r.by.size();) {
      const size_t space = std::min(r.by.find(' ', i), r.by.size());
      work.add(r.by.substr(i, space - i), origin);
      if (space < r.by.size()) {
        flush(origin, work);
        if (work.space_at < 0) work.space_at = origin;
      }
      i = space + 1;
    }
    at += r.size;
  }
}

// A whole word whose bytes stay as they are, and where they are.
void SentencePieceUnigram::add_plain(size_t begin, size_t end, Work& work) const {
  const auto from = static_cast<int64_t>(begin), shift = from - static_cast<int64_t>(mark.size());
  const int64_t before = work.first || work.space_at < 0 ? from : work.space_at;
  const bool one_space = before + 1 == from && work.text[begin - 1] == ' ';
  work.word += work.text.substr(begin, end - begin);
  cut(before, work, [&](const Cut& cut) {
    const std::string_view spelled = std::string_view(work.word).substr(cut.begin, cut.end - cut.begin);
    Span span = {shift + cut.begin, shift + cut.end};
    if (cut.begin == 0) {
      span.begin = cut.end == mark.size() || !one_space ? before : from;
      if (!one_space) span = visible_span(work.text, span, spelled);
    }
    work.piece(cut.id, span, spelled);
  });
}

// The word ends before `end`, a byte of the text.
void SentencePieceUnigram::flush(int64_t end, Work& work) const {
  if (work.word.size() == mark.size()) return;
  const int64_t before = work.first || work.space_at < 0 ? work.origins[mark.size()] : work.space_at;
  std::fill_n(work.origins.begin(), mark.size(), before);
  work.origins.push_back(end);
  cut(before, work, [&](const Cut& cut) {
    const std::string_view spelled = std::string_view(work.word).substr(cut.begin, cut.end - cut.begin);
    work.piece(cut.id, visible_span(work.text, {work.origins[cut.begin], work.origins[cut.end]}, spelled), spelled);
  });
}

template <class Add>
void SentencePieceUnigram::cut(int64_t before, Work& work, Add add) const {
  if (before - work.sum_from >= longest_sum) work.sum = 0, work.sum_from = before;
  if (const auto* known = work.cache.find(work.word)) {
    for (const Cut* cut = known->cut; cut < known->cut + known->cuts; ++cut) {
      add(*cut);
      work.sum += model_->score(cut->id);
    }
  } else {
    work.cuts.clear();
    const auto [sum, close] = model_->cut_in_floats(work.sum, work.word, work.cuts);
    work.sum = sum;
    if (!close) work.cache.keep(work.word, work.cuts.data(), work.cuts.size());
    std::for_each(work.cuts.begin(), work.cuts.end(), add);
  }
  work.word.resize(mark.size()), work.origins.resize(mark.size());
  work.first = false, work.space_at = -1;
}

}  // namespace fovea
