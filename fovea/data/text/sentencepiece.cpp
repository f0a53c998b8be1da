#include "fovea/data/text/sentencepiece.h"

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/random.h"
#include "fovea/data/text/sentencepiece_file.h"

namespace fovea {
namespace {

// The expectations of the unigram model are summed thread by thread: the number of threads is part of the result.
constexpr int training_threads = 4;
constexpr int64_t longest_part = 4096;  // bytes that the library gets at once: it is quadratic in some texts
constexpr std::string_view space_mark = "\u2581";

class Sentences final : public sentencepiece::SentenceIterator {
 public:
  explicit Sentences(const std::vector<std::string>& texts) : texts_(texts) {}
  bool done() const override { return at_ == texts_.size(); }
  void Next() override { ++at_; }
  const std::string& value() const override { return texts_[at_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string>& texts_;
  size_t at_ = 0;
};

struct Part {
  Span span;
  bool joined = false;  // nothing stood between it and the part before
};

// Parts of at most longest_part bytes, cut at spaces, which belong to no part, or else between two characters.
std::vector<Part> parts_of(std::string_view text, bool at_spaces) {
  std::vector<Part> parts;
  const auto size = static_cast<int64_t>(text.size());
  for (int64_t begin = 0; begin < size || parts.empty();) {
    const bool joined = begin > 0 && (!at_spaces || text[static_cast<size_t>(begin - 1)] != ' ');
    int64_t end = std::min(size, begin + longest_part), next = end;
    if (end < size) {
      const size_t space = at_spaces ? text.rfind(' ', static_cast<size_t>(std::min(end, size - 2))) : text.npos;
      if (space != text.npos && static_cast<int64_t>(space) > begin) {
        end = static_cast<int64_t>(space);
        next = end + 1;
      } else {
        while ((text[static_cast<size_t>(end)] & 0xC0) == 0x80) --end;
        next = end;
      }
    }
    parts.push_back({{begin, end}, joined});
    begin = next;
  }
  return parts;
}

// An even draw of at most `most` of the texts, in their order of arrival into the places (algorithm R; Vitter 1985).
std::vector<std::string> drawn(const TextSource& texts, int64_t most, uint64_t seed) {
  std::vector<std::string> kept;
  const Random random = Random(seed).fork("sentencepiece");
  uint64_t seen = 0;
  for (std::string text; texts(text);) {
    check_utf8(text, "training text");
    for (const Part& part : parts_of(text, true)) {
      if (part.span.size() == 0) continue;
      if (static_cast<int64_t>(kept.size()) < most) {
        kept.emplace_back(piece_of(text, part.span));
      } else if (const uint64_t place = random.below(seen + 1, seen); place < kept.size()) {
        kept[place] = piece_of(text, part.span);
      }
      ++seen;
    }
  }
  return kept;
}

const char* rule_of(SentencePiece::Normalization normalization) {
  switch (normalization) {
    case SentencePiece::Normalization::nfkc:
      return "nmt_nfkc";
    case SentencePiece::Normalization::nfkc_lower_case:
      return "nmt_nfkc_cf";
    case SentencePiece::Normalization::none:
      return "identity";
  }
  return "";
}

// Its texts begin with "file(line) [condition]", which tells a user nothing.
void check(const sentencepiece::util::Status& status, Error::Kind kind, std::string_view where) {
  if (status.ok()) return;
  std::string_view text = status.message();
  if (const size_t end = text.find("] "); text.starts_with("./src/") && end != text.npos) text.remove_prefix(end + 2);
  throw Error(kind, "{}: SentencePiece: {}", where, trim(text).empty() ? "the model is damaged" : text);
}

}  // namespace

Span visible_span(std::string_view text, Span span, std::string_view piece) {
  if (span.size() == 0 && piece != space_mark && span.begin < static_cast<int64_t>(text.size())) {
    do {
      ++span.end;
    } while (span.end < static_cast<int64_t>(text.size()) && (text[static_cast<size_t>(span.end)] & 0xC0) == 0x80);
    return span;
  }
  const Span inner = without_spaces(text, span);
  return inner.size() > 0 ? inner : span;  // white space only: a piece of its own
}

SentencePiece::SentencePiece(SentencePiece&&) noexcept = default;
SentencePiece::~SentencePiece() = default;

SentencePiece::SentencePiece(std::string model, std::string_view where)
    : processor_(std::make_unique<sentencepiece::SentencePieceProcessor>()) {
  const SentencePieceFile file = check_sentencepiece_file(model, where);
  if (file.model_type != 1 && file.model_type != 2) {
    throw Error(Error::unsupported, "{}: found SentencePiece's model type {}, expected unigram or BPE", where,
                file.model_type);
  }
  model_ = file.model_type == 2 ? Model::bpe : Model::unigram;
  space_begins_ = file.space_begins;
  try {
    check(processor_->LoadFromSerializedProto(model), Error::corrupt, where);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    throw Error(Error::corrupt, "{}: SentencePiece: {}", where, e.what());
  }
  size_ = processor_->GetPieceSize();
  special_ = {processor_->pad_id(), processor_->bos_id(), processor_->eos_id(), processor_->unk_id()};
}

SentencePiece::SentencePiece(const std::filesystem::path& file) : SentencePiece(read_text(file), file.string()) {}

SentencePiece SentencePiece::train(const TextSource& texts, const Options& o) {
  require(o.vocabulary > SpecialIds::count && o.vocabulary <= 1'000'000,
          "SentencePiece: found a vocabulary of {}, expected 5 to 1,000,000", o.vocabulary);
  require(o.coverage > 0 && o.coverage <= 1, "SentencePiece: found a coverage of {}, expected above 0, at most 1",
          o.coverage);
  require(o.sentences > 0, "SentencePiece: found {} sentences, expected at least 1", o.sentences);
  const std::vector<std::string> sentences = drawn(texts, o.sentences, o.seed);
  require(!sentences.empty(), "SentencePiece: found no text to learn from");
  Sentences iterator(sentences);
  std::string model;
  const auto status = sentencepiece::SentencePieceTrainer::Train(
      {{"model_type", o.model == Model::bpe ? "bpe" : "unigram"},
       {"vocab_size", std::to_string(o.vocabulary)},
       {"hard_vocab_limit", "false"},
       {"normalization_rule_name", rule_of(o.normalization)},
       {"remove_extra_whitespaces", o.normalization == Normalization::none ? "false" : "true"},
       {"character_coverage", fmt::format("{}", o.coverage)},
       {"byte_fallback", o.byte_fallback ? "true" : "false"},
       {"max_sentence_length", std::to_string(longest_part)},
       {"num_threads", std::to_string(training_threads)},
       {"pad_id", "0"},
       {"bos_id", "1"},
       {"eos_id", "2"},
       {"unk_id", "3"},
       {"minloglevel", "3"}},
      &iterator, &model);
  check(status, Error::invalid, "training of the tokenizer");
  return SentencePiece(std::move(model), "the trained tokenizer");
}

std::string_view SentencePiece::kind() const { return model_ == Model::bpe ? "bpe" : "unigram"; }

std::string SentencePiece::piece(int64_t id) const {
  check_id(id);
  return processor_->IdToPiece(static_cast<int>(id));
}

int64_t SentencePiece::id_of(std::string_view piece) const { return processor_->PieceToId(piece); }

Tokens SentencePiece::encode(std::string_view text) const {
  check_utf8(text, "text");
  Tokens tokens;
  for (const Part& part : parts_of(text, space_begins_)) encode_part(text, part.span, part.joined, tokens, nullptr);
  return tokens;
}

Tokens SentencePiece::encode(std::string_view text, std::vector<std::string>& pieces) const {
  check_utf8(text, "text");
  Tokens tokens;
  for (const Part& part : parts_of(text, space_begins_)) encode_part(text, part.span, part.joined, tokens, &pieces);
  return tokens;
}

void SentencePiece::encode_part(std::string_view text, Span part, bool joined, Tokens& into,
                                std::vector<std::string>* spelled) const {
  sentencepiece::ImmutableSentencePieceText pieces;
  const std::string_view own = piece_of(text, part);
  check(processor_->Encode(own, pieces.mutable_proto()), Error::invalid, "text");
  for (size_t i = 0; i < pieces.pieces_size(); ++i) {
    const auto piece = pieces.pieces(static_cast<int>(i));
    const Span span = visible_span(own, {piece.begin(), piece.end()}, piece.piece());
    const Span placed = {part.begin + span.begin, part.begin + span.end};
    // Where a word was cut, the library's mark of its beginning and the second half of an unknown stretch are no tokens.
    if (joined && piece.piece() == space_mark && span.size() == 0) continue;
    if (joined && piece.id() == special_.unk && !into.ids.empty() && into.ids.back() == special_.unk) {
      into.spans.back().end = placed.end;
      if (spelled) spelled->back() += piece.piece();
    } else {
      if (spelled) spelled->push_back(piece.piece());
      into.ids.push_back(piece.id());
      into.spans.push_back(placed);
    }
    joined = false;
  }
}

std::string SentencePiece::decode(std::span<const int64_t> ids) const {
  std::vector<int> pieces;
  for (int64_t id : ids) {
    check_id(id);
    pieces.push_back(static_cast<int>(id));
  }
  std::string text;
  check(processor_->Decode(pieces, &text), Error::invalid, "ids");
  return text;
}

std::string SentencePiece::decode_pieces(const std::vector<std::string>& pieces) const {
  std::string text;
  check(processor_->Decode(pieces, &text), Error::invalid, "pieces");
  return text;
}

void SentencePiece::save(const std::filesystem::path& folder) const {
  make_folder(folder);
  write_text(folder / "spiece.model", processor_->serialized_model_proto());
}

}  // namespace fovea
