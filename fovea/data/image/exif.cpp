#include "fovea/data/image/codecs.h"

namespace fovea {
namespace {

// Whole numbers at a place; 0 beyond the end.
class TiffBytes final {
 public:
  explicit TiffBytes(std::span<const std::byte> bytes) : bytes_(bytes) {
    little_ = byte(0) == 'I' && byte(1) == 'I';
    valid_ = (little_ || (byte(0) == 'M' && byte(1) == 'M')) && number(2, 2) == 42;
  }

  bool valid() const { return valid_; }
  uint64_t number(uint64_t place, int size) const {
    uint64_t value = 0;
    for (int i = 0; i < size; ++i) value = value << 8 | byte(place + static_cast<uint64_t>(little_ ? size - 1 - i : i));
    return value;
  }

 private:
  uint64_t byte(uint64_t place) const { return place < bytes_.size() ? std::to_integer<uint64_t>(bytes_[place]) : 0; }

  std::span<const std::byte> bytes_;
  bool little_ = false, valid_ = false;
};

}  // namespace

int exif_orientation(std::span<const std::byte> bytes) {
  constexpr uint64_t orientation_tag = 0x0112, entry_size = 12;
  const TiffBytes tiff(bytes);
  if (!tiff.valid()) return 1;
  const uint64_t directory = tiff.number(4, 4), entries = tiff.number(directory, 2);
  for (uint64_t i = 0; i < entries; ++i) {
    const uint64_t entry = directory + 2 + i * entry_size;
    if (tiff.number(entry, 2) != orientation_tag) continue;
    const uint64_t value = tiff.number(entry + 8, 2);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

}  // namespace fovea
