// The 256 bytes themselves after the special ids: nothing to learn, and nothing is unknown.
//
//   Tokens tokens = Bytes().encode("é");               // ids {4 + 0xc3, 4 + 0xa9}, spans [0, 1) and [1, 2)
#pragma once

#include "fovea/data/text/tokenizer.h"

namespace fovea {

class Bytes final : public Tokenizer {
 public:
  std::string_view kind() const override { return "bytes"; }
  int64_t size() const override { return SpecialIds::count + 256; }
  const SpecialIds& special() const override { return special_; }
  std::string piece(int64_t id) const override;  // "<0xC3>" for what is not a printable ASCII character
  int64_t id_of(std::string_view piece) const override;
  Tokens encode(std::string_view text) const override;
  std::string decode(std::span<const int64_t> ids) const override;
  void save(const std::filesystem::path& folder) const override;

 private:
  SpecialIds special_;
};

}  // namespace fovea
