#include "fovea/train/lora.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "fovea/base/catalogue.h"
#include "fovea/formats/matrix_text.h"
#include "fovea/models/adapter_folder.h"

namespace fovea {
namespace {

// What PEFT adapts of each family if nothing is said: its queries and values, or the one matrix that makes them.
const std::vector<std::vector<std::string>> usual_targets = {
    {"query", "value"}, {"q_lin", "v_lin"}, {"q_proj", "v_proj"}, {"qkv_proj"}, {"c_attn"}, {"q", "v"}};

// Tables of vectors and the outputs that are tied to them.
bool is_embedding(std::string_view module) {
  for (const char* name : {"embed_tokens", "shared", "wte", "lm_head", "word_embeddings", "embed_positions", "wpe"})
    if (module.ends_with(name)) return true;
  return false;
}

std::string module_of(const std::string& path) {
  return path.substr(0, path.size() - std::string_view(".weight").size());
}

bool names(const std::string& target, const std::string& module) {
  return module == target || module.ends_with("." + target);
}

// The modules that an addition may stand beside.
std::vector<std::string> matrices_of(Model& model, const std::set<std::string>& whole) {
  std::vector<std::string> modules;
  for_each_weight(model, [&](const std::string& path, const Weight& w, const Init&) {
    if (w.use() == Weight::Use::product && w.rank() == 2 && path.ends_with(".weight") && !whole.count(path) &&
        !is_embedding(module_of(path)))
      modules.push_back(module_of(path));
  });
  return modules;
}

bool matches_some(const std::string& target, const std::vector<std::string>& modules) {
  return std::any_of(modules.begin(), modules.end(), [&](const std::string& module) { return names(target, module); });
}

std::string last_name(const std::string& module) { return module.substr(module.rfind('.') + 1); }

std::vector<std::string> chosen(const std::vector<std::string>& said, const std::vector<std::string>& modules,
                                std::string_view family) {
  std::vector<std::string> targets;
  std::set<std::string> known;
  for (const std::string& module : modules) known.insert(last_name(module));
  for (const std::string& several : said)
    for (const std::string& target : split_text(several, ',')) targets.push_back(target);
  if (targets == std::vector<std::string>{"all-linear"}) return {known.begin(), known.end()};
  for (const std::string& target : targets)
    if (!matches_some(target, modules))
      throw_unknown("matrix for --lora-targets", target, {known.begin(), known.end()});
  if (!targets.empty()) return targets;
  for (const std::vector<std::string>& usual : usual_targets)
    if (std::all_of(usual.begin(), usual.end(), [&](const std::string& t) { return matches_some(t, modules); }))
      return usual;
  throw Error(Error::invalid,
              "--lora: found a model of family {} without the usual queries and values, expected --lora-targets",
              family);
}

}  // namespace

Lora::Lora(const LoraConfig& config, Model& model, std::set<std::string> whole, const Random& random)
    : config_(config), whole_(std::move(whole)) {
  require(model.foreign(), "--lora: found a model of family {}, expected one of the families that others train",
          model.family());
  require(config.rank >= 1, "--lora: found rank {}, expected 1 or more", config.rank);
  require(config.alpha >= 0 && config.alpha < 1e6, "--lora-alpha: found {}, expected 0 or more", config.alpha);
  require(config.dropout >= 0 && config.dropout < 1, "--lora-dropout: found {}, expected 0 or more and less than 1",
          config.dropout);
  if (config_.alpha == 0) config_.alpha = 2 * static_cast<double>(config.rank);
  const std::vector<std::string> modules = matrices_of(model, whole_);
  targets_ = chosen(config.targets, modules, model.family());
  for_each_weight(model, [&](const std::string& path, Weight& w, const Init&) {
    if (whole_.count(path)) numbers_ += w.elements();
    const std::string module = path.ends_with(".weight") ? module_of(path) : path;
    if (std::find(modules.begin(), modules.end(), module) == modules.end() ||
        std::none_of(targets_.begin(), targets_.end(), [&](const std::string& t) { return names(t, module); }))
      return;
    const int64_t most = std::min(w.size(0), w.size(1));
    require(config.rank <= most, "--lora: found rank {}, expected at most {}, the lesser size of {}", config.rank, most,
            module);
    auto adapter = std::make_shared<Adapter>(draw_adapter(w.shape(), config.rank, random.fork(path)));
    adapter->scale = config_.alpha / static_cast<double>(config.rank);
    adapter->dropout = config.dropout;
    numbers_ += adapter->a.elements() + adapter->b.elements(), ++matrices_;
    w.adapt(std::move(adapter));
  });
}

void Lora::weights(Model& model, Weights& visitor) const {
  for_each_weight(model, [&](const std::string& path, Weight& w, const Init& init) {
    if (whole_.count(path)) visitor(path, w, init);
    if (!w.adapter()) return;
    visitor(module_of(path) + ".lora_A.weight", w.adapter()->a, {Init::uniform});
    visitor(module_of(path) + ".lora_B.weight", w.adapter()->b, {Init::zeros});
  });
}

void Lora::begin_step(Model& model, const Random& random) const {
  if (config_.dropout == 0) return;
  for_each_weight(model, [&](const std::string& path, Weight& w, const Init&) {
    if (w.adapter()) w.adapter()->random = random.fork(path);
  });
}

void Lora::end_step(Model& model) const {
  for_each_weight(model, [&](const std::string&, Weight& w, const Init&) {
    if (w.adapter()) w.adapter()->random.reset();
  });
}

void Lora::save(const std::filesystem::path& folder, Model& model, const std::string& base) const {
  save_adapter(folder, model,
               {.base = base,
                .rank = config_.rank,
                .alpha = config_.alpha,
                .dropout = config_.dropout,
                .targets = targets_,
                .whole = whole_});
}

}  // namespace fovea
