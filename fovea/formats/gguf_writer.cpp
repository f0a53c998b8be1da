#include "fovea/base/file.h"
#include "fovea/formats/gguf_types.h"

namespace fovea {
namespace {

constexpr int64_t alignment = 32;

int64_t aligned(int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

template <class T>
std::string bytes_of(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(T));
}

std::string with_length(std::string_view text) { return bytes_of(uint64_t{text.size()}) + std::string(text); }

std::string stored_value(const GgufValue& value) {
  std::string bytes;
  if (value.list) bytes += bytes_of(static_cast<uint32_t>(GgufType::array));
  bytes += bytes_of(static_cast<uint32_t>(value.type));
  if (value.list) bytes += bytes_of(value.count);
  return bytes + value.bytes;
}

std::shared_ptr<const std::byte> bytes_in(const Tensor& tensor) {
  const auto rows = std::make_shared<Tensor>(tensor.detach().contiguous());
  return {rows, rows->bytes()};
}

}  // namespace

GgufTensor GgufTensor::of(const Tensor& tensor) {
  return {tensor.shape(), tensor.dtype(), [tensor] { return bytes_in(tensor); }};
}

GgufTensor GgufTensor::of(const BlockMatrix& blocks) {
  return {blocks.shape, blocks.type, [blocks] { return blocks.memory; }};
}

GgufTensor GgufTensor::made(const Shape& shape, std::variant<DType, BlockType> type, std::function<Tensor()> numbers) {
  return {shape, type, [type, numbers = std::move(numbers)] {
            const auto* plain = std::get_if<DType>(&type);
            return plain ? bytes_in(numbers().to(*plain)) : quantised(numbers(), std::get<BlockType>(type)).memory;
          }};
}

int64_t GgufTensor::size() const {
  if (const auto* plain = std::get_if<DType>(&type)) return shape.elements() * static_cast<int64_t>(size_of(*plain));
  const auto [numbers, bytes] = block_of(std::get<BlockType>(type));
  return shape.elements() / numbers * bytes;
}

void stream_gguf(const std::filesystem::path& path, const GgufMetadata& metadata,
                 const std::map<std::string, GgufTensor>& tensors) {
  require(!metadata.count("general.alignment"), "{}: found general.alignment, which the writer chooses", path.string());
  std::string head =
      "GGUF" + bytes_of(uint32_t{3}) + bytes_of(uint64_t{tensors.size()}) + bytes_of(uint64_t{metadata.size()});
  for (const auto& [key, value] : metadata) head += with_length(key) + stored_value(value);
  int64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    const Shape& shape = tensor.shape;
    require(shape.rank() <= 4, "{}: found tensor '{}' {}, expected at most 4 axes", path.string(), name, shape);
    head += with_length(name) + bytes_of(static_cast<uint32_t>(shape.rank()));
    for (int axis = shape.rank() - 1; axis >= 0; --axis) head += bytes_of(static_cast<uint64_t>(shape[axis]));
    head += bytes_of(std::visit([](auto type) { return stored(type); }, tensor.type));
    head += bytes_of(static_cast<uint64_t>(offset));
    offset += aligned(tensor.size());
  }
  head.resize(static_cast<size_t>(aligned(static_cast<int64_t>(head.size()))), '\0');
  AtomicFile file(path);
  file.write(head);
  for (const auto& [name, tensor] : tensors) {
    file.write(tensor.bytes().get(), static_cast<size_t>(tensor.size()));
    file.write(std::string(static_cast<size_t>(aligned(tensor.size()) - tensor.size()), '\0'));
  }
  file.commit();
}

void write_gguf(const std::filesystem::path& path, const GgufMetadata& metadata, const NamedTensors& tensors,
                const std::map<std::string, BlockMatrix>& blocks) {
  std::map<std::string, GgufTensor> all;
  for (const auto& [name, tensor] : tensors) all.emplace(name, GgufTensor::of(tensor));
  for (const auto& [name, matrix] : blocks)
    require(all.emplace(name, GgufTensor::of(matrix)).second, "{}: found tensor '{}' twice", path.string(), name);
  stream_gguf(path, metadata, all);
}

}  // namespace fovea
