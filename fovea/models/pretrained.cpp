#include "fovea/models/pretrained.h"

#include <nlohmann/json.hpp>
#include <set>

#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/kernels/packed.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

constexpr const char* packing_key = "fovea_packed";  // in the metadata of a file of packed weights

// config.json: the family, what its weights are kept as, and the family's own fields.
struct StoredConfig {
  FamilyConfig<ModelConfig> family;
  std::string weights = {};

  void fields(Fields& f) {
    f("weights", weights, "f32, bf16 or int8: as what the weights are used");
    family.fields(f);
  }
};

struct Made {
  std::unique_ptr<Model> model;
  std::optional<Precision> precision;  // that the file asks for
};

Made make_model(const std::string& where) {
  const std::string text = read_text(where);
  std::string family;
  detail::Reader(detail::Reader::json, text, where)("model_type", family, "");
  if (family.empty())
    throw Error(Error::corrupt, "{}: found no \"model_type\", expected the name of a family of models", where);
  try {
    const std::unique_ptr<ModelConfig> config = find<Family>(family).config();
    StoredConfig file = {{family, *config}};
    from_json(text, file, where);
    Made made = {config->make(), {}};
    if (!file.weights.empty()) made.precision = parse_precision(file.weights);
    return made;
  } catch (const Error& e) {
    if (std::string_view(e.what()).starts_with(where)) throw;
    throw Error(e.kind(), "{}: {}", where, e.what());
  }
}

// The precision that a file's tensors are packed as; nothing if they are plain numbers.
std::optional<Precision> packing_of(const SafeTensors& file, const std::string& where) {
  const auto found = file.metadata().find(packing_key);
  if (found == file.metadata().end()) return std::nullopt;
  try {
    return parse_precision(found->second);
  } catch (const Error& e) {
    throw Error(Error::corrupt, "{}: {}", where, e.what());
  }
}

void check_shapes(Model& model, const NamedTensors& tensors, std::optional<Precision> packing,
                  const std::string& where) {
  std::set<std::string> known;
  for_each_weight(model, [&](const std::string& path, const Weight& weight, const Init&) {
    const auto found = tensors.find(path);
    if (found == tensors.end()) throw Error(Error::corrupt, "{}: the weight '{}' is missing", where, path);
    const Shape expected = packing && weight.packs() ? Shape{weight.bytes_in(*packing)} : weight.shape();
    if (found->second.shape() != expected)
      throw Error(Error::corrupt, "{}: found the weight '{}' {}, expected {} as config.json says", where, path,
                  found->second.shape(), expected);
    known.insert(path);
  });
  for (const auto& [name, tensor] : tensors)
    if (!known.count(name))
      throw Error(Error::corrupt, "{}: found a tensor '{}' that the model of config.json does not have", where, name);
}

// One tensor at a time, and a few rows of it, so that no model is in memory twice.
void load_weights(Model& model, const SafeTensors& file, Precision precision, bool learns, const std::string& where) {
  const NamedTensors& tensors = file.tensors();
  const std::optional<Precision> packing = packing_of(file, where);
  check_shapes(model, tensors, packing, where);
  require(!packing || (!learns && *packing == precision),
          "{}: found weights packed as {}, expected {}; take the model that they were made from", where,
          packing ? name(*packing) : "", learns ? "numbers that learn" : name(precision));
  for_each_weight(model, [&](const std::string& path, Weight& weight, const Init&) {
    try {
      const Tensor& stored = tensors.at(path);
      if (packing && weight.packs()) return weight.bind_packed(stored, precision);
      if (learns) return weight.learn(stored);
      weight.bind(stored, precision);
      file.forget(path);
    } catch (const Error& e) {
      throw Error(e.kind(), "{}: weight '{}': {}", where, path, e.what());
    }
  });
}

// What the products read as it lies in memory, the rest in f32.
NamedTensors packed_tensors(Model& model) {
  NamedTensors tensors;
  for_each_weight(model, [&](const std::string& path, const Weight& w, const Init&) {
    tensors[path] = w.packs() ? w.packed_numbers() : w.unpacked();
  });
  return tensors;
}

Precision precision_of(Model& model) {
  Precision found = Precision::f32;
  for_each_weight(model, [&](const std::string&, const Weight& w, const Init&) {
    if (w.packed()) found = w.packed()->precision;
  });
  return found;
}

}  // namespace

void save_model(const fs::path& folder, Model& model, const SaveOptions& options) {
  require(options.storage == DType::f32 || options.storage == DType::f16 || options.storage == DType::bf16,
          "save_model: found storage {}, expected F32, F16 or BF16", name(options.storage));
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) throw Error(Error::io, "{}: cannot be made: {}", folder.string(), failed.message());
  if (options.packed) {
    const std::string precision(name(precision_of(model)));
    write_safetensors(folder / "model.safetensors", packed_tensors(model), {{packing_key, precision}});
    auto config = parse_json<nlohmann::ordered_json>(model.config(), "config");
    config["weights"] = precision;
    return write_text(folder / "config.json", config.dump(2) + "\n");
  }
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
  Made made = make_model(where);
  const Precision precision = options.precision.value_or(made.precision.value_or(Precision::f32));
  load_weights(*made.model, file, precision, options.learns, folder.string());
  return std::move(made.model);
}

int64_t memory_of(Model& model, Precision precision) {
  int64_t bytes = 0;
  for_each_weight(model, [&](const std::string&, const Weight& w, const Init&) { bytes += w.bytes_in(precision); });
  return bytes;
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
