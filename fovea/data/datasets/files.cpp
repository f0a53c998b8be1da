#include "fovea/data/datasets/files.h"

#include <algorithm>
#include <filesystem>

#include "fovea/base/error.h"
#include "fovea/data/datasets/pictures.h"
#include "fovea/data/datasets/table.h"
#include "fovea/data/text/lines.h"

namespace fovea {
namespace {

constexpr int lines_to_look_at = 20;

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> endings) {
  return std::ranges::any_of(endings, [&](std::string_view ending) { return name.ends_with(ending); });
}

// train.en.txt.gz: the stem "train" and the ending "en".
std::pair<std::string, std::string> stem_and_ending(const std::string& path) {
  std::string_view name = data_name(path);
  if (name.ends_with(".txt")) name.remove_suffix(4);
  const size_t dot = name.rfind('.'), slash = name.rfind('/');
  if (dot == std::string_view::npos || (slash != std::string_view::npos && dot < slash)) return {std::string(name), ""};
  return {std::string(name.substr(0, dot)), std::string(name.substr(dot + 1))};
}

bool is_plain_text(const std::string& path) {
  if (path == "-" || is_json(path)) return false;
  if (ends_with_any(data_name(path), {".csv", ".tsv", ".tab", ".conll", ".zip", ".parquet"})) return false;
  Lines lines(path);
  std::string line;
  for (int i = 0; i < lines_to_look_at && lines.next(line); ++i) {
    if (line.find('\t') != std::string::npos) return false;
  }
  return true;
}

bool are_parallel(const std::string& one, const std::string& other) {
  const auto [stem, ending] = stem_and_ending(one);
  const auto [other_stem, other_ending] = stem_and_ending(other);
  return stem == other_stem && ending != other_ending && !ending.empty() && !other_ending.empty() &&
         is_plain_text(one) && is_plain_text(other);
}

}  // namespace

bool is_json(const std::string& path) { return ends_with_any(data_name(path), {".json", ".jsonl", ".ndjson"}); }

bool is_plain_document(const std::string& path, const Columns& columns) {
  return !is_json(path) && !ends_with_any(data_name(path), {".csv", ".tsv"}) && columns.source.empty();
}

void read_file(const std::string& path, ExampleKind kind, Dataset& into, const Columns& columns) {
  if (kind == ExampleKind::pictures) return read_pictures(path, into);
  if (path.ends_with(".parquet")) {
    throw Error(Error::unsupported,
                "{}: Parquet is not read; make CSV of it, as python3 -c \"import pandas; "
                "pandas.read_parquet('in.parquet').to_csv('out.csv', index=False)\"",
                path);
  }
  if (is_json(path)) return read_json(path, kind, into, columns);
  if (kind == ExampleKind::tagged) return read_conll(path, into, columns);
  if (kind == ExampleKind::documents && is_plain_document(path, columns)) return read_documents(path, into, columns);
  read_table(path, kind, into, columns);
}

std::vector<PlannedFile> plan_files(const std::vector<std::string>& paths) {
  std::vector<PlannedFile> plan;
  for (size_t i = 0; i < paths.size(); ++i) {
    const bool parallel = i + 1 < paths.size() && are_parallel(paths[i], paths[i + 1]);
    plan.push_back({paths[i], parallel ? paths[i + 1] : ""});
    if (parallel) ++i;
  }
  return plan;
}

void read_planned(const PlannedFile& file, ExampleKind kind, Dataset& into, const Columns& columns) {
  if (file.target.empty()) return read_file(file.path, kind, into, columns);
  require(kind == ExampleKind::pairs, "{}, {}: found parallel files, expected them for pairs only", file.path,
          file.target);
  read_parallel(file.path, file.target, into);
}

}  // namespace fovea
