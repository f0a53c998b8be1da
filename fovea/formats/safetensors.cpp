#include "fovea/formats/safetensors.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "fovea/base/catalogue.h"
#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/base/text.h"

namespace fovea {
namespace {

using Json = nlohmann::json;
constexpr uint64_t line = 64;                        // bytes
constexpr uint64_t most_header_bytes = 100'000'000;  // the format's own limit
constexpr DType known_types[] = {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i8, DType::i64};

std::optional<DType> parse_type(std::string_view text) {
  for (DType type : known_types) {
    if (name(type) == text) return type;
  }
  return std::nullopt;
}

Json parse_object(std::string_view text, const std::string& where) {
  Json root = parse_json(text, where);
  if (!root.is_object()) throw Error(Error::corrupt, "{}: found a {}, expected an object", where, root.type_name());
  return root;
}

struct Entry {
  std::optional<DType> type;  // none: Fovea does not compute with it
  std::string type_name;
  Shape shape;
  uint64_t begin, end;  // bytes, counted from the end of the header
};

// One tensor's description, with everything that it claims checked against the `available` bytes of the file.
Entry parse_entry(const std::string& where, const std::string& key, const Json& json, uint64_t available) {
  auto fail = [&](std::string_view found, std::string_view expected) {
    throw Error(Error::corrupt, "{}: tensor '{}': found {}, expected {}", where, key, found, expected);
  };
  auto is_count = [](const Json& j) { return j.is_number_unsigned(); };
  auto counts = [&](const char* field) {
    const Json list = json.is_object() ? json.value(field, Json()) : Json();
    if (!list.is_array() || !std::all_of(list.begin(), list.end(), is_count))
      fail(list.dump(), fmt::format("counts for {}", field));
    return list.get<std::vector<uint64_t>>();
  };
  std::vector<uint64_t> sizes = counts("shape"), offsets = counts("data_offsets");
  if (sizes.size() > Shape::most) fail(fmt::format("{} axes", sizes.size()), fmt::format("at most {}", Shape::most));
  if (offsets.size() != 2 || offsets[0] > offsets[1]) fail(json["data_offsets"].dump(), "a begin and an end");
  if (offsets[1] > available) {
    throw Error(Error::corrupt,
                "{}: tensor '{}' ends at byte {}, but the file has {}; the download was probably cut short", where, key,
                offsets[1], available);
  }
  const Json type_name = json.value("dtype", Json());
  if (!type_name.is_string()) fail(type_name.dump(), "a dtype");
  Entry entry = {parse_type(type_name.get<std::string>()), type_name.get<std::string>(), {}, offsets[0], offsets[1]};
  if (!entry.type) return entry;
  uint64_t bytes = size_of(*entry.type);
  for (uint64_t size : sizes) {
    if (size > 0 && bytes > available / size)
      fail(fmt::format("sizes {}", json["shape"].dump()), "no more bytes than the file has");
    bytes *= size;
    entry.shape.push_back(static_cast<int64_t>(size));
  }
  if (bytes != offsets[1] - offsets[0]) {
    fail(fmt::format("{} bytes", offsets[1] - offsets[0]),
         fmt::format("{} for {} {}", bytes, entry.type_name, entry.shape.text()));
  }
  return entry;
}

// Every byte belongs to one tensor: nothing is hidden between them or behind them.
void check_coverage(std::vector<std::pair<uint64_t, uint64_t>> used, uint64_t available, const std::string& where) {
  std::sort(used.begin(), used.end());
  uint64_t at = 0;
  for (const auto& [begin, end] : used) {
    if (begin < at) throw Error(Error::corrupt, "{}: two tensors overlap at byte {}", where, begin);
    if (begin > at) throw Error(Error::corrupt, "{}: bytes {} to {} belong to no tensor", where, at, begin);
    at = end;
  }
  if (at != available) throw Error(Error::corrupt, "{}: bytes {} to {} belong to no tensor", where, at, available);
}

// A view into the file, or a copy if its first number would not be aligned.
Tensor tensor_at(const Entry& entry, const MappedFile& file, uint64_t numbers) {
  std::byte* first = file.memory().get() + numbers + entry.begin;
  if (reinterpret_cast<uintptr_t>(first) % size_of(*entry.type) == 0)
    return Tensor(entry.shape, *entry.type, {file.memory(), first});
  Tensor aligned(entry.shape, *entry.type);
  std::memcpy(aligned.bytes(), first, entry.end - entry.begin);
  return aligned;
}

}  // namespace

SafeTensors::SafeTensors(const std::filesystem::path& path) : path_(path) {
  if (is_folder(path)) {
    path_ = path / "model.safetensors.index.json";
    if (!path_exists(path_)) path_ = path / "model.safetensors";
  }
  if (path_.extension() == ".json")
    add_index(path_);
  else
    add_file(path_);
}

void SafeTensors::add_file(const std::filesystem::path& path) {
  const std::string where = path.string();
  MappedFile file(path);
  uint64_t header = 0;
  if (file.bytes().size() < sizeof(header)) {
    throw Error(Error::corrupt, "{}: found {} bytes, expected a safetensors file", where, file.bytes().size());
  }
  std::memcpy(&header, file.bytes().data(), sizeof(header));
  uint64_t after_length = file.bytes().size() - sizeof(header);
  if (header > after_length || header > most_header_bytes) {
    throw Error(Error::corrupt,
                "{}: found a header of {} bytes in a file of {}; it is not safetensors or was cut short", where, header,
                file.bytes().size());
  }
  const Json root = parse_object(file.text().substr(sizeof(header), header), where);
  const uint64_t available = after_length - header;
  std::vector<std::pair<uint64_t, uint64_t>> used;
  for (const auto& [key, json] : root.items()) {
    if (key == "__metadata__") {
      for (const auto& [name, value] : json.items()) {
        if (value.is_string()) metadata_[name] = value.get<std::string>();
      }
      continue;
    }
    if (key.find('\0') != key.npos)
      throw Error(Error::corrupt, "{}: found a NUL in the name of tensor '{}'", where, printable(key));
    const Entry entry = parse_entry(where, key, json, available);
    used.emplace_back(entry.begin, entry.end);
    const bool fresh = entry.type ? tensors_.emplace(key, tensor_at(entry, file, sizeof(header) + header)).second
                                  : skipped_.emplace(key, entry.type_name).second;
    if (!fresh || (tensors_.count(key) && skipped_.count(key)))
      throw Error(Error::corrupt, "{}: tensor '{}' stands there twice", where, key);
  }
  check_coverage(std::move(used), available, where);
}

void SafeTensors::add_index(const std::filesystem::path& path) {
  const Json root = parse_object(MappedFile(path).text(), path.string());
  const Json map = root.value("weight_map", Json());
  if (!map.is_object()) throw Error(Error::corrupt, "{}: found no weight_map", path.string());
  std::set<std::string> shards;
  for (const auto& [key, shard] : map.items()) {
    if (!shard.is_string() || std::filesystem::path(shard.get<std::string>()).filename() != shard.get<std::string>()) {
      throw Error(Error::corrupt, "{}: tensor '{}': found {}, expected the name of a file beside it", path.string(),
                  key, shard.dump());
    }
    shards.insert(shard.get<std::string>());
  }
  for (const std::string& shard : shards) add_file(path.parent_path() / shard);
  for (const auto& [key, shard] : map.items()) {
    if (!contains(key) && !skipped_.count(key))
      throw Error(Error::corrupt, "{}: {} does not hold tensor '{}'", path.string(), shard.dump(), key);
  }
}

const Tensor& SafeTensors::operator[](const std::string& name) const {
  auto found = tensors_.find(name);
  if (found != tensors_.end()) return found->second;
  if (const auto other = skipped_.find(name); other != skipped_.end())
    throw Error(Error::unsupported, "{}: tensor '{}' has type {}, expected F32, F64, F16, BF16, I8 or I64",
                path_.string(), name, other->second);
  std::vector<std::string> known;
  for (const auto& [key, tensor] : tensors_) known.push_back(key);
  throw_unknown(fmt::format("tensor in {}", path_.string()), name, known);
}

void SafeTensors::forget(const std::string& name) const {
  const Tensor& tensor = (*this)[name];
  constexpr uintptr_t page = 4096;
  const auto begin = reinterpret_cast<uintptr_t>(tensor.bytes());
  const uintptr_t end = begin + static_cast<uintptr_t>(tensor.elements()) * size_of(tensor.dtype());
  const uintptr_t first = (begin + page - 1) / page * page, last = end / page * page;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

void write_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                       const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  // Tensors of whole cache lines come first and the numbers begin on a line, so that those can be used where they lie.
  std::vector<const NamedTensors::value_type*> order;
  for (const auto& named : tensors) order.push_back(&named);
  std::stable_partition(order.begin(), order.end(), [](const auto* named) {
    return static_cast<uint64_t>(named->second.elements()) * size_of(named->second.dtype()) % line == 0;
  });
  uint64_t offset = 0;
  for (const auto* named : order) {
    const auto& [name, tensor] = *named;
    uint64_t bytes = static_cast<uint64_t>(tensor.elements()) * size_of(tensor.dtype());
    header[name] = {{"dtype", fovea::name(tensor.dtype())},
                    {"shape", std::vector<int64_t>(tensor.shape().begin(), tensor.shape().end())},
                    {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + 8 + line - 1) / line * line - 8, ' ');
  const uint64_t length = text.size();
  AtomicFile file(path);
  file.write(&length, sizeof(length));
  file.write(text);
  for (const auto* named : order) {
    Tensor rows = named->second.detach().contiguous();
    file.write(rows.bytes(), static_cast<size_t>(rows.elements()) * size_of(rows.dtype()));
  }
  file.commit();
}

}  // namespace fovea
