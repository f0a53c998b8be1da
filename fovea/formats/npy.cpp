#include "fovea/formats/npy.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <vector>

#include "fovea/base/file.h"
#include "fovea/formats/zip.h"

namespace fovea {
namespace {

static_assert(std::endian::native == std::endian::little, "the formats below are little-endian");
constexpr std::string_view magic = "\x93NUMPY";

// How NumPy writes a type, how its bytes are read, and what it becomes.
struct Descriptor {
  std::string_view text;
  size_t bytes;
  DType type;
  int64_t (*widen)(const std::byte*);  // for the integers that a tensor holds as i64
};

template <class T>
int64_t widen(const std::byte* p) {
  T value;
  std::memcpy(&value, p, sizeof(T));
  return static_cast<int64_t>(value);
}

constexpr Descriptor descriptors[] = {
    {"<f4", 4, DType::f32, nullptr},         {"<f8", 8, DType::f64, nullptr},
    {"<f2", 2, DType::f16, nullptr},         {"|i1", 1, DType::i8, nullptr},
    {"<i8", 8, DType::i64, nullptr},         {"|b1", 1, DType::i8, nullptr},
    {"|u1", 1, DType::i64, widen<uint8_t>},  {"<i2", 2, DType::i64, widen<int16_t>},
    {"<u2", 2, DType::i64, widen<uint16_t>}, {"<i4", 4, DType::i64, widen<int32_t>},
    {"<u4", 4, DType::i64, widen<uint32_t>},
};

// The header is a Python dictionary, e.g. {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
struct Header {
  const Descriptor* descriptor = nullptr;
  bool fortran = false;
  Shape shape;
};

std::string_view after_key(std::string_view header, std::string_view key, std::string_view where) {
  size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) throw Error(Error::corrupt, "{}: the npy header has no '{}'", where, key);
  header.remove_prefix(at + key.size() + 3);
  while (!header.empty() && header.front() == ' ') header.remove_prefix(1);
  return header;
}

Shape parse_shape(std::string_view text, std::string_view where) {
  Shape shape;
  size_t close = text.find(')');
  if (text.empty() || text.front() != '(' || close == std::string_view::npos) {
    throw Error(Error::corrupt, "{}: the npy header's shape is not a tuple", where);
  }
  text = text.substr(1, close - 1);
  while (!text.empty()) {
    size_t digits = text.find_first_not_of("0123456789");
    std::string_view number = text.substr(0, digits);
    if (number.size() > 15 || (number.empty() && text.front() != ' ' && text.front() != ',') ||
        shape.rank() == Shape::most) {
      throw Error(Error::corrupt, "{}: the npy header's shape is not a tuple of at most {} sizes", where, Shape::most);
    }
    if (!number.empty()) shape.push_back(std::stoll(std::string(number)));
    text.remove_prefix(number.empty() ? 1 : number.size());
  }
  return shape;
}

Header parse_header(std::string_view text, std::string_view where) {
  Header header;
  std::string_view type = after_key(text, "descr", where);
  for (const Descriptor& d : descriptors) {
    if (type.size() > 4 && type.substr(1, 3) == d.text && type[0] == type[4]) header.descriptor = &d;
  }
  if (!header.descriptor) {
    throw Error(Error::unsupported,
                "{}: found numbers of type {}, expected little-endian f2, f4, f8, i1 … i8, u1 … u4 or b1", where,
                type.substr(0, type.find(',')));
  }
  header.fortran = after_key(text, "fortran_order", where).substr(0, 4) == "True";
  header.shape = parse_shape(after_key(text, "shape", where), where);
  return header;
}

std::string encode_npy(const Tensor& tensor) {
  const Descriptor* descriptor = nullptr;
  for (const Descriptor& d : descriptors) {
    if (!descriptor && d.type == tensor.dtype()) descriptor = &d;
  }
  if (!descriptor) return encode_npy(tensor.to(DType::f32));  // NumPy has no bfloat16, and f32 holds each of its values
  Tensor rows = tensor.detach().contiguous();
  std::string shape;
  for (int64_t size : rows.shape()) shape += fmt::format("{},", size);
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descriptor->text, shape);
  header.resize((header.size() + 11 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  std::string bytes = fmt::format("{}{}{}{}{}", magic, '\x01', '\0', static_cast<char>(header.size() & 255),
                                  static_cast<char>(header.size() >> 8));
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(rows.bytes()),
               static_cast<size_t>(rows.elements()) * size_of(rows.dtype()));
  return bytes;
}

}  // namespace

Tensor parse_npy(std::span<const std::byte> bytes, std::string_view where) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.size() < 12 || text.substr(0, magic.size()) != magic)
    throw Error(Error::corrupt, "{}: this is not an npy file", where);
  const size_t length_bytes = text[6] == 1 ? 2 : 4;
  uint32_t length = 0;
  std::memcpy(&length, bytes.data() + 8, length_bytes);
  const size_t begin = 8 + length_bytes;
  if (length > bytes.size() - begin) {
    throw Error(Error::corrupt, "{}: found an npy header of {} bytes in a file of {}", where, length, bytes.size());
  }
  const Header header = parse_header(text.substr(begin, length), where);
  const Descriptor& from = *header.descriptor;
  uint64_t available = bytes.size() - begin - length, wanted = from.bytes;
  for (int64_t size : header.shape) {
    if (size > 0 && wanted > available / static_cast<uint64_t>(size))
      wanted = available + 1;
    else
      wanted *= static_cast<uint64_t>(size);
  }
  if (wanted > available) {
    throw Error(Error::corrupt, "{}: found {} bytes of numbers, expected more for {}; the file was probably cut short",
                where, available, header.shape.text());
  }
  const std::byte* source = bytes.data() + begin + length;
  Shape stored = header.shape;
  if (header.fortran) std::reverse(stored.begin(), stored.end());
  Tensor tensor(stored, from.type);
  if (from.widen) {
    int64_t* out = tensor.data<int64_t>();
    for (int64_t i = 0; i < tensor.elements(); ++i) out[i] = from.widen(source + static_cast<size_t>(i) * from.bytes);
  } else if (wanted > 0) {
    std::memcpy(tensor.bytes(), source, wanted);
  }
  for (int axis = 0; header.fortran && axis < stored.rank() / 2; ++axis) tensor = tensor.transpose(axis, -1 - axis);
  return tensor.contiguous();
}

Tensor read_npy(const std::filesystem::path& path) {
  MappedFile file(path);
  return parse_npy(file.bytes(), path.string());
}

NamedTensors read_npz(const std::filesystem::path& path) {
  NamedTensors tensors;
  ZipArchive zip(path);
  for (const std::string& entry : zip.names()) {
    std::string bytes = zip.read(entry);
    std::string name = entry.ends_with(".npy") ? entry.substr(0, entry.size() - 4) : entry;
    tensors[name] = parse_npy(std::as_bytes(std::span(bytes)), fmt::format("{}: {}", path.string(), entry));
  }
  return tensors;
}

void write_npy(const std::filesystem::path& path, const Tensor& tensor) { write_text(path, encode_npy(tensor)); }

void write_npz(const std::filesystem::path& path, const NamedTensors& tensors) {
  std::vector<std::pair<std::string, std::string>> entries;
  for (const auto& [name, tensor] : tensors) entries.emplace_back(name + ".npy", encode_npy(tensor));
  write_zip(path, entries);
}

}  // namespace fovea
