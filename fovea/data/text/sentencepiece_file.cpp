#include "fovea/data/text/sentencepiece_file.h"

#include <cstring>

#include "fovea/base/error.h"

namespace fovea {
namespace {

struct Field {
  uint64_t number = 0, value = 0;  // value: of a varint
  std::string_view bytes;          // of a text or message
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
        take(4);
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

// The table is <size of the trie><trie><texts that end in \0>. The trie is a double array (Darts): a unit's offset, xor a
// byte, is the unit it leads to; a unit with the top bit set holds the place of a text.
void check_table(std::string_view table, std::string_view where) {
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
  for (uint32_t i = 0; i < units; ++i) {
    uint32_t unit;
    std::memcpy(&unit, table.data() + i * sizeof unit, sizeof unit);
    if (unit >> 31) {
      expect((unit & 0x7fffffff) < texts);
    } else {
      const uint32_t offset = (unit >> 10) << ((unit & (1u << 9)) >> 6);
      expect(((i ^ offset) | 255) < units);
    }
  }
}

void check_normalizer(std::string_view spec, std::string_view where) {
  Message message(spec, where);
  for (Field field; message.next(field);) {
    if (field.number == 2) check_table(field.bytes, where);
  }
}

}  // namespace

SentencePieceFile check_sentencepiece_file(std::string_view bytes, std::string_view where) {
  SentencePieceFile file;
  bool pieces = false;
  Message model(bytes, where);
  for (Field field; model.next(field);) {
    pieces = pieces || field.number == 1;
    if (field.number == 3 || field.number == 5) check_normalizer(field.bytes, where);
    if (field.number != 2) continue;
    Message trainer(field.bytes, where);
    for (Field entry; trainer.next(entry);) {
      if (entry.number == 3) file.model_type = static_cast<int64_t>(entry.value);
    }
  }
  if (!pieces) throw Error(Error::corrupt, "{}: not a SentencePiece model: it has no pieces", where);
  return file;
}

}  // namespace fovea
