#include "fovea/models/adapter_folder.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/base/text.h"
#include "fovea/models/zoo.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::string_view prefix = "base_model.model.";
constexpr const char *config_name = "adapter_config.json", *tensors_name = "adapter_model.safetensors";

// Keys of adapter_config.json that change what is computed as nothing here does, unless they are off.
constexpr const char* refused[] = {"use_dora",
                                   "lora_bias",
                                   "layer_replication",
                                   "megatron_config",
                                   "loftq_config",
                                   "corda_config",
                                   "eva_config",
                                   "alora_invocation_tokens",
                                   "target_parameters",
                                   "use_qalora",
                                   "trainable_token_indices",
                                   "kasa_config",
                                   "use_bdlora",
                                   "monteclora_config"};

bool is_off(const Json& value) {
  return value.is_null() || value == false || ((value.is_object() || value.is_array()) && value.empty());
}

template <class Value>
Value value_of(const Json& json, const char* key, const Value& otherwise, const std::string& where) {
  if (!json.contains(key) || json[key].is_null()) return otherwise;
  try {
    return json[key].get<Value>();
  } catch (const Json::exception&) {
    throw Error(Error::corrupt, "{}: '{}': found {}, expected another kind of value", where, key,
                printable(json[key].dump().substr(0, 100)));
  }
}

void check_known(const Json& json, const std::string& where) {
  if (!json.is_object()) throw Error(Error::corrupt, "{}: found no JSON object; the file is damaged", where);
  const auto kind = value_of<std::string>(json, "peft_type", "", where);
  if (kind != "LORA")
    throw Error(Error::unsupported, "{}: found an adapter of kind '{}', expected LORA", where, printable(kind));
  for (const char* key : refused)
    if (json.contains(key) && !is_off(json[key]))
      throw Error(Error::unsupported, "{}: found '{}', which changes the model as nothing here does", where, key);
  if (const auto bias = value_of<std::string>(json, "bias", "none", where); bias != "none")
    throw Error(Error::unsupported, "{}: found bias '{}', expected none", where, printable(bias));
  const Json begun = json.contains("init_lora_weights") ? json["init_lora_weights"] : Json(true);
  if (!begun.is_null() && !begun.is_boolean() && begun != "gaussian")
    throw Error(Error::unsupported,
                "{}: found init_lora_weights {}, which changes the base as well; merge it where it was made", where,
                printable(begun.dump().substr(0, 100)));
}

// A folder beside the adapter's own, one that is named as every --model is, or none.
fs::path found_base(const fs::path& folder, const std::string& name, const std::string& where) {
  if (name.empty())
    throw Error(Error::corrupt, "{}: found no base_model_name_or_path, expected the model that the adapter belongs to",
                where);
  std::error_code error;
  if (const fs::path beside = folder.parent_path() / name; fs::exists(beside / "config.json", error)) return beside;
  try {
    return find_model(name);
  } catch (const Error& e) {
    throw Error(Error::not_found, "{}: the model that this adapter belongs to is missing: {}", where, e.what());
  }
}

bool ends_with_module(std::string_view path, std::string_view module) {
  return path == module || (path.ends_with(module) && path[path.size() - module.size() - 1] == '.');
}

std::string without(std::string text, std::string_view suffix) {
  if (text.ends_with(suffix)) text.resize(text.size() - suffix.size());
  return text;
}

// What PEFT calls the use of the model.
Json task_type_of(const Model& model) {
  const Abilities a = Abilities::of(model);
  if (a.labels_texts) return "SEQ_CLS";
  if (a.labels_tokens) return "TOKEN_CLS";
  if (a.finds_answers) return "QUESTION_ANS";
  if (a.generates) return a.encodes ? "SEQ_2_SEQ_LM" : "CAUSAL_LM";
  return nullptr;
}

// "classifier" of "classifier.dense.weight", "pooler" of "bert.pooler.dense.weight".
std::string module_of(const Model& model, const std::string& path) {
  const size_t first = path.find('.');
  if (model.part_of(path) == Model::Part::head) return path.substr(0, first);
  return path.substr(first + 1, path.find('.', first + 1) - first - 1);
}

}  // namespace

bool is_adapter(const fs::path& folder) { return is_folder(folder) && path_exists(folder / config_name); }

AdapterFolder::AdapterFolder(const fs::path& folder) : folder_(folder) {
  read_config();
  read_tensors();
}

void AdapterFolder::read_config() {
  const std::string where = (folder_ / config_name).string();
  const Json json = parse_json(read_text(folder_ / config_name), where);
  check_known(json, where);
  base_name_ = value_of<std::string>(json, "base_model_name_or_path", "", where);
  task_type_ = value_of<std::string>(json, "task_type", "", where);
  rank_ = value_of<int64_t>(json, "r", 8, where);
  alpha_ = value_of<double>(json, "lora_alpha", 8, where);
  by_root_ = value_of<bool>(json, "use_rslora", false, where);
  alphas_ = value_of<std::map<std::string, double>>(json, "alpha_pattern", {}, where);
  if (rank_ < 1 || !std::isfinite(alpha_))
    throw Error(Error::corrupt, "{}: found rank {} and alpha {}, expected a rank of at least 1", where, rank_, alpha_);
  base_ = found_base(folder_, base_name_, where);
  if (is_adapter(base_))
    throw Error(Error::unsupported, "{}: found an adapter of an adapter, {}; merge that one first with fovea quantize",
                where, base_.string());
}

double AdapterFolder::scale_of(const std::string& module, int64_t rank) const {
  double alpha = alpha_;
  for (const auto& [pattern, own] : alphas_)
    if (ends_with_module(module, pattern)) alpha = own;
  return by_root_ ? alpha / std::sqrt(static_cast<double>(rank)) : alpha / static_cast<double>(rank);
}

void AdapterFolder::read_tensors() {
  const fs::path path = folder_ / tensors_name;
  if (!path_exists(path))
    throw Error(Error::not_found, "{}: found no {}, expected what was learned", folder_.string(), tensors_name);
  const SafeTensors file(path);
  for (const auto& [stored, tensor] : file.tensors()) {
    if (!stored.starts_with(prefix) || stored.find("lora_embedding") != std::string::npos ||
        stored.find("lora_magnitude") != std::string::npos)
      throw Error(Error::unsupported,
                  "{}: found the tensor '{}', expected additions to products (lora_A, lora_B) and whole modules",
                  path.string(), printable(stored));
    const std::string name = stored.substr(prefix.size());
    const std::string a = without(name, ".lora_A.weight"), b = without(name, ".lora_B.weight");
    if (a == name && b == name)
      whole_[name] = tensor;
    else
      (a != name ? adapters_[a].a : adapters_[b].b) = tensor.to(DType::f32);
  }
  for (auto& [module, adapter] : adapters_) {
    if (!adapter.a || !adapter.b || adapter.a.rank() != 2 || adapter.b.rank() != 2 ||
        adapter.a.size(0) != adapter.b.size(1) || adapter.a.size(0) == 0)
      throw Error(Error::corrupt, "{}: found no two matrices of one rank for '{}', expected lora_A and lora_B",
                  path.string(), printable(module));
    adapter.scale = scale_of(module, adapter.a.size(0));
  }
  if (adapters_.empty() && whole_.empty()) throw Error(Error::corrupt, "{}: found no tensors", path.string());
}

// A head of as many labels as its last bias has numbers.
DataFacts AdapterFolder::facts() const {
  DataFacts facts;
  facts.needs.labels_texts = task_type_ == "SEQ_CLS";
  facts.needs.labels_tokens = task_type_ == "TOKEN_CLS";
  if (task_type_ != "SEQ_CLS" && task_type_ != "TOKEN_CLS") return facts;
  for (const char* name : {"classifier.out_proj.bias", "classifier.bias"}) {
    const auto found = whole_.find(name);
    if (found == whole_.end() || found->second.rank() != 1) continue;
    for (int64_t i = 0; i < std::min<int64_t>(found->second.size(0), 10000); ++i)
      facts.labels.push_back(fmt::format("LABEL_{}", i));
    if (facts.labels.size() == 1) facts.labelling = "number";
    return facts;
  }
  return {};
}

std::map<std::string, Adapter> AdapterFolder::adapters(Model& model) const {
  std::map<std::string, Shape> shapes;
  for_each_weight(model, [&](const std::string& path, const Weight& w, const Init&) {
    if (w.packs()) shapes[path] = w.shape();
  });
  std::map<std::string, Adapter> found;
  for (const auto& [module, adapter] : adapters_) {
    const std::string path = model.weight_path(module + ".weight");
    const auto shape = shapes.find(path);
    if (shape == shapes.end())
      throw Error(Error::corrupt, "{}: found an addition to '{}', which is no matrix of the model in {}",
                  folder_.string(), printable(module), base_.string());
    if (adapter.a.size(1) != shape->second[1] || adapter.b.size(0) != shape->second[0])
      throw Error(Error::corrupt, "{}: found an addition of A {} and B {} to '{}', expected one to {}, as {} has it",
                  folder_.string(), adapter.a.shape(), adapter.b.shape(), printable(module), shape->second,
                  base_.string());
    found[path] = adapter;
  }
  return found;
}

std::map<std::string, Tensor> AdapterFolder::whole(Model& model) const {
  std::set<std::string> known;
  for_each_weight(model, [&](const std::string& path, const Weight&, const Init&) { known.insert(path); });
  std::map<std::string, Tensor> found;
  for (const auto& [name, tensor] : whole_) {
    const std::string path = model.weight_path(name);
    if (path.empty()) continue;
    if (!known.count(path))
      throw Error(Error::corrupt, "{}: found the weight '{}', which the model in {} does not have", folder_.string(),
                  printable(name), base_.string());
    found[path] = tensor;
  }
  return found;
}

void save_adapter(const fs::path& folder, Model& model, const AdapterStorage& o) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) throw Error(Error::io, "{}: cannot be made: {}", folder.string(), failed.message());
  NamedTensors tensors;
  std::set<std::string> modules;
  bool transposed = false;
  for_each_weight(model, [&](const std::string& path, const Weight& w, const Init&) {
    const std::string name = std::string(prefix) + path;
    if (o.whole.count(path)) tensors[name] = w.stored(), modules.insert(module_of(model, path));
    if (!w.adapter()) return;
    transposed = transposed || w.transposed();
    tensors[without(name, ".weight") + ".lora_A.weight"] = w.adapter()->a.detach();
    tensors[without(name, ".weight") + ".lora_B.weight"] = w.adapter()->b.detach();
  });
  const Json config = {{"auto_mapping", nullptr},
                       {"base_model_name_or_path", o.base},
                       {"bias", "none"},
                       {"fan_in_fan_out", transposed},
                       {"inference_mode", true},
                       {"init_lora_weights", true},
                       {"lora_alpha", o.alpha},
                       {"lora_dropout", o.dropout},
                       {"modules_to_save", modules.empty() ? Json() : Json(modules)},
                       {"peft_type", "LORA"},
                       {"r", o.rank},
                       {"revision", nullptr},
                       {"target_modules", o.targets},
                       {"task_type", task_type_of(model)},
                       {"use_dora", false},
                       {"use_rslora", false}};
  write_safetensors(folder / tensors_name, tensors, {{"format", "pt"}});
  write_text(folder / model_config_name, model.config());
  write_text(folder / config_name, config.dump(2) + "\n");
}

}  // namespace fovea
