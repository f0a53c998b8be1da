#include "fovea/models/zoo.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/formats/whisper_file.h"
#include "fovea/models/stored_weights.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

fs::path zoo_folder(const std::string& installed) {
  if (const char* given = std::getenv("FOVEA_ZOO")) return given;
  std::error_code error;
  const fs::path beside = fs::read_symlink("/proc/self/exe", error).parent_path().parent_path() / "share/fovea/zoo";
  return fs::is_directory(beside, error) ? beside : fs::path(installed);
}

std::string title_of(const fs::path& card) {
  std::ifstream lines(card);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("# ")) return line.substr(2);
  return {};
}

std::string models_at_hand(const std::string& installed) {
  std::vector<std::string> names;
  for (const ShippedModel& model : shipped_models(installed)) names.push_back(model.name);
  return names.empty() ? "there are no models that ship"
                       : fmt::format("those that ship are {}", fmt::join(names, ", "));
}

// Where a model stands: there, in best/ as a training leaves it, or all of it in one file.
std::optional<fs::path> model_in(const fs::path& folder) {
  std::error_code error;
  if (fs::is_regular_file(folder, error) && (is_gguf(folder) || is_whisper_file(folder))) return folder;
  for (const fs::path& candidate : {folder, folder / "best"})
    if (fs::exists(candidate / "config.json", error) || fs::exists(candidate / "adapter_config.json", error))
      return candidate;
  return std::nullopt;
}

// owner/name in the cache of Hugging Face's programs: $HF_HOME/hub/models--owner--name/snapshots/REVISION.
std::optional<fs::path> in_hub_cache(const std::string& name) {
  const size_t slash = name.find('/');
  if (slash == std::string::npos || slash == 0 || name.find('/', slash + 1) != std::string::npos) return std::nullopt;
  const char *given = std::getenv("HF_HOME"), *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
  const fs::path hub = (given   ? fs::path(given)
                        : cache ? fs::path(cache) / "huggingface"
                                : fs::path(home ? home : "") / ".cache/huggingface") /
                       "hub" / ("models--" + name.substr(0, slash) + "--" + name.substr(slash + 1));
  std::string revision;
  std::ifstream(hub / "refs/main") >> revision;
  if (!revision.empty() && revision.find('/') == std::string::npos)
    if (auto found = model_in(hub / "snapshots" / revision)) return found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(hub / "snapshots", error))
    if (auto found = model_in(entry.path())) return found;
  return std::nullopt;
}

}  // namespace

std::vector<ShippedModel> shipped_models(const std::string& installed) {
  std::vector<ShippedModel> models;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(zoo_folder(installed), error))
    if (fs::exists(entry.path() / "config.json", error))
      models.push_back({entry.path().filename().string(), title_of(entry.path() / "README.md")});
  std::sort(models.begin(), models.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return models;
}

fs::path find_model(const std::string& name, const std::string& otherwise, const std::string& installed) {
  const fs::path zoo = zoo_folder(installed);
  if (name.empty() && !otherwise.empty()) {
    if (const auto shipped = model_in(zoo / otherwise)) return *shipped;
    throw Error(Error::not_found, "found no --model, and none ships as '{}': give -m FOLDER; {}", otherwise,
                models_at_hand(installed));
  }
  if (name.empty())
    throw Error(Error::not_found, "found no --model, expected the folder of one; {}", models_at_hand(installed));
  std::error_code error;
  if (const auto folder = model_in(name)) return *folder;
  if (fs::is_directory(name, error))
    throw Error(Error::not_found, "{}: found no config.json, expected the folder of a model", name);
  if (const auto shipped = model_in(zoo / name)) return *shipped;
  if (const auto cached = in_hub_cache(name)) return *cached;
  throw Error(
      Error::not_found,
      "found no model '{}', expected the folder of one, a .gguf file, one that ships, or owner/name in the cache of "
      "Hugging Face ($HF_HOME); {}",
      name, models_at_hand(installed));
}

}  // namespace fovea
