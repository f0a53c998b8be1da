#include "fovea/data/text/sentencepiece_file.h"

#include <cstring>

#include "fovea/base/error.h"

namespace fovea {
namespace {

struct Field {
  uint64_t number = 0, value = 0;  // value: of a varint
  std::string_view bytes;          // of a text or message, or the four of a float
};

// One message of a protocol buffer, field after field.
class Message {
 public:
  Message(std::string_view bytes, std::string_view where) : bytes_(bytes), where_(where) {}

  bool next(Field& field) {
    if (at_ == bytes_.size()) return false;
    const uint64_t key = varint();
    field = {.number = key >> 3, .value = 0, .bytes = {}};
    switch (key & 7) {
      case 0:
        field.value = varint();
        return true;
      case 1:
        take(8);
        return true;
      case 2:
        field.bytes = take(varint());
        return true;
      case 5:
        field.bytes = take(4);
        return true;
    }
    fail();
  }

 private:
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    fail();
  }

  std::string_view take(uint64_t size) {
    if (size > bytes_.size() - at_) fail();
    const std::string_view part = bytes_.substr(at_, size);
    at_ += size;
    return part;
  }

  [[noreturn]] void fail() const {
    throw Error(Error::corrupt, "{}: not a SentencePiece model, or damaged or cut short", where_);
  }

  std::string_view bytes_, where_;
  size_t at_ = 0;
};

// NormalizerSpec: 2 precompiled_charsmap, 3 add_dummy_prefix, 4 remove_extra_whitespaces, 5 escape_whitespaces.
void read_normalizer(std::string_view spec, SentencePieceFile& file, std::string_view where) {
  Message message(spec, where);
  for (Field field; message.next(field);) {
    if (field.number == 2) file.table = field.bytes;
    if (field.number == 3) file.adds_space = field.value != 0;
    if (field.number == 4) file.collapses_spaces = field.value != 0;
    if (field.number == 5) file.escapes_spaces = field.value != 0;
  }
  check_normalization_table(file.table, where);
}

// SentencePiece: 1 piece, 2 score, 3 type.
StoredPiece read_piece(std::string_view bytes, std::string_view where) {
  StoredPiece piece;
  Message message(bytes, where);
  for (Field field; message.next(field);) {
    if (field.number == 1) piece.text = field.bytes;
    if (field.number == 2 && field.bytes.size() == sizeof piece.score)
      std::memcpy(&piece.score, field.bytes.data(), sizeof piece.score);
    if (field.number == 3) piece.type = static_cast<int64_t>(field.value);
  }
  return piece;
}

// TrainerSpec: 3 model_type, 24 treat_whitespace_as_suffix, 35 byte_fallback.
void read_trainer(std::string_view spec, SentencePieceFile& file, std::string_view where) {
  Message trainer(spec, where);
  for (Field field; trainer.next(field);) {
    if (field.number == 3) file.model_type = static_cast<int64_t>(field.value);
    if (field.number == 24) file.space_ends = field.value != 0;
    if (field.number == 35) file.byte_fallback = field.value != 0;
  }
}

}  // namespace

// The table is <size of the trie><trie><texts that end in \0>. The trie is a double array (Darts): the place of a unit, xor
// its offset, xor a byte, is the place of the unit that it leads to. One with the top bit set is never led to by a byte. One
// with bit 8 set has a leaf, at its place xor its offset; the lower 31 bits of that are the place of a text.
void check_normalization_table(std::string_view table, std::string_view where) {
  if (table.empty()) return;
  const auto expect = [&](bool good) {
    if (!good) throw Error(Error::corrupt, "{}: the table of the normalisation is damaged", where);
  };
  uint32_t size = 0;
  expect(table.size() > sizeof size);
  std::memcpy(&size, table.data(), sizeof size);
  table.remove_prefix(sizeof size);
  expect(size < table.size() && size % (256 * sizeof(uint32_t)) == 0 && table.back() == '\0');
  const uint32_t units = size / sizeof(uint32_t), texts = static_cast<uint32_t>(table.size()) - size;
  expect(units > 0);
  const auto unit_at = [&](uint32_t i) {
    uint32_t unit;
    std::memcpy(&unit, table.data() + i * sizeof unit, sizeof unit);
    return unit;
  };
  for (uint32_t i = 0; i < units; ++i) {
    const uint32_t unit = unit_at(i), next = i ^ ((unit >> 10) << ((unit & (1u << 9)) >> 6));
    if (unit >> 31 && i > 0) continue;  // the search begins at the first unit, whatever it looks like
    expect((next | 255) < units);
    if (unit & (1u << 8)) expect((unit_at(next) & 0x7fffffff) < texts);
  }
}

SentencePieceFile check_sentencepiece_file(std::string_view bytes, std::string_view where) {
  SentencePieceFile file;
  Message model(bytes, where);
  for (Field field; model.next(field);) {
    if (field.number == 1) file.pieces.push_back(read_piece(field.bytes, where));
    if (field.number == 2) read_trainer(field.bytes, file, where);
    if (field.number == 3) read_normalizer(field.bytes, file, where);
    if (SentencePieceFile way_back; field.number == 5) read_normalizer(field.bytes, way_back, where);
  }
  if (file.pieces.empty()) throw Error(Error::corrupt, "{}: not a SentencePiece model: it has no pieces", where);
  file.space_begins = file.adds_space && file.escapes_spaces && !file.space_ends;
  return file;
}

}  // namespace fovea
