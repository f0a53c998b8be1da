#include "fovea/models/pretrained.h"

#include <cmath>
#include <set>

#include "fovea/base/file.h"
#include "fovea/base/json.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Model> make_model(const std::string& where) {
  const std::string text = read_text(where);
  std::string family;
  detail::Reader(detail::Reader::json, text, where)("model_type", family, "");
  if (family.empty())
    throw Error(Error::corrupt, "{}: found no \"model_type\", expected the name of a family of models", where);
  try {
    const std::unique_ptr<ModelConfig> config = find<Family>(family).config();
    FamilyConfig<ModelConfig> file = {family, *config};
    from_json(text, file, where);
    return config->make();
  } catch (const Error& e) {
    if (std::string_view(e.what()).starts_with(where)) throw;
    throw Error(e.kind(), "{}: {}", where, e.what());
  }
}

void check_shapes(Model& model, const NamedTensors& tensors, const std::string& where) {
  std::set<std::string> known;
  for_each_weight(model, [&](const std::string& path, const Weight& weight, const Init&) {
    const auto found = tensors.find(path);
    if (found == tensors.end()) throw Error(Error::corrupt, "{}: the weight '{}' is missing", where, path);
    if (found->second.shape() != weight.shape())
      throw Error(Error::corrupt, "{}: found the weight '{}' {}, expected {} as config.json says", where, path,
                  found->second.shape(), weight.shape());
    known.insert(path);
  });
  for (const auto& [name, tensor] : tensors)
    if (!known.count(name))
      throw Error(Error::corrupt, "{}: found a tensor '{}' that the model of config.json does not have", where, name);
}

// One tensor at a time, so that no model is in memory twice.
void load_weights(Model& model, const NamedTensors& tensors, const LoadOptions& options, const std::string& where) {
  check_shapes(model, tensors, where);
  for_each_weight(model, [&](const std::string& path, Weight& weight, const Init&) {
    const Tensor plain = tensors.at(path).to(DType::f32).contiguous();
    const float* numbers = plain.data<float>();
    for (int64_t i = 0; i < plain.elements(); ++i)
      if (!std::isfinite(numbers[i]))
        throw Error(Error::corrupt, "{}: found {} in the weight '{}', expected finite numbers", where, numbers[i],
                    path);
    if (options.learns)
      weight.numbers().copy_from(plain);
    else
      weight.bind(plain, options.precision.value_or(Precision::f32));
  });
}

}  // namespace

void save_model(const fs::path& folder, Model& model, const SaveOptions& options) {
  require(options.storage == DType::f32 || options.storage == DType::f16 || options.storage == DType::bf16,
          "save_model: found storage {}, expected F32, F16 or BF16", name(options.storage));
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) throw Error(Error::io, "{}: cannot be made: {}", folder.string(), failed.message());
  NamedTensors tensors = save(model);
  for (auto& [path, tensor] : tensors) tensor = tensor.to(options.storage);
  write_safetensors(folder / "model.safetensors", tensors, {{"format", "pt"}});
  write_text(folder / "config.json", model.config());
}

std::unique_ptr<Model> load_model(const fs::path& folder, const LoadOptions& options) {
  const std::string where = (folder / "config.json").string();
  if (std::error_code error; !fs::exists(where, error))
    throw Error(Error::not_found, "{}: found no config.json, expected the folder of a model", folder.string());
  const SafeTensors file(folder);
  std::unique_ptr<Model> model = make_model(where);
  load_weights(*model, file.tensors(), options, folder.string());
  return model;
}

Pretrained load_pretrained(const fs::path& folder, const LoadOptions& options) {
  Pretrained p = {folder, load_model(folder, options), load_tokenizer(folder)};
  if (p.tokenizer->size() != p.model->vocabulary())
    throw Error(Error::corrupt,
                "{}: found a tokenizer of {} entries beside a model for {}, expected those it was trained with",
                folder.string(), p.tokenizer->size(), p.model->vocabulary());
  return p;
}

}  // namespace fovea
