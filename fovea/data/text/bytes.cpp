#include "fovea/data/text/bytes.h"

#include "fovea/base/error.h"
#include "fovea/base/file.h"

namespace fovea {
namespace {

constexpr const char* special_names[] = {"<pad>", "<s>", "</s>", "<unk>"};

}  // namespace

std::string Bytes::piece(int64_t id) const {
  check_id(id);
  if (id < SpecialIds::count) return special_names[id];
  const auto byte = static_cast<unsigned>(id - SpecialIds::count);
  return byte > 0x20 && byte < 0x7f ? std::string(1, static_cast<char>(byte)) : fmt::format("<0x{:02X}>", byte);
}

int64_t Bytes::id_of(std::string_view piece) const {
  for (int64_t id = 0; id < size(); ++id) {
    if (this->piece(id) == piece) return id;
  }
  return special_.unk;
}

Tokens Bytes::encode(std::string_view text) const {
  Tokens tokens;
  tokens.ids.reserve(text.size());
  tokens.spans.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    tokens.ids.push_back(SpecialIds::count + static_cast<unsigned char>(text[i]));
    tokens.spans.push_back({static_cast<int64_t>(i), static_cast<int64_t>(i) + 1});
  }
  return tokens;
}

std::string Bytes::decode(std::span<const int64_t> ids) const {
  std::string text;
  for (int64_t id : ids) {
    check_id(id);
    if (id >= SpecialIds::count) text += static_cast<char>(id - SpecialIds::count);
  }
  return text;
}

void Bytes::save(const std::filesystem::path& folder) const {
  make_folder(folder);
  write_text(folder / "vocabulary.json", "{\"kind\": \"bytes\"}\n");
}

}  // namespace fovea
