#include "fovea/explain/model_info.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "fovea/base/file.h"
#include "fovea/data/text/tokenizer.h"
#include "fovea/models/adapter_folder.h"
#include "fovea/models/pretrained.h"
#include "fovea/models/stored_weights.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

void add_weights(const fs::path& folder, ModelInfo& info) {
  const auto stored = open_weights(base_of(folder));
  for (const std::string& name : stored->names()) {
    const int64_t elements = stored->shape(name).elements();
    ++info.tensors;
    info.weights += elements;
    info.bytes += stored->bytes(name);
    info.storage[stored->type(name)] += elements;
  }
}

std::optional<TokenizerInfo> tokenizer_of(const fs::path& folder) {
  try {
    const std::unique_ptr<Tokenizer> tokenizer = load_tokenizer(folder);
    return TokenizerInfo{std::string(tokenizer->kind()), tokenizer->size(), tokenizer->special()};
  } catch (const Error& e) {
    if (e.kind() == Error::not_found) return std::nullopt;
    throw;
  }
}

// 1234567 → "1,234,567"
std::string with_commas(int64_t number) {
  std::string text = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<size_t>(at), 1, ',');
  return text;
}

std::string byte_text(int64_t bytes) {
  if (bytes < 1'000'000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

// A list of plain values with commas, everything else as JSON has it.
std::string plain(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const Json& item : value) text += (text.empty() ? "" : ", ") + plain(item);
  return text;
}

std::string line(std::string_view key, std::string_view value) { return fmt::format("{:<20} {}\n", key, value); }

std::string lines_of(const std::string& heading, const Json& object) {
  std::string text = fmt::format("\n{}\n", heading);
  for (const auto& [key, value] : object.items()) text += fmt::format("  {:<18} {}\n", key, plain(value));
  return text;
}

std::string id_text(const SpecialIds& ids) {
  std::string text;
  const std::pair<const char*, int64_t> named[] = {
      {"padding", ids.pad}, {"start", ids.bos}, {"end", ids.eos}, {"unknown", ids.unk}};
  for (const auto& [name, id] : named)
    if (id >= 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, id);
  return text.empty() ? "none" : text;
}

}  // namespace

std::string front_matter(std::string_view markdown) {
  if (!markdown.starts_with("---\n")) return {};
  const size_t end = markdown.find("\n---", 3);
  return end == std::string_view::npos ? std::string() : std::string(markdown.substr(4, end + 1 - 4));
}

ModelInfo model_info(const fs::path& folder) {
  ModelInfo info;
  info.folder = folder;
  const std::unique_ptr<Model> model = load_model(folder);
  info.family = model->family();
  info.about = find<Family>(info.family).help;
  info.uses = uses_of(*model);
  info.config = model->config();
  if (const auto* texts = can<TextLabeller>(*model)) info.labels = texts->labels().names();
  if (const auto* words = can<WordLabeller>(*model)) info.labels = words->labels();
  if (const auto* tokens = can<TokenLabeller>(*model)) info.labels = tokens->token_labels();
  if (is_adapter(folder)) {
    const AdapterFolder adapter(folder);
    info.adapter = fmt::format("LoRA of rank {}, alpha {}, beside {} matrices of {}", adapter.rank(), adapter.alpha(),
                               adapter.matrices(), adapter.base_name());
  }
  add_weights(folder, info);
  for (Precision p : {Precision::f32, Precision::bf16, Precision::int8})
    info.memory.emplace_back(name(p), memory_of(*model, p));
  info.used_as = used_as(*model);
  info.tokenizer = tokenizer_of(folder);
  if (!info.tokenizer) info.tokenizer = tokenizer_of(base_of(folder));
  if (is_folder(folder) && path_exists(folder / "generation_config.json"))
    info.generation = read_generation_config(folder);
  if (const fs::path card = folder / "README.md"; is_folder(folder) && path_exists(card)) {
    const std::string yaml = front_matter(read_text(card));
    if (!yaml.empty()) info.card = yaml_to_json(yaml, card.string());
  }
  return info;
}

std::string to_text(const ModelInfo& info) {
  std::string storage;
  for (const auto& [type, weights] : info.storage)
    storage += fmt::format("{}{} {}", storage.empty() ? "" : ", ", with_commas(weights), type);
  std::string text = line("folder", info.folder.string()) + line("family", info.family) + line("", info.about) +
                     line("does", info.uses);
  if (!info.adapter.empty()) text += line("adapter", info.adapter);
  text += line("weights", fmt::format("{} in {} tensors, {}", storage, info.tensors, byte_text(info.bytes)));
  std::string memory;
  for (const auto& [precision, bytes] : info.memory)
    memory += fmt::format("{}{} as {}", memory.empty() ? "" : ", ", byte_text(bytes), precision);
  text += line("in memory", memory);
  text +=
      line("used as", info.used_as == "blocks" ? "the file's own blocks" : info.used_as + ", or what --weights says");
  if (info.tokenizer) {
    text += line("tokenizer", fmt::format("{}, {} pieces", info.tokenizer->kind, with_commas(info.tokenizer->size)));
    text += line("special ids", id_text(info.tokenizer->special));
  } else {
    text += line("tokenizer", "none");
  }
  if (!info.labels.empty()) text += line("labels", plain(Json(info.labels)));
  Json config = Json::parse(info.config);
  config.erase("model_type"), config.erase("labels");
  text += lines_of("architecture", config);
  if (info.generation) text += lines_of("generation", Json::parse(fovea::to_json(*info.generation)));
  if (!info.card.empty()) text += lines_of("card", Json::parse(info.card));
  return text;
}

std::string to_json(const ModelInfo& info) {
  Json json = {{"folder", info.folder.string()},
               {"family", info.family},
               {"uses", info.uses},
               {"config", Json::parse(info.config)},
               {"weights", info.weights},
               {"tensors", info.tensors},
               {"bytes", info.bytes},
               {"storage", info.storage}};
  for (const auto& [precision, bytes] : info.memory) json["memory"][precision] = bytes;
  json["used_as"] = info.used_as;
  if (info.tokenizer) {
    const auto& [kind, size, special] = *info.tokenizer;
    json["tokenizer"] = {{"kind", kind}, {"size", size}};
    json["tokenizer"]["special_ids"] = {
        {"padding", special.pad}, {"start", special.bos}, {"end", special.eos}, {"unknown", special.unk}};
  }
  if (!info.adapter.empty()) json["adapter"] = info.adapter;
  if (!info.labels.empty()) json["labels"] = info.labels;
  if (info.generation) json["generation"] = Json::parse(fovea::to_json(*info.generation));
  if (!info.card.empty()) json["card"] = Json::parse(info.card);
  return json.dump();
}

}  // namespace fovea
