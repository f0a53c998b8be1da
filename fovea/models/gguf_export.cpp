#include "fovea/models/gguf_export.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/data/text/chat_template.h"
#include "fovea/data/text/gguf_tokenizer.h"
#include "fovea/data/text/gguf_vocabulary.h"
#include "fovea/models/gguf_config.h"
#include "fovea/models/gguf_metadata.h"
#include "fovea/models/open_model.h"
#include "fovea/tensor/arithmetic.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;
using TensorType = std::variant<DType, BlockType>;
using Tensors = std::map<std::string, GgufTensor>;

struct Named {
  std::string_view name;
  TensorType type;
  uint32_t file_type;  // general.file_type, as llama.cpp numbers mixtures
};
const Named all_types[] = {{"q8_0", BlockType::q8_0, 7},  {"q4_0", BlockType::q4_0, 2}, {"q4_K", BlockType::q4_K, 14},
                           {"q6_K", BlockType::q6_K, 18}, {"f16", DType::f16, 1},       {"bf16", DType::bf16, 32},
                           {"f32", DType::f32, 0}};

const Named& type_named(const std::string& name) {
  std::vector<std::string_view> known;
  for (const Named& type : all_types) {
    if (type.name == name) return type;
    known.push_back(type.name);
  }
  throw Error(Error::invalid, "--weights: found '{}', expected one of {} for a GGUF file", name,
              fmt::join(known, ", "));
}

// What a tensor of this name and shape is kept as. Few bits for what gives the logits cost more than they save.
TensorType type_of(const std::string& name, const Shape& shape, TensorType wanted, bool gives_logits) {
  if (shape.rank() < 2 || name.starts_with("position_embd.") || name.starts_with("token_types.")) return DType::f32;
  if (!std::holds_alternative<BlockType>(wanted)) return wanted;
  BlockType type = std::get<BlockType>(wanted);
  if (gives_logits && type != BlockType::q8_0) type = BlockType::q6_K;
  const int64_t row = shape[shape.rank() - 1];
  if (row % block_of(type).numbers != 0) type = type == BlockType::q4_K ? BlockType::q5_0 : BlockType::q8_0;
  if (row % block_of(type).numbers != 0) return DType::f16;
  return type;
}

// Rows of one head from (i, i + width / 2) to (2 i, 2 i + 1).
Tensor with_neighbours(const Tensor& x, int64_t heads) {
  const int64_t rows = x.size(0), half = rows / heads / 2, columns = x.elements() / rows;
  return x.reshape({heads, 2, half, columns}).transpose(1, 2).contiguous().reshape(x.shape());
}

std::string type_name(const TensorType& type) {
  return std::visit([](auto t) { return std::string(name(t)); }, type);
}

class FolderExport final {
 public:
  FolderExport(const fs::path& folder, const GgufExport& options)
      : folder_(folder),
        options_(options),
        open_(open_model(folder, {.note = options.note})),
        shape_(gguf_shape(*open_.model, folder.string())) {
    require(!open_.stored->packing(), "{}: found packed weights, expected the model that they were made from",
            folder.string());
  }

  GgufMetadata metadata(const Tokenizer& tokenizer) const {
    GgufMetadata all = shape_.metadata;
    all.merge(gguf_vocabulary(folder_, tokenizer, open_.model->vocabulary()));
    const fs::path named = folder_.has_filename() ? folder_ : folder_.parent_path();
    all["general.name"] = GgufValue::of(named.filename().string());
    if (const std::string chat = find_chat_template(folder_); !chat.empty())
      all["tokenizer.chat_template"] = GgufValue::of(chat);
    if (shape_.architecture == "bert") all["bert.pooling_type"] = GgufValue::of(pooling());
    return all;
  }

  Tensors tensors(TensorType wanted) {
    Tensors all;
    std::vector<std::string> left_out;
    const bool own_output = open_.names.count("lm_head.weight") > 0;
    for_each_weight(*open_.model, [&](const std::string& path, const Weight& weight, const Init&) {
      const auto name = gguf_name(shape_.architecture, plain_name(path));
      if (!name) return left_out.push_back(path);
      const bool logits = *name == "output.weight" || (*name == "token_embd.weight" && !own_output && decodes());
      const TensorType type = type_of(*name, weight.shape(), wanted, logits);
      all.emplace(*name, GgufTensor::made(weight.shape(), type, [this, path, name = *name, flip = weight.transposed()] {
        return numbers(path, name, flip);
      }));
    });
    if (!left_out.empty() && shape_.architecture != "bert")
      throw Error(Error::unsupported, "{}: found the weight '{}', which GGUF's {} has no name for", folder_.string(),
                  left_out[0], shape_.architecture);
    if (!left_out.empty() && options_.note)
      options_.note(fmt::format("{}: GGUF files have only the body of a {}; left out: {}", folder_.string(),
                                shape_.architecture, fmt::join(left_out, ", ")));
    for (const auto& [name, factors] : shape_.factors) all.emplace(name, GgufTensor::of(factors));
    return all;
  }

  void check(const Gguf& written, const Tokenizer& tokenizer) const {
    check_same_config(*open_.model, gguf_config(written), folder_.string());
    check_same_ids(tokenizer, *gguf_tokenizer(written), folder_.string());
  }

 private:
  bool decodes() const { return shape_.architecture != "bert"; }
  static std::string plain_name(const std::string& path) {
    for (std::string_view prefix : {"transformer.", "bert."})
      if (path.starts_with(prefix)) return path.substr(prefix.size());
    return path;
  }

  Tensor numbers(const std::string& path, const std::string& name, bool transposed) const {
    const std::string& stored = open_.names.at(path);
    Tensor x = open_.stored->numbers(stored).to(DType::f32);
    if (transposed) x = x.transpose(0, 1).contiguous();
    if (shape_.neighbours_turn && name.find(".attn_q.") != name.npos) x = with_neighbours(x, shape_.heads);
    if (shape_.neighbours_turn && name.find(".attn_k.") != name.npos) x = with_neighbours(x, shape_.key_heads);
    if (shape_.norms_plus_one && name.ends_with("norm.weight")) x = x + ones(x.shape());
    open_.stored->forget(stored);
    return x;
  }

  // 1: the mean of the tokens, 2: the first; as 1_Pooling says it.
  uint32_t pooling() const {
    const fs::path file = folder_ / "1_Pooling" / "config.json";
    if (!path_exists(file)) return 1;
    const nlohmann::json json = parse_json(read_text(file), file.string());
    const bool first = json.is_object() && json.value("pooling_mode_cls_token", nlohmann::json()) == true;
    const bool mean = json.is_object() && json.value("pooling_mode_mean_tokens", nlohmann::json()) == true;
    if (first == mean)
      throw Error(Error::unsupported, "{}: found neither the first token nor the mean, expected one of the two",
                  file.string());
    return first ? 2 : 1;
  }

  fs::path folder_;
  const GgufExport& options_;
  OpenModel open_;
  GgufShape shape_;
};

// The metadata as it is, the tensors in other blocks.
Tensors tensors_of(const Gguf& file, TensorType wanted) {
  Tensors all;
  const bool tied = !file.has("output.weight") && file.text("general.architecture") != "bert";
  const auto add = [&](const std::string& name, const Shape& shape) {
    const bool logits = name == "output.weight" || (name == "token_embd.weight" && tied);
    all.emplace(name, GgufTensor::made(shape, type_of(name, shape, wanted, logits), [&file, name] {
                  const Tensor x = file.numbers_of(name);
                  file.forget(name);
                  return x;
                }));
  };
  for (const auto& [name, tensor] : file.tensors()) add(name, tensor.shape());
  for (const auto& [name, blocks] : file.blocks()) add(name, blocks.shape);
  for (const auto& [name, type] : file.skipped()) file.tensor(name);  // an Error that names the type
  return all;
}

GgufWritten write(const fs::path& output, GgufMetadata metadata, const Tensors& tensors, const Named& type,
                  const std::function<void(const Gguf&)>& check) {
  metadata["general.file_type"] = GgufValue::of(type.file_type);
  metadata["general.quantization_version"] = GgufValue::of(uint32_t{2});
  metadata.erase("general.alignment");
  GgufWritten written;
  for (const auto& [name, tensor] : tensors) {
    written.numbers += tensor.shape.elements();
    ++written.types[type_name(tensor.type)];
  }
  const fs::path fresh = output.string() + ".new";
  std::error_code error;
  try {
    stream_gguf(fresh, metadata, tensors);
    check(Gguf(fresh));
    written.bytes = static_cast<int64_t>(fs::file_size(fresh));
    fs::rename(fresh, output, error);
    if (error) throw Error(Error::io, "{}: cannot be written: {}", output.string(), error.message());
  } catch (...) {
    fs::remove(fresh, error);
    throw;
  }
  return written;
}

}  // namespace

bool is_gguf_type(const std::string& weights) {
  return std::any_of(std::begin(all_types), std::end(all_types), [&](const Named& t) { return t.name == weights; });
}

GgufWritten export_gguf(const fs::path& model, const fs::path& output, const GgufExport& options) {
  const Named& type = type_named(options.weights);
  if (is_gguf(model) && !is_folder(model)) {
    const Gguf file(model);
    hugging_face_names(file);  // an Error for an architecture that is not known here
    return write(output, file.metadata(), tensors_of(file, type.type), type,
                 [](const Gguf& written) { gguf_config(written); });
  }
  const std::unique_ptr<Tokenizer> tokenizer = load_tokenizer(model);
  FolderExport folder(model, options);
  return write(output, folder.metadata(*tokenizer), folder.tensors(type.type), type,
               [&](const Gguf& written) { folder.check(written, *tokenizer); });
}

}  // namespace fovea
