#include "fovea/formats/torch_file.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr size_t most_pickle = size_t{16} << 20;
constexpr size_t most_values = 1'000'000;
constexpr int deepest = 8;

// A name without a type that Fovea computes with gives none.
const std::map<std::string, DType>& types() {
  static const std::map<std::string, DType> all = {
      {"torch FloatStorage", DType::f32},  {"torch HalfStorage", DType::f16}, {"torch BFloat16Storage", DType::bf16},
      {"torch DoubleStorage", DType::f64}, {"torch LongStorage", DType::i64}, {"torch CharStorage", DType::i8}};
  return all;
}

// [sizes] numbers of `size` bytes, `strides` apart, one behind the other.
std::byte* copy_strided(const char* from, std::byte* to, size_t size, std::span<const int64_t> sizes,
                        std::span<const int64_t> strides) {
  if (sizes.empty()) return std::memcpy(to, from, size), to + size;
  if (sizes.size() == 1 && strides[0] == 1) {
    const size_t bytes = static_cast<size_t>(sizes[0]) * size;
    return std::memcpy(to, from, bytes), to + bytes;
  }
  for (int64_t i = 0; i < sizes[0]; ++i)
    to =
        copy_strided(from + static_cast<size_t>(i * strides[0]) * size, to, size, sizes.subspan(1), strides.subspan(1));
  return to;
}

}  // namespace

TorchFile::TorchFile(const std::filesystem::path& path)
    : where_(path.string()), archive_(std::make_unique<ZipArchive>(path)) {
  const std::vector<std::string> names = archive_->names();
  const auto pickled = std::find_if(names.begin(), names.end(), [](const std::string& name) {
    return name == "data.pkl" || name.ends_with("/data.pkl");
  });
  if (pickled == names.end())
    throw Error(Error::corrupt, "{}: found no data.pkl, expected a file that torch.save wrote", where_);
  folder_ = pickled->substr(0, pickled->size() - std::string_view("data.pkl").size());
  if (const std::string order = folder_ + "byteorder";
      std::find(names.begin(), names.end(), order) != names.end() && archive_->read(order) != "little")
    throw Error(Error::unsupported, "{}: found numbers in big-endian order, expected little-endian", where_);
  const std::string bytes = archive_->read(*pickled);
  if (bytes.size() > most_pickle)
    throw Error(Error::corrupt, "{}: found a pickle of {} bytes, expected at most {}", where_, bytes.size(),
                most_pickle);
  const Pickle pickle(bytes, where_);
  add(pickle, pickle.root(), "", 0);
}

// What holds itself, or the same part many times, ends at a depth and a number.
void TorchFile::add(const Pickle& pickle, Pickle::Place place, const std::string& path, int depth) {
  const Pickle::Value& value = pickle[place];
  if (depth > deepest || ++visited_ > most_values)
    throw Error(Error::corrupt, "{}: found values in more than {} levels, or more than {} of them", where_, deepest,
                most_values);
  if (value.kind == Pickle::Value::tensor) return add_tensor(value, path);
  if (value.kind == Pickle::Value::integer_number) integers_.emplace(path, value.integer);
  for (const auto& [key, what] : value.entries) {
    if (pickle[key].kind != Pickle::Value::text_value) continue;
    add(pickle, what, path.empty() ? pickle[key].text : path + "." + pickle[key].text, depth + 1);
  }
}

void TorchFile::add_tensor(const Pickle::Value& value, const std::string& path) {
  const auto type = types().find(value.storage_type);
  const auto fail = [&](const std::string& what) {
    throw Error(Error::corrupt, "{}: tensor '{}': {}", where_, path, what);
  };
  if (type == types().end())
    throw Error(Error::unsupported, "{}: tensor '{}': found a {}, expected floats or whole numbers", where_, path,
                value.storage_type);
  if (value.shape.size() != value.strides.size() || value.shape.size() > 8) fail("found no shape of up to 8 axes");
  // Each number lies in the storage: none has more numbers, and a stride goes no further than it has.
  const int64_t all = value.integer;
  int64_t elements = 1, last = value.offset;
  for (size_t i = 0; i < value.shape.size(); ++i) {
    const int64_t size = value.shape[i], stride = value.strides[i];
    if (size < 0 || stride < 0 || value.offset < 0 || all < 0 || (size > 0 && elements > all / size) ||
        (size > 1 && stride > 0 && size - 1 > (all - std::min(last, all)) / stride))
      fail(fmt::format("found a size of {} and a stride of {} in a storage of {} numbers", size, stride, all));
    elements *= size, last += size > 0 ? (size - 1) * stride : 0;
  }
  if (value.offset < 0 || (elements > 0 && last >= all))
    fail(fmt::format("found {} numbers from the {}th on in a storage of {}", elements, value.offset, all));
  const bool plain =
      !value.storage_key.empty() && std::all_of(value.storage_key.begin(), value.storage_key.end(), [](char c) {
        return ('0' <= c && c <= '9') || ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || c == '_';
      });
  if (!plain) fail(fmt::format("found a storage with the name '{}'", value.storage_key));
  Shape shape, strides;
  for (int64_t size : value.shape) shape.push_back(size);
  for (int64_t stride : value.strides) strides.push_back(stride);
  tensors_[path] = {value.storage_key, type->second, value.offset, shape, strides};
}

Tensor TorchFile::numbers(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) throw Error(Error::not_found, "{}: holds no tensor '{}'", where_, name);
  const Entry& entry = found->second;
  const std::string bytes = archive_->read(folder_ + "data/" + entry.storage);
  const size_t size = size_of(entry.type);
  std::vector<int64_t> sizes, strides;
  int64_t last = entry.offset;
  for (int i = 0; i < entry.shape.rank(); ++i) {
    sizes.push_back(entry.shape[i]), strides.push_back(entry.strides[i]);
    last += (entry.shape[i] - 1) * entry.strides[i];
  }
  const auto elements = static_cast<uint64_t>(entry.shape.elements()),
             held = static_cast<uint64_t>(bytes.size() / size);
  if (elements == 0) return Tensor(entry.shape, entry.type);
  if (static_cast<uint64_t>(last) >= held || elements > held)
    throw Error(Error::corrupt, "{}: tensor '{}' ends behind number {} of its storage, which has {}", where_, name,
                last, bytes.size() / size);
  Tensor numbers(entry.shape, entry.type);
  copy_strided(bytes.data() + static_cast<size_t>(entry.offset) * size, numbers.bytes(), size, sizes, strides);
  return numbers;
}

}  // namespace fovea
