#include "fovea/data/text/pretrained/pipeline.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/text/pretrained/character_kinds.h"

namespace fovea {
namespace {

constexpr size_t longest_text = 0xFFFFFFF0 / 4;  // bytes: origins are counted in 32 bits

// The byte `count` characters behind (or before) `at`.
int64_t moved(std::string_view text, int64_t at, int64_t count) {
  const auto size = static_cast<int64_t>(text.size());
  for (; count > 0 && at < size; --count) {
    do ++at;
    while (at < size && !begins_character(text[static_cast<size_t>(at)]));
  }
  for (; count < 0 && at > 0; ++count) {
    do --at;
    while (at > 0 && !begins_character(text[static_cast<size_t>(at)]));
  }
  return at;
}

}  // namespace

struct Pipeline::Work {
  std::string_view text;
  Tokens tokens;
  std::vector<Cut> cuts;
  WordCaches::Lease cache;

  void add(int64_t id, Span span) {
    tokens.ids.push_back(id);
    tokens.spans.push_back(span);
  }
};

Pipeline::Pipeline(PipelineParts parts) : parts_(std::move(parts)) {
  require(parts_.model != nullptr, "{}: found no model", parts_.where);
  number_added_tokens();
  if (parts_.special.unk < 0) parts_.special.unk = parts_.model->unknown();
  const auto* bpe = dynamic_cast<const Bpe*>(parts_.model.get());
  if (bpe && bpe->knows_all_bytes() && parts_.pre_tokenizer && parts_.pre_tokenizer->ends_in_bytes()) bytes_ = bpe;
  if (!parts_.post_processor.trim_offsets) return;
  for (int64_t id = 0; id < size_; ++id) blanks_.push_back(blanks_of(piece(id)));
}

// Ids go on where the model's end, without holes.
void Pipeline::number_added_tokens() {
  const Vocabulary& vocabulary = parts_.model->vocabulary();
  for (const AddedToken& token : parts_.added) {
    const int64_t own = vocabulary.id_of(token.content);
    const auto fail = [&](std::string_view why) {
      throw Error(Error::corrupt, "{}: the added token '{}' has id {}, {}", parts_.where, printable(token.content),
                  token.id, why);
    };
    if (own >= 0 && own != token.id) fail(fmt::format("but {} in the vocabulary", own));
    if (own < 0 && token.id >= 0 && token.id < vocabulary.size())
      fail(fmt::format("which is '{}' in the vocabulary", printable(vocabulary.piece(token.id))));
    const auto [place, fresh] = added_pieces_.emplace(token.id, token.content);
    if (!fresh && place->second != token.content) fail(fmt::format("which '{}' has too", printable(place->second)));
    const auto [same, first] = added_ids_.emplace(token.content, token.id);
    if (!first && same->second != token.id) fail(fmt::format("and {}, too", same->second));
  }
  size_ = vocabulary.size();
  for (const auto& [id, content] : added_pieces_) {
    if (id < size_ && id >= 0) continue;
    if (id != size_)
      throw Error(Error::corrupt, "{}: found id {} for '{}', expected {}; ids have no holes", parts_.where, id,
                  printable(content), size_);
    ++size_;
  }
  left_out_.assign(static_cast<size_t>(size_), false);
  for (const AddedToken& token : parts_.added)
    if (token.special) left_out_[static_cast<size_t>(token.id)] = true;
  added_ = AddedTokens(parts_.added, parts_.normalizer, parts_.where);
  for (const AddedToken& token : added_.tokens()) decoded_.emplace(token.id, token.content);
  const auto check = [&](const char* name, int64_t id) {
    if (id < -1 || id >= size_)
      throw Error(Error::corrupt, "{}: found {} as the id of {}, expected one of {}", parts_.where, id, name, size_);
  };
  for (const auto* items : {&parts_.post_processor.single, &parts_.post_processor.pair}) {
    for (const auto& item : *items)
      for (int64_t id : item.ids) check("a special token", id < 0 ? size_ : id);
  }
  check("padding", parts_.special.pad);
  check("the beginning", parts_.special.bos);
  check("the end", parts_.special.eos);
  check("unknown pieces", parts_.special.unk);
  check("the mask", parts_.special.mask);
}

std::string Pipeline::piece(int64_t id) const {
  check_id(id);
  if (id < parts_.model->vocabulary().size()) return parts_.model->vocabulary().piece(id);
  return added_pieces_.at(id);
}

int64_t Pipeline::id_of(std::string_view piece) const {
  if (const auto found = added_ids_.find(piece); found != added_ids_.end()) return found->second;
  const int64_t id = parts_.model->vocabulary().id_of(piece);
  return id < 0 ? parts_.special.unk : id;
}

Pipeline::Blanks Pipeline::blanks_of(std::string_view piece) {
  const Characters characters = AlignedText(piece, 0).characters(0, piece.size());
  const auto blank = [](const Character& c) { return c.value == character_of_byte(' ') || is_white_space(c.value); };
  const auto before = std::find_if_not(characters.begin(), characters.end(), blank) - characters.begin();
  const auto behind = std::find_if_not(characters.rbegin(), characters.rend(), blank) - characters.rbegin();
  return {static_cast<uint8_t>(std::min<int64_t>(before, 255)), static_cast<uint8_t>(std::min<int64_t>(behind, 255))};
}

void Pipeline::trim(std::string_view text, size_t number, Blanks blanks, Span& span) const {
  int64_t before = blanks.before;
  if (before == 1 && (number == 0 || span.begin == 0) && parts_.post_processor.add_prefix_space) before = 0;
  const Span given = span;
  span.begin = std::min(moved(text, given.begin, before), given.end);
  span.end = std::max(moved(text, given.end, -int64_t{blanks.behind}), span.begin);
}

Tokens Pipeline::encode(std::string_view text) const {
  check_utf8(text, "text");
  require(text.size() < longest_text, "text: found {} bytes, expected fewer than {}", text.size(), longest_text);
  Work work = {text, {}, {}, parts_.model->worth_keeping() ? caches_.lease() : WordCaches::Lease(nullptr, {})};
  work.tokens.ids.reserve(text.size() / 3 + 4);
  work.tokens.spans.reserve(text.size() / 3 + 4);
  const auto part = [&](int64_t id, size_t begin, size_t end) {
    if (id >= 0)
      work.add(id, {static_cast<int64_t>(begin), static_cast<int64_t>(end)});
    else
      encode_part(text.substr(begin, end - begin), static_cast<uint32_t>(begin), work);
  };
  if (added_.as_given().empty()) {
    if (!text.empty()) part(-1, 0, text.size());
  } else {
    added_.as_given().each_part(text, part);
  }
  if (blanks_.empty()) return std::move(work.tokens);
  for (size_t i = 0; i < work.tokens.ids.size(); ++i) {
    Span& span = work.tokens.spans[i];
    const auto id = static_cast<size_t>(work.tokens.ids[i]);
    trim(text, i, added_pieces_.contains(work.tokens.ids[i]) ? blanks_of(piece_of(text, span)) : blanks_[id], span);
  }
  return std::move(work.tokens);
}

void Pipeline::encode_part(std::string_view text, uint32_t begin, Work& work) const {
  AlignedText normal(text, begin);
  if (parts_.normalizer) parts_.normalizer->apply(normal);
  if (normal.text().empty()) return;
  if (added_.normalized().empty()) return encode_words(normal, work);
  added_.normalized().each_part(normal.text(), [&](int64_t id, size_t from, size_t to) {
    if (id >= 0) return work.add(id, normal.origin(from, to));
    if (from == 0 && to == normal.text().size()) return encode_words(normal, work);
    AlignedText part(normal.text().substr(from, to - from), 0);
    std::string own;
    std::vector<Character> origins;
    normal.append(own, origins, from, to);
    part.replace(std::move(own), std::move(origins));
    encode_words(part, work);
  });
}

void Pipeline::encode_words(AlignedText& text, Work& work) const {
  PreTokens words(text);
  words.pieces[0].origin = text.origin(0, text.text().size()).begin;
  if (bytes_)
    parts_.pre_tokenizer->apply_but_keep_bytes(words);
  else if (parts_.pre_tokenizer)
    parts_.pre_tokenizer->apply(words);
  for (const PreTokens::Piece& piece : words.pieces) {
    const std::string_view word = text.text().substr(piece.begin, piece.end - piece.begin);
    if (word.empty()) continue;
    const auto add = [&](const Cut& cut) {
      work.add(cut.id, text.origin(piece.begin + cut.begin, piece.begin + cut.end));
    };
    if (const auto* known = work.cache.find(word)) {
      std::for_each(known->cut, known->cut + known->cuts, add);
      continue;
    }
    work.cuts.clear();
    if (bytes_)
      bytes_->cut_bytes(word, work.cuts);
    else
      parts_.model->cut(word, work.cuts);
    work.cache.keep(word, work.cuts.data(), work.cuts.size());
    std::for_each(work.cuts.begin(), work.cuts.end(), add);
  }
}

std::string Pipeline::decode(std::span<const int64_t> ids) const {
  std::vector<std::string> pieces;
  for (int64_t id : ids) {
    check_id(id);
    if (left_out_[static_cast<size_t>(id)]) continue;
    const auto added = decoded_.find(id);
    pieces.push_back(added == decoded_.end() ? piece(id) : added->second);
  }
  std::string text;
  if (parts_.decoder) {
    parts_.decoder->apply(pieces);
    for (const std::string& piece : pieces) text += piece;
    return text;
  }
  for (size_t i = 0; i < pieces.size(); ++i) text += (i > 0 ? " " : "") + pieces[i];
  return text;
}

Tokens Pipeline::frame(const Tokens& text, const Tokens* second) const {
  return parts_.post_processor.frame(text, second);
}

void Pipeline::save(const std::filesystem::path& folder) const {
  require(!parts_.files.empty() || !parts_.texts.empty(),
          "{}: this tokenizer did not come from files that could be copied", parts_.where);
  make_folder(folder);
  for (const auto& [name, file] : parts_.files) write_text(folder / name, file.text());
  for (const auto& [name, text] : parts_.texts) write_text(folder / name, text);
}

}  // namespace fovea
