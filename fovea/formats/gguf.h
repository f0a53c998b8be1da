// GGUF, the files of llama.cpp: typed metadata, then tensors, many of them in blocks. Read by mapping the file: no number is copied.
//
//   const Gguf file("model.gguf");
//   file.text("general.architecture");   file.integer("llama.block_count");   file.tensor("output_norm.weight");
//   weight.bind(file.blocks("blk.0.attn_q.weight"));                       // nn/weight.h
//   write_gguf("y.gguf", {{"general.architecture", GgufValue::of("llama")}}, {{"output_norm.weight", norm}}, blocks);
//
// Shapes stand outermost first, [outputs, inputs], as everywhere in Fovea; the file has them the other way round.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fovea/formats/block_matrix.h"
#include "fovea/formats/safetensors.h"

namespace fovea {

enum class GgufType { u8, i8, u16, i16, u32, i32, f32, flag, text, array, u64, i64, f64 };  // as the file numbers them

// One value, or a list of values of one type, as the bytes of the file.
struct GgufValue {
  GgufType type = GgufType::u8;  // of each; never array
  bool list = false;
  uint64_t count = 1;
  std::string bytes;

  static GgufValue of(uint32_t value);
  static GgufValue of(float value);
  static GgufValue of(bool value);
  static GgufValue of(std::string_view value);
  static GgufValue of(const char* value) { return of(std::string_view(value)); }
  static GgufValue of(const std::vector<int32_t>& values);
  static GgufValue of(const std::vector<float>& values);
  static GgufValue of(const std::vector<std::string>& values);
};
using GgufMetadata = std::map<std::string, GgufValue>;

class Gguf final {
 public:
  // Versions 2 and 3, little endian. Every count, length, type and offset is checked against the file's size before it is used.
  explicit Gguf(const std::filesystem::path& path);
  const std::filesystem::path& path() const { return path_; }

  // Metadata. A key that is missing, or of another type, is an Error that names it; with a second argument a missing one is that.
  const GgufMetadata& metadata() const { return metadata_; }
  bool contains(const std::string& key) const { return metadata_.count(key) > 0; }
  int64_t integer(const std::string& key) const;
  double number(const std::string& key) const;
  bool flag(const std::string& key) const;
  std::string text(const std::string& key) const;
  int64_t integer(const std::string& key, int64_t otherwise) const { return contains(key) ? integer(key) : otherwise; }
  double number(const std::string& key, double otherwise) const { return contains(key) ? number(key) : otherwise; }
  bool flag(const std::string& key, bool otherwise) const { return contains(key) ? flag(key) : otherwise; }
  std::string text(const std::string& key, const std::string& otherwise) const {
    return contains(key) ? text(key) : otherwise;
  }
  // Lists; one value is a list of one.
  std::vector<int64_t> integers(const std::string& key) const;
  std::vector<double> numbers(const std::string& key) const;
  std::vector<std::string> texts(const std::string& key) const;

  // Tensors: plain ones (F32, F16, BF16, F64, I8, I64), those in blocks, and the names of types that are neither.
  const NamedTensors& tensors() const { return tensors_; }
  const std::map<std::string, BlockMatrix>& blocks() const { return blocks_; }
  const std::map<std::string, std::string>& skipped() const { return skipped_; }
  bool has(const std::string& name) const { return tensors_.count(name) || blocks_.count(name); }
  const Shape& shape(const std::string& name) const;
  const Tensor& tensor(const std::string& name) const;  // an Error if it is not there, or in blocks
  const BlockMatrix& blocks(const std::string& name) const;
  Tensor numbers_of(const std::string& name) const;  // of either, in f32
  // Its numbers are not needed soon: the memory that they took is free, and filled from the file again if they are read.
  void forget(const std::string& name) const;

 private:
  const GgufValue& value(const std::string& key) const;
  [[noreturn]] void throw_no_tensor(const std::string& name) const;

  std::filesystem::path path_;
  GgufMetadata metadata_;
  NamedTensors tensors_;
  std::map<std::string, BlockMatrix> blocks_;
  std::map<std::string, std::string> skipped_;
};

// Version 3.
void write_gguf(const std::filesystem::path& path, const GgufMetadata& metadata, const NamedTensors& tensors,
                const std::map<std::string, BlockMatrix>& blocks = {});

// The same of tensors that are made one after the other, when their turn to be written comes, so that no model is in memory twice.
struct GgufTensor {
  Shape shape;
  std::variant<DType, BlockType> type;
  std::function<std::shared_ptr<const std::byte>()> bytes;

  static GgufTensor of(const Tensor&);
  static GgufTensor of(const BlockMatrix&);
  // Of numbers that are turned into the type.
  static GgufTensor made(const Shape&, std::variant<DType, BlockType>, std::function<Tensor()> numbers);
  int64_t size() const;  // of the bytes
};
void stream_gguf(const std::filesystem::path& path, const GgufMetadata& metadata,
                 const std::map<std::string, GgufTensor>& tensors);

}  // namespace fovea
