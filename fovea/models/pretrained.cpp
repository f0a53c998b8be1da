#include "fovea/models/open_model.h"

#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <set>

#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/kernels/packed.h"
#include "fovea/models/adapter_folder.h"
#include "fovea/tensor/work.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

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

// "a, b, c and 7 more"
std::string some_of(const std::vector<std::string>& names) {
  constexpr size_t shown = 5;
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), shown));
  std::string text = fmt::format("{}", fmt::join(names.begin(), end, ", "));
  return names.size() <= shown ? text : fmt::format("{} and {} more", text, names.size() - shown);
}

// A key that is not known is an Error of a family that is stored here alone, and the likely reason if no model can be made.
template <class Refuse>
std::unique_ptr<Model> made_from(const ModelConfig& config, const std::vector<std::string>& unknown, Refuse&& refuse) {
  std::unique_ptr<Model> model;
  try {
    model = config.make();
  } catch (const Error&) {
    if (!unknown.empty()) refuse();
    throw;
  }
  if (!unknown.empty() && !model->foreign()) refuse();
  return model;
}

// What a config.json says.
struct Described {
  std::string text, where;
};

Made make_model(const Described& described, const LoadOptions& options) {
  const auto& [text, where] = described;
  std::string family;
  detail::Reader(detail::Reader::json, text, where)("model_type", family, "");
  if (family.empty())
    throw Error(Error::corrupt, "{}: found no \"model_type\", expected the name of a family of models", where);
  try {
    const std::unique_ptr<ModelConfig> config = find<Family>(family).config();
    StoredConfig file = {{family, *config}};
    const std::vector<std::string> unknown = from_foreign_json(text, file, where);
    if (options.refit) config->fit(options.refit->facts);
    Made made = {made_from(*config, unknown, [&] { from_json(text, file, where); }), {}};
    if (!unknown.empty() && options.note)
      options.note(fmt::format("{}: keys that are not known here are passed over: {}", where, some_of(unknown)));
    if (!file.weights.empty()) made.precision = parse_precision(file.weights);
    return made;
  } catch (const Error& e) {
    if (std::string_view(e.what()).starts_with(where)) throw;
    throw Error(e.kind(), "{}: {}", where, e.what());
  }
}

Described described_by(const StoredWeights& stored) { return {stored.config(), stored.where()}; }

// The model of an adapter's folder: as the model_config.json there says, or the base's, with the head that is stored.
Made make_adapted(const AdapterFolder& adapter, const StoredWeights& base, LoadOptions options) {
  const fs::path own = adapter.folder() / model_config_name;
  if (path_exists(own)) return make_model({read_text(own), own.string()}, options);
  if (!options.refit) options.refit = Refit{adapter.facts()};
  return make_model(described_by(base), options);
}

// What an adapter has for the weights of a model, by their paths.
struct Learned {
  std::map<std::string, Adapter> adapters = {};
  std::map<std::string, Tensor> whole = {};

  // The addition becomes part of the weight.
  void bind(Weight& weight, const std::string& path, const StoredWeights& stored, const std::string& name,
            const LoadOptions& options, std::optional<Precision> precision) const {
    const auto addition = adapters.find(path);
    const auto own = whole.find(path);
    if (own != whole.end()) {
      if (options.learns) return weight.learn(own->second);
      return weight.bind(own->second, precision.value_or(Precision::f32));
    }
    if (addition == adapters.end()) {
      if (options.learns) return stored.learn(weight, name);
      return stored.bind(weight, name, precision);
    }
    Weight plain = weight;
    stored.learn(plain, name);
    const Tensor sum = merged(*plain, addition->second);
    const Tensor as_stored = weight.transposed() ? sum.transpose(0, 1) : sum;
    if (options.learns) return weight.learn(as_stored);
    weight.bind(as_stored, precision.value_or(Precision::f32));
  }
};

// The tensor of each weight, by its path.
using Found = std::map<std::string, std::string>;

// The weights of a head that a folder was not trained for are drawn: small, as whoever trained the body began with theirs.
Init beginning_of(const Weight& weight, const Init& init) {
  return weight.rank() > 1 ? Init{Init::normal, 0.02} : init.kind == Init::ones ? init : Init{Init::zeros};
}

struct Sources {
  Found stored = {};
  std::set<std::string> drawn = {};
  Learned learned = {};
};

void check_shapes(Model& model, const StoredWeights& stored, const Sources& sources, const std::string& where) {
  const Found& names = sources.stored;
  for_each_weight(model, [&](const std::string& path, const Weight& weight, const Init&) {
    if (sources.drawn.count(path)) return;
    if (const auto own = sources.learned.whole.find(path); own != sources.learned.whole.end()) {
      if (own->second.shape() == weight.stored_shape()) return;
      throw Error(Error::corrupt, "{}: found the weight '{}' {} in the adapter, expected {}", where, path,
                  own->second.shape(), weight.stored_shape());
    }
    const auto found = names.find(path);
    if (found == names.end()) throw Error(Error::corrupt, "{}: the weight '{}' is missing", where, path);
    const Shape shape = stored.shape(found->second), expected = stored.expected(weight);
    if (shape != expected)
      throw Error(Error::corrupt, "{}: found the weight '{}' {}, expected {} as {} says", where, found->second, shape,
                  expected, fs::path(stored.where()).filename().string());
  });
}

// A weight that several parts of a model share may be stored several times.
Sources sources_of(Model& model, const StoredWeights& stored, Learned learned, const LoadOptions& options,
                   const std::string& where) {
  std::set<std::string> known;
  for_each_weight(model, [&](const std::string& path, const Weight&, const Init&) { known.insert(path); });
  Found found;
  std::vector<std::string> unused;
  for (const std::string& name : stored.names()) {
    const std::string path = model.weight_path(name);
    if (path.empty()) continue;
    if (!known.count(path)) {
      unused.push_back(name);
    } else if (const auto [first, fresh] = found.emplace(path, name); !fresh) {
      if (model.foreign() && stored.same(first->second, name)) continue;
      throw Error(Error::corrupt, "{}: found '{}' and '{}', which are one weight, expected one of them or equal ones",
                  where, first->second, name);
    }
  }
  std::set<std::string> drawn;
  for (const std::string& path : known) {
    const Model::Part part = options.refit ? model.part_of(path) : Model::Part::body;
    if (part == Model::Part::head || (part == Model::Part::bridge && !found.count(path)))
      found.erase(path), drawn.insert(path);
    else if (!found.count(path) && !learned.whole.count(path))
      model.do_without(path);
  }
  const Sources sources = {std::move(found), std::move(drawn), std::move(learned)};
  check_shapes(model, stored, sources, where);
  if (!unused.empty() && !model.foreign())
    throw Error(Error::corrupt, "{}: found a tensor '{}' that the model of config.json does not have", where,
                unused.front());
  if (!unused.empty() && options.note)
    options.note(fmt::format("{}: tensors that this model does not use: {}", where, some_of(unused)));
  if (const auto& begun = sources.drawn; !begun.empty() && options.note)
    options.note(fmt::format("{}: weights that begin anew: {}", where, some_of({begun.begin(), begun.end()})));
  return sources;
}

// One tensor at a time, and a few rows of it, so that no model is in memory twice.
void load_weights(Model& model, const StoredWeights& stored, Learned learned, std::optional<Precision> precision,
                  const LoadOptions& options, const std::string& where) {
  const Sources sources = sources_of(model, stored, std::move(learned), options, where);
  const std::optional<Precision> packing = stored.packing();
  require(!packing || (!options.learns && *packing == precision.value_or(Precision::f32)),
          "{}: found weights packed as {}, expected {}; take the model that they were made from", where,
          packing ? name(*packing) : "",
          options.learns ? "numbers that learn" : name(precision.value_or(Precision::f32)));
  for_each_weight(model, [&](const std::string& path, Weight& weight, const Init& init) {
    if (sources.drawn.count(path))
      return initialise(weight.numbers(), beginning_of(weight, init), options.refit->random.fork(path));
    const auto found = sources.stored.find(path);
    const std::string name = found == sources.stored.end() ? path : found->second;
    try {
      sources.learned.bind(weight, path, stored, name, options, precision);
    } catch (const Error& e) {
      throw Error(e.kind(), "{}: weight '{}': {}", where, name, e.what());
    }
  });
}

// What the products read as it lies in memory, the rest in f32.
NamedTensors packed_tensors(Model& model) {
  NamedTensors tensors;
  for_each_weight(model, [&](const std::string& path, const Weight& w, const Init&) {
    tensors[path] = w.packs() ? w.packed_numbers() : w.stored();
  });
  return tensors;
}

// Where the numbers of each weight lie.
void tell_weights(Model& model, Watcher& watcher) {
  for_each_weight(model, [&](const std::string& path, const Weight& w, const Init&) {
    if (!w) return;
    watcher.knows(path, w.packed() ? static_cast<const void*>(w.packed()->data) : static_cast<const void*>(w->bytes()));
  });
}

}  // namespace

void save_model(const fs::path& folder, Model& model, const SaveOptions& options) {
  require(options.storage == DType::f32 || options.storage == DType::f16 || options.storage == DType::bf16,
          "save_model: found storage {}, expected F32, F16 or BF16", name(options.storage));
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) throw Error(Error::io, "{}: cannot be made: {}", folder.string(), failed.message());
  const std::string use(options.packed ? used_as(model) : std::string_view(options.used_as));
  if (!use.empty()) parse_precision(use);
  if (options.packed) {
    write_safetensors(folder / "model.safetensors", packed_tensors(model), {{packing_key, use}});
  } else {
    NamedTensors tensors = save(model);
    for (auto& [path, tensor] : tensors) tensor = tensor.to(options.storage);
    write_safetensors(folder / "model.safetensors", tensors, {{"format", "pt"}});
  }
  if (use.empty()) return write_text(folder / "config.json", model.config());
  auto config = parse_json<nlohmann::ordered_json>(model.config(), "config");
  config["weights"] = use;
  write_text(folder / "config.json", config.dump(2) + "\n");
}

OpenModel open_model(const fs::path& folder, const LoadOptions& options) {
  require(!is_adapter(folder),
          "{}: found an adapter, expected a whole model; fovea quantize {} -o FOLDER --weights f32 makes one",
          folder.string(), folder.string());
  OpenModel open;
  open.stored = open_weights(folder);
  open.model = make_model(described_by(*open.stored), options).model;
  open.names = sources_of(*open.model, *open.stored, {}, options, folder.string()).stored;
  return open;
}

fs::path base_of(const fs::path& folder) { return is_adapter(folder) ? AdapterFolder(folder).base() : folder; }

std::unique_ptr<Model> described_model(const fs::path& folder) {
  if (!is_adapter(folder)) return make_model(described_by(*open_weights(folder)), {}).model;
  const AdapterFolder adapter(folder);
  return make_adapted(adapter, *open_weights(adapter.base()), {}).model;
}

std::unique_ptr<Model> load_model(const fs::path& folder, const LoadOptions& options) {
  require(!options.refit || options.learns,
          "{}: found a model that is to be fitted to a task, expected one that learns", folder.string());
  std::optional<AdapterFolder> adapter;
  if (is_adapter(folder)) adapter.emplace(folder);
  const std::unique_ptr<StoredWeights> stored = open_weights(adapter ? adapter->base() : folder);
  Made made = adapter ? make_adapted(*adapter, *stored, options) : make_model(described_by(*stored), options);
  Learned learned;
  if (adapter) learned = {adapter->adapters(*made.model), adapter->whole(*made.model)};
  load_weights(*made.model, *stored, std::move(learned), options.precision ? options.precision : made.precision,
               options, folder.string());
  if (Watcher* const w = watcher()) tell_weights(*made.model, *w);
  return std::move(made.model);
}

std::string_view used_as(Model& model) {
  std::string_view found = name(Precision::f32);
  for_each_weight(model, [&](const std::string&, const Weight& w, const Init&) {
    if (w.packed()) found = w.packed()->blocks ? "blocks" : name(w.packed()->precision);
  });
  return found;
}

int64_t memory_of(Model& model, Precision precision) {
  int64_t bytes = 0;
  for_each_weight(model, [&](const std::string&, const Weight& w, const Init&) { bytes += w.bytes_in(precision); });
  return bytes;
}

std::string uses_of(const Model& model) {
  const Abilities a = Abilities::of(model);
  std::vector<std::string> uses;
  auto add = [&](bool does, const char* use) {
    if (does) uses.push_back(use);
  };
  add(a.generates && a.listens, "writes down what is said (transcribe)");
  add(a.generates && a.encodes_pictures, "says what a picture shows (caption)");
  add(a.generates && a.encodes, "writes a text from another (translate, summarize)");
  add(a.writes_on(), "goes on with a text (generate, chat)");
  add(a.labels_texts, "labels texts (classify)");
  add(a.labels_words || a.labels_tokens, "labels words (tag)");
  add(a.labels_pictures, "labels pictures (classify)");
  add(a.fills_gaps, "fills gaps (fill)");
  add(a.finds_answers, "finds answers in a text (answer)");
  add(a.encodes, "makes vectors of texts (embed)");
  return uses.empty() ? "can be looked at (view)" : fmt::format("{}", fmt::join(uses, ", "));
}

Pretrained load_pretrained(const fs::path& folder, const LoadOptions& options) {
  Pretrained p = {folder, load_model(folder, options), nullptr};
  if (p.model->vocabulary() == 0) return p;  // it reads no text
  try {
    p.tokenizer = load_tokenizer(folder);
  } catch (const Error& e) {
    if (e.kind() != Error::not_found || !is_adapter(folder)) throw;
    p.folder = base_of(folder);
    p.tokenizer = load_tokenizer(p.folder);
  }
  const int64_t entries = p.tokenizer->size(), vocabulary = p.model->vocabulary();
  if (entries > vocabulary || (entries < vocabulary && !p.model->foreign()))
    throw Error(Error::corrupt,
                "{}: found a tokenizer of {} entries beside a model for {}, expected those it was trained with",
                folder.string(), entries, vocabulary);
  return p;
}

}  // namespace fovea
