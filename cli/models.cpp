#include "cli/models.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "fovea/base/error.h"
#include "fovea/models/checkpoint.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

fs::path zoo() {
  if (const char* given = std::getenv("FOVEA_ZOO")) return given;
  std::error_code error;
  const fs::path installed = fs::read_symlink("/proc/self/exe", error).parent_path().parent_path() / "share/fovea/zoo";
  return fs::is_directory(installed, error) ? installed : fs::path(FOVEA_SOURCE_ZOO);
}

std::string title_of(const fs::path& card) {
  std::ifstream lines(card);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("# ")) return line.substr(2);
  return {};
}

std::string models_at_hand() {
  std::vector<std::string> names;
  for (const ShippedModel& model : shipped_models()) names.push_back(model.name);
  return names.empty() ? "there are no models that ship"
                       : fmt::format("those that ship are {}", fmt::join(names, ", "));
}

std::optional<fs::path> folder_of(const std::string& name) {
  std::error_code error;
  for (const fs::path& folder : {fs::path(name), zoo() / name})
    if (!name.empty() && fs::is_directory(folder, error)) return folder;
  return std::nullopt;
}

}  // namespace

std::vector<ShippedModel> shipped_models() {
  std::vector<ShippedModel> models;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(zoo(), error))
    if (fs::exists(entry.path() / "config.json", error))
      models.push_back({entry.path().filename().string(), title_of(entry.path() / "README.md")});
  std::sort(models.begin(), models.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return models;
}

fs::path find_model(const std::string& name) {
  if (const auto folder = folder_of(name)) return model_folder(*folder);
  throw Error(Error::not_found, "--model: found '{}', which is no folder, expected that of a model; {}", name,
              models_at_hand());
}

fs::path find_model(const std::string& given, const std::string& shipped) {
  if (!given.empty()) return find_model(given);
  if (const auto folder = folder_of((zoo() / shipped).string())) return model_folder(*folder);
  throw Error(Error::not_found, "found no --model, and none ships as '{}': give -m FOLDER; {}", shipped,
              models_at_hand());
}

std::optional<fs::path> peek_model(const CommandLine& line, const std::string& shipped) {
  try {
    return find_model(line.peek("model").value_or(""), shipped);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace fovea
