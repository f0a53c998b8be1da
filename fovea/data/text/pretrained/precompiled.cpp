// The table of SentencePiece's normalisation: <size of the trie><trie><texts that end in \0>. The trie is a double array
// (Darts): the place of a unit, xor its offset, xor a byte, is the place of the unit that the byte leads to.
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/data/text/pretrained/normalizer.h"
#include "fovea/data/text/sentencepiece_file.h"

namespace fovea {
namespace {

constexpr size_t longest_cluster = 6;  // bytes; from there on characters are looked up one by one

class Precompiled final : public Normalizer {
 public:
  Precompiled(std::string table, std::string_view where) : table_(std::move(table)) {
    check_normalization_table(table_, where);
    if (table_.empty()) return;
    uint32_t size = 0;
    std::memcpy(&size, table_.data(), sizeof size);
    units_.resize(size / sizeof(uint32_t));
    std::memcpy(units_.data(), table_.data() + sizeof size, size);
    texts_ = std::string_view(table_).substr(sizeof size + size);
    if (const size_t bad = invalid_utf8(texts_); bad != std::string_view::npos)
      throw Error(Error::corrupt, "{}: the table of the normalisation is damaged: a text is not UTF-8", where);
    for (unsigned c = 0; c < 128; ++c) {
      const char byte = static_cast<char>(c);
      const auto found = replaced({&byte, 1});
      ascii_[c] = found ? (found->size() == 1 ? (*found)[0] : '\x80') : byte;
    }
  }

  // Clusters that a reader sees as one character are looked up as one; of entries that begin it, the shortest counts. So
  // the tables are read where these models were trained, though they could be read otherwise.
  void apply(Characters& characters) const override {
    std::vector<Change> changes;
    changes.reserve(characters.size());
    std::string cluster;
    for (size_t begin = 0, end = 0; begin < characters.size(); begin = end) {
      cluster.clear();
      utf8proc_int32_t state = 0;
      for (end = begin; end < characters.size(); ++end) {
        if (end > begin && breaks(characters[end - 1].value, characters[end].value, state)) break;
        if (cluster.size() < longest_cluster) append_utf8(cluster, characters[end].value);
      }
      if (cluster.size() < longest_cluster) {
        if (const auto text = replaced(cluster)) {
          change(changes, *text, static_cast<int64_t>(end - begin));
          continue;
        }
      }
      for (size_t i = begin; i < end; ++i) {
        cluster.clear();
        append_utf8(cluster, characters[i].value);
        if (const auto text = replaced(cluster))
          change(changes, *text, 1);
        else
          changes.push_back({characters[i].value, 0});
      }
    }
    apply_changes(characters, changes);
  }

  bool apply_to_ascii(std::string& text) const override {
    for (size_t i = 0; i < text.size(); ++i) {
      const char c = ascii_[static_cast<unsigned char>(text[i])];
      if (c == '\x80' || (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n')) return false;
      text[i] = c;
    }
    return true;
  }

 private:
  static bool breaks(char32_t a, char32_t b, utf8proc_int32_t& state) {
    if (a < 0x300 && b < 0x300 && a >= ' ' && b >= ' ' && state == 0) return true;
    return utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(a), static_cast<utf8proc_int32_t>(b), &state);
  }

  // What stands for the shortest entry that begins the text, if there is one.
  std::optional<std::string_view> replaced(std::string_view text) const {
    if (units_.empty()) return std::nullopt;
    const auto offset = [](uint32_t unit) { return (unit >> 10) << ((unit & (1u << 9)) >> 6); };
    uint32_t at = offset(units_[0]);
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      at ^= byte;
      if (byte == 0 || at >= units_.size()) return std::nullopt;
      const uint32_t unit = units_[at];
      if ((unit & ((1u << 31) | 0xFF)) != byte) return std::nullopt;
      at ^= offset(unit);
      if (!(unit & (1u << 8)) || at >= units_.size()) continue;
      const uint32_t place = units_[at] & 0x7FFFFFFF;
      if (place >= texts_.size() || (texts_[place] & 0xC0) == 0x80) return std::nullopt;
      return texts_.substr(place, texts_.find('\0', place) - place);
    }
    return std::nullopt;
  }

  // `old` characters become those of `text`: what it has more is put in, what it has less is taken out behind its last.
  static void change(std::vector<Change>& changes, std::string_view text, int64_t old) {
    const Characters added = AlignedText(text, 0).characters(0, text.size());
    const auto count = static_cast<int64_t>(added.size());
    for (int64_t i = 0; i < count; ++i) changes.push_back({added[static_cast<size_t>(i)].value, i >= old ? 1 : 0});
    if (count < old && !changes.empty()) changes.back().places += count - old;
  }

  std::string table_;
  std::vector<uint32_t> units_;
  std::string_view texts_;
  std::array<char, 128> ascii_{};  // what becomes of an ASCII character; 0x80: not one byte
};

}  // namespace

NormalizerPointer precompiled_normalizer(std::string table, std::string_view where) {
  return std::make_shared<Precompiled>(std::move(table), where);
}

}  // namespace fovea
