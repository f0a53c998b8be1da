#include "fovea/formats/gguf.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <set>

#include "fovea/base/catalogue.h"
#include "fovea/base/file.h"
#include "fovea/base/text.h"
#include "fovea/formats/gguf_types.h"

namespace fovea {
namespace {

// The file from a place on; whoever takes more than there is gets an Error.
class Cursor final {
 public:
  Cursor(std::string_view file, std::string where) : file_(file), where_(std::move(where)) {}

  std::string_view take(uint64_t bytes, std::string_view what) {
    if (bytes > left())
      throw Error(Error::corrupt, "{}: {} ends behind the file's {} bytes; the download was probably cut short", where_,
                  what, file_.size());
    at_ += bytes;
    return file_.substr(at_ - bytes, bytes);
  }
  template <class T>
  T take_as(std::string_view what) {
    T value;
    std::memcpy(&value, take(sizeof(T), what).data(), sizeof(T));
    return value;
  }
  std::string_view take_text(std::string_view what) { return take(take_as<uint64_t>(what), what); }
  // So many things of so many bytes at least, none of them read yet.
  uint64_t take_count(uint64_t least, std::string_view what) {
    const auto count = take_as<uint64_t>(what);
    if (count > left() / least)
      throw Error(Error::corrupt, "{}: found {} {}, expected no more than the file's {} bytes hold", where_, count,
                  what, file_.size());
    return count;
  }
  uint64_t at() const { return at_; }
  uint64_t left() const { return file_.size() - at_; }
  const std::string& where() const { return where_; }

 private:
  std::string_view file_;
  std::string where_;
  uint64_t at_ = 0;
};

std::string name_from(Cursor& file, std::string_view what) {
  const std::string_view name = file.take_text(what);
  if (name.empty() || name.size() > 65535 || name.find('\0') != name.npos)
    throw Error(Error::corrupt, "{}: found {} of {} bytes, expected 1 to 65,535 without a NUL", file.where(), what,
                name.size());
  return std::string(name);
}

GgufType type_from(Cursor& file, const std::string& key) {
  const auto type = file.take_as<uint32_t>(key);
  if (type > static_cast<uint32_t>(GgufType::f64))
    throw Error(Error::corrupt, "{}: key '{}' has a value of type {}, expected 0 to 12", file.where(), printable(key),
                type);
  return static_cast<GgufType>(type);
}

GgufValue value_from(Cursor& file, const std::string& key) {
  GgufValue value;
  value.type = type_from(file, key);
  value.list = value.type == GgufType::array;
  if (value.list) {
    value.type = type_from(file, key);
    if (value.type == GgufType::array)
      throw Error(Error::unsupported, "{}: key '{}' is a list of lists, expected one of values", file.where(),
                  printable(key));
    value.count = file.take_count(std::max<uint64_t>(1, size_of(value.type)), key);
  }
  if (value.type == GgufType::text) {
    const uint64_t begin = file.at();
    Cursor ahead = file;
    for (uint64_t i = 0; i < value.count; ++i) ahead.take_text(key);
    value.bytes = file.take(ahead.at() - begin, key);
  } else {
    value.bytes = file.take(value.count * size_of(value.type), key);
  }
  if (value.type == GgufType::flag &&
      std::any_of(value.bytes.begin(), value.bytes.end(), [](char c) { return c != 0 && c != 1; }))
    throw Error(Error::corrupt, "{}: key '{}' is neither true nor false", file.where(), printable(key));
  return value;
}

struct Entry {
  std::string name;
  Shape shape;
  uint32_t type = 0;
  uint64_t offset = 0, bytes = 0;  // from the first tensor on
};

// Everything that it claims but for the place of its numbers, which is not known yet.
Entry entry_from(Cursor& file) {
  Entry entry;
  entry.name = name_from(file, "the name of a tensor");
  const auto fail = [&](const std::string& found, std::string_view expected) {
    throw Error(Error::corrupt, "{}: tensor '{}': found {}, expected {}", file.where(), printable(entry.name), found,
                expected);
  };
  const auto axes = file.take_as<uint32_t>(entry.name);
  if (axes > 4) fail(fmt::format("{} axes", axes), "at most 4");
  std::vector<uint64_t> sizes(axes);
  for (uint64_t& size : sizes) size = file.take_as<uint64_t>(entry.name);
  entry.type = file.take_as<uint32_t>(entry.name), entry.offset = file.take_as<uint64_t>(entry.name);
  const std::optional<Block> block = block_of_stored(entry.type);
  uint64_t blocks = 1;
  for (size_t i = 0; i < axes; ++i) {
    uint64_t size = sizes[i];
    if (i == 0 && block) {
      if (size % static_cast<uint64_t>(block->numbers) != 0)
        fail(fmt::format("rows of {} numbers", size), fmt::format("whole blocks of {}", block->numbers));
      size /= static_cast<uint64_t>(block->numbers);
    }
    if (size == 0) fail("a size of 0", "1 or more");
    if (blocks > (uint64_t{1} << 48) / size) fail("more numbers than there is memory", "no more than the file holds");
    blocks *= size;
    entry.shape.insert(0, static_cast<int64_t>(sizes[i]));
  }
  if (axes == 0 && block && block->numbers > 1) fail("one number", fmt::format("whole blocks of {}", block->numbers));
  if (block) entry.bytes = blocks * static_cast<uint64_t>(block->bytes);
  return entry;
}

// Inside the file, aligned, and none over another.
void check_places(std::vector<Entry> entries, uint64_t available, uint64_t alignment, const std::string& where) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.offset < b.offset; });
  uint64_t end = 0;
  for (const Entry& e : entries) {
    if (e.offset % alignment != 0)
      throw Error(Error::corrupt, "{}: tensor '{}' begins at {}, expected a multiple of {}", where, printable(e.name),
                  e.offset, alignment);
    if (e.offset > available || e.bytes > available - e.offset)
      throw Error(Error::corrupt,
                  "{}: tensor '{}' of {} bytes begins at {}, but the file has {} for them; the download was "
                  "probably cut short",
                  where, printable(e.name), e.bytes, e.offset, available);
    if (e.offset < end) throw Error(Error::corrupt, "{}: tensor '{}' overlaps with another", where, printable(e.name));
    end = e.offset + e.bytes;
  }
}

// A view into the file, or a copy if its first number would not be aligned.
Tensor tensor_at(const Entry& entry, DType type, const MappedFile& file, uint64_t numbers) {
  std::byte* first = file.memory().get() + numbers + entry.offset;
  if (reinterpret_cast<uintptr_t>(first) % size_of(type) == 0) return Tensor(entry.shape, type, {file.memory(), first});
  Tensor aligned(entry.shape, type);
  std::memcpy(aligned.bytes(), first, entry.bytes);
  return aligned;
}

void check_version(Cursor& file) {
  if (file.left() < 8 || file.take(4, "the beginning") != "GGUF")
    throw Error(Error::corrupt, "{}: found no 'GGUF' at its beginning, expected a GGUF file", file.where());
  const auto version = file.take_as<uint32_t>("the version");
  if (version == 2 || version == 3) return;
  const bool big_endian = version != 0 && (version & 0xffff) == 0;
  throw Error(Error::unsupported, "{}: found {}, expected GGUF version 2 or 3, little endian", file.where(),
              big_endian ? "big-endian numbers" : fmt::format("GGUF version {}", version));
}

}  // namespace

Gguf::Gguf(const std::filesystem::path& path) : path_(path) {
  const MappedFile mapped(path);
  Cursor file(mapped.text(), path.string());
  check_version(file);
  const uint64_t tensors = file.take_count(24, "tensors"), keys = file.take_count(13, "keys");
  for (uint64_t i = 0; i < keys; ++i) {
    const std::string key = name_from(file, "a key");
    if (!metadata_.emplace(key, value_from(file, key)).second)
      throw Error(Error::corrupt, "{}: key '{}' stands there twice", file.where(), printable(key));
  }
  std::vector<Entry> entries;
  std::set<std::string> names;
  for (uint64_t i = 0; i < tensors; ++i) {
    entries.push_back(entry_from(file));
    if (!names.insert(entries.back().name).second)
      throw Error(Error::corrupt, "{}: tensor '{}' stands there twice", file.where(), printable(entries.back().name));
  }
  const int64_t alignment = integer("general.alignment", 32);
  if (alignment < 1 || alignment > (1 << 20) || !std::has_single_bit(static_cast<uint64_t>(alignment)))
    throw Error(Error::corrupt, "{}: found general.alignment {}, expected a power of two up to 2²⁰", file.where(),
                alignment);
  const auto step = static_cast<uint64_t>(alignment);
  const uint64_t numbers = (file.at() + step - 1) / step * step, size = mapped.bytes().size();
  check_places(entries, size - std::min(size, numbers), step, file.where());
  for (const Entry& entry : entries) {
    if (const auto type = dtype_of_stored(entry.type))
      tensors_.emplace(entry.name, tensor_at(entry, *type, mapped, numbers));
    else if (const auto blocks = blocks_of_stored(entry.type))
      blocks_.emplace(
          entry.name,
          BlockMatrix{*blocks, entry.shape, {mapped.memory(), mapped.memory().get() + numbers + entry.offset}});
    else
      skipped_.emplace(entry.name, name_of_stored(entry.type));
  }
}

void Gguf::throw_no_tensor(const std::string& name) const {
  if (const auto other = skipped_.find(name); other != skipped_.end())
    throw Error(Error::unsupported,
                "{}: tensor '{}' has type {}, which Fovea does not read; take a file in q4_K, q6_K or q8_0",
                path_.string(), name, other->second);
  std::vector<std::string> known;
  for (const auto& [key, tensor] : tensors_) known.push_back(key);
  for (const auto& [key, matrix] : blocks_) known.push_back(key);
  throw_unknown(fmt::format("tensor in {}", path_.string()), name, known);
}

const Shape& Gguf::shape(const std::string& name) const {
  if (const auto found = blocks_.find(name); found != blocks_.end()) return found->second.shape;
  if (const auto found = tensors_.find(name); found != tensors_.end()) return found->second.shape();
  throw_no_tensor(name);
}

const Tensor& Gguf::tensor(const std::string& name) const {
  if (const auto found = tensors_.find(name); found != tensors_.end()) return found->second;
  if (const auto found = blocks_.find(name); found != blocks_.end())
    throw Error(Error::unsupported, "{}: tensor '{}' is in blocks of {}, expected plain numbers", path_.string(), name,
                fovea::name(found->second.type));
  throw_no_tensor(name);
}

const BlockMatrix& Gguf::blocks(const std::string& name) const {
  if (const auto found = blocks_.find(name); found != blocks_.end()) return found->second;
  if (const auto found = tensors_.find(name); found != tensors_.end())
    throw Error(Error::unsupported, "{}: tensor '{}' is plain {}, expected blocks", path_.string(), name,
                fovea::name(found->second.dtype()));
  throw_no_tensor(name);
}

Tensor Gguf::numbers_of(const std::string& name) const {
  if (const auto found = blocks_.find(name); found != blocks_.end()) return found->second.numbers();
  return tensor(name).to(DType::f32);
}

void Gguf::forget(const std::string& name) const {
  constexpr uintptr_t page = 4096;
  uintptr_t begin, end;
  if (const auto found = blocks_.find(name); found != blocks_.end()) {
    begin = reinterpret_cast<uintptr_t>(found->second.memory.get());
    end = begin + static_cast<uintptr_t>(found->second.bytes());
  } else {
    const Tensor& t = tensor(name);
    begin = reinterpret_cast<uintptr_t>(t.bytes());
    end = begin + static_cast<uintptr_t>(t.elements()) * size_of(t.dtype());
  }
  const uintptr_t first = (begin + page - 1) / page * page, last = end / page * page;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace fovea
