// Metadata of GGUF files: values from their bytes and back.
#include <cstring>

#include "fovea/base/catalogue.h"
#include "fovea/formats/gguf_types.h"

namespace fovea {
namespace {

template <class T>
std::string bytes_of(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(T));
}

std::string with_length(std::string_view text) { return bytes_of(uint64_t{text.size()}) + std::string(text); }

template <class T>
GgufValue list_of(GgufType type, const std::vector<T>& values) {
  GgufValue list = {type, true, values.size(), {}};
  for (const T& value : values) {
    if constexpr (std::is_same_v<T, std::string>)
      list.bytes += with_length(value);
    else
      list.bytes += bytes_of(value);
  }
  return list;
}

// Element `i` of a value whose bytes were checked.
template <class T>
T at(const GgufValue& v, uint64_t i) {
  T value;
  std::memcpy(&value, v.bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

bool is_integer(GgufType t) {
  return t != GgufType::f32 && t != GgufType::f64 && t != GgufType::flag && t != GgufType::text;
}

int64_t integer_at(const GgufValue& v, uint64_t i) {
  switch (v.type) {
    case GgufType::u8:
      return at<uint8_t>(v, i);
    case GgufType::i8:
      return at<int8_t>(v, i);
    case GgufType::u16:
      return at<uint16_t>(v, i);
    case GgufType::i16:
      return at<int16_t>(v, i);
    case GgufType::u32:
      return at<uint32_t>(v, i);
    case GgufType::i32:
      return at<int32_t>(v, i);
    default:
      return at<int64_t>(v, i);
  }
}

double number_at(const GgufValue& v, uint64_t i) {
  if (v.type == GgufType::f32) return at<float>(v, i);
  if (v.type == GgufType::f64) return at<double>(v, i);
  if (v.type == GgufType::u64) return static_cast<double>(at<uint64_t>(v, i));
  return static_cast<double>(integer_at(v, i));
}

[[noreturn]] void throw_other_type(const Gguf& file, const std::string& key, std::string_view expected) {
  throw Error(Error::corrupt, "{}: key '{}' has a value of another type, expected {}", file.path().string(), key,
              expected);
}

}  // namespace

GgufValue GgufValue::of(uint32_t value) { return {GgufType::u32, false, 1, bytes_of(value)}; }
GgufValue GgufValue::of(float value) { return {GgufType::f32, false, 1, bytes_of(value)}; }
GgufValue GgufValue::of(bool value) { return {GgufType::flag, false, 1, std::string(1, value ? '\1' : '\0')}; }
GgufValue GgufValue::of(std::string_view value) { return {GgufType::text, false, 1, with_length(value)}; }
GgufValue GgufValue::of(const std::vector<int32_t>& values) { return list_of(GgufType::i32, values); }
GgufValue GgufValue::of(const std::vector<float>& values) { return list_of(GgufType::f32, values); }
GgufValue GgufValue::of(const std::vector<std::string>& values) { return list_of(GgufType::text, values); }

const GgufValue& Gguf::value(const std::string& key) const {
  if (const auto found = metadata_.find(key); found != metadata_.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [name, value] : metadata_) known.push_back(name);
  throw_unknown(fmt::format("key in {}", path_.string()), key, known);
}

int64_t Gguf::integer(const std::string& key) const {
  const GgufValue& v = value(key);
  if (v.list) throw_other_type(*this, key, "a whole number");
  return integers(key)[0];
}

double Gguf::number(const std::string& key) const {
  const GgufValue& v = value(key);
  if (v.list) throw_other_type(*this, key, "a number");
  return numbers(key)[0];
}

bool Gguf::flag(const std::string& key) const {
  const GgufValue& v = value(key);
  if (v.list || v.type != GgufType::flag) throw_other_type(*this, key, "true or false");
  return v.bytes[0] != 0;
}

std::string Gguf::text(const std::string& key) const {
  const GgufValue& v = value(key);
  if (v.list || v.type != GgufType::text) throw_other_type(*this, key, "a text");
  return v.bytes.substr(sizeof(uint64_t));
}

std::vector<int64_t> Gguf::integers(const std::string& key) const {
  const GgufValue& v = value(key);
  if (!is_integer(v.type)) throw_other_type(*this, key, "whole numbers");
  std::vector<int64_t> all(v.count);
  for (uint64_t i = 0; i < v.count; ++i) {
    all[i] = integer_at(v, i);
    if (v.type == GgufType::u64 && all[i] < 0) throw_other_type(*this, key, "whole numbers below 2⁶³");
  }
  return all;
}

std::vector<double> Gguf::numbers(const std::string& key) const {
  const GgufValue& v = value(key);
  if (v.type == GgufType::flag || v.type == GgufType::text) throw_other_type(*this, key, "numbers");
  std::vector<double> all(v.count);
  for (uint64_t i = 0; i < v.count; ++i) all[i] = number_at(v, i);
  return all;
}

std::vector<std::string> Gguf::texts(const std::string& key) const {
  const GgufValue& v = value(key);
  if (v.type != GgufType::text) throw_other_type(*this, key, "texts");
  std::vector<std::string> all(v.count);
  uint64_t place = 0;
  for (std::string& text : all) {
    uint64_t length;
    std::memcpy(&length, v.bytes.data() + place, sizeof length);
    text = v.bytes.substr(place + sizeof length, length);
    place += sizeof length + length;
  }
  return all;
}

}  // namespace fovea
