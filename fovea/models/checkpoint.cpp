#include "fovea/models/checkpoint.h"

#include <nlohmann/json.hpp>
#include <set>

#include "fovea/base/file.h"
#include "fovea/base/json.h"

namespace fovea {
namespace {

std::string model_type(const std::string& text, const std::string& where) {
  const nlohmann::json root = parse_json(text, where);
  if (!root.is_object()) throw Error(Error::corrupt, "{}: found no object, expected keys and values", where);
  const auto found = root.find("model_type");
  if (found == root.end() || !found->is_string())
    throw Error(Error::corrupt, "{}: found no \"model_type\", expected the name of a family of models", where);
  return found->get<std::string>();
}

// What config.json holds.
struct WithFamily {
  std::string model_type;
  ModelConfig& config;

  void fields(Fields& f) {
    f("model_type", model_type, "family of the model");
    config.fields(f);
  }
};

void load_weights(Model& model, const NamedTensors& tensors, const std::string& where) {
  std::set<std::string> known;
  for_each_weight(model, [&](const std::string& path, Tensor& weight, const Init&) {
    const auto found = tensors.find(path);
    if (found == tensors.end()) throw Error(Error::corrupt, "{}: the weight '{}' is missing", where, path);
    if (found->second.shape() != weight.shape())
      throw Error(Error::corrupt, "{}: found the weight '{}' {}, expected {} as config.json says", where, path,
                  found->second.shape(), weight.shape());
    weight.copy_from(found->second);
    known.insert(path);
  });
  for (const auto& [name, tensor] : tensors)
    if (!known.count(name))
      throw Error(Error::corrupt, "{}: found a tensor '{}' that the model of config.json does not have", where, name);
}

}  // namespace

void save_model(const std::filesystem::path& folder, Model& model, const SaveOptions& options) {
  require(options.storage == DType::f32 || options.storage == DType::f16 || options.storage == DType::bf16,
          "save_model: found storage {}, expected F32, F16 or BF16", name(options.storage));
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw Error(Error::io, "{}: cannot be made: {}", folder.string(), failed.message());
  NamedTensors tensors = save(model);
  for (auto& [path, tensor] : tensors) tensor = tensor.to(options.storage);
  write_safetensors(folder / "model.safetensors", tensors, {{"format", "pt"}});
  write_text(folder / "config.json", model.config());
}

std::filesystem::path model_folder(const std::filesystem::path& folder) {
  if (!is_folder(folder))
    throw Error(Error::not_found, "{}: not a folder, expected one with config.json and model.safetensors",
                folder.string());
  for (const std::filesystem::path& candidate : {folder, folder / "best"})
    if (path_exists(candidate / "config.json")) return candidate;
  throw Error(Error::not_found, "{}: found no config.json, expected the folder of a model", folder.string());
}

std::unique_ptr<Model> load_model(const std::filesystem::path& given) {
  const std::filesystem::path folder = model_folder(given);
  const std::string where = (folder / "config.json").string(), text = read_text(where);
  const std::string family = model_type(text, where);
  std::unique_ptr<Model> model;
  try {
    const std::unique_ptr<ModelConfig> config = find<Family>(family).config();
    WithFamily file = {family, *config};
    from_json(text, file, where);
    model = config->make();
  } catch (const Error& e) {
    if (std::string_view(e.what()).starts_with(where)) throw;
    throw Error(e.kind(), "{}: {}", where, e.what());
  }
  load_weights(*model, SafeTensors(folder).tensors(), folder.string());
  return model;
}

}  // namespace fovea
