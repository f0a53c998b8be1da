#include <algorithm>
#include <nlohmann/json.hpp>

#include "fovea/explain/recording_json.h"
#include "fovea/explain/trace_file.h"
#include "fovea/explain/window.h"
#include "fovea/formats/disk_tensors.h"
#include "fovea/formats/npy.h"
#include "fovea/tensor/index.h"

namespace fovea {
namespace {

using Json = nlohmann::ordered_json;
using Entries = std::map<std::string, DiskTensors::Entry>;

// What a file will have of a place: known before a weight is computed.
struct Planned {
  enum class Kind { nothing, whole, rows, reduced } kind = Kind::nothing;
  Entries tensors = {};  // below the place's path
  std::vector<std::string> kept = {};
  std::vector<int64_t> rows = {};  // chosen ones
  ReduceOptions reduction = {};
  bool parts = false;
  double scale = 1;

  std::string squares(const char* how) const { return fmt::format("tiles.{}.{}", reduction.level, how); }
};

Planned chosen_rows(const RecordedPlace& p, const std::vector<int64_t>& wanted) {
  Planned plan = {.kind = Planned::Kind::rows, .kept = {"rows"}};
  std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(plan.rows),
               [&](int64_t row) { return 0 <= row && row < p.rows(); });
  if (plan.rows.empty() || p.heads.empty()) return {};
  const auto heads = std::ssize(p.heads), count = std::ssize(plan.rows);
  plan.tensors = {{"row_numbers", {DType::i64, {count}}}, {"row_weights", {DType::f32, {heads, count, p.columns()}}}};
  return plan;
}

Planned reductions(const RecordedPlace& p, const TraceOptions& o) {
  Planned plan = {.kind = Planned::Kind::reduced,
                  .kept = {"top", "tiles"},
                  .reduction = {level_of_tiles(p, o.tiles), std::min(o.top, p.columns())},
                  .parts = true};
  int64_t width = 0;
  for (size_t i = 0; i < p.heads.size() && plan.parts; ++i) {
    const KeptAttention::Parts parts = parts_of(p, i);
    plan.parts = static_cast<bool>(parts.q);
    if (plan.parts) width = parts.q.size(1), plan.scale = parts.scale;
  }
  const int64_t heads = std::ssize(p.heads), side = int64_t{1} << plan.reduction.level;
  const Shape squares = {heads, (p.rows() + side - 1) / side, (p.columns() + side - 1) / side},
              top = {heads, p.rows(), plan.reduction.top};
  plan.tensors = {{plan.squares("max"), {DType::f32, squares}},
                  {plan.squares("mean"), {DType::f32, squares}},
                  {"top_weights", {DType::f32, top}},
                  {"top_columns", {DType::i64, top}}};
  if (!plan.parts) return plan;
  plan.kept.push_back("parts");
  plan.tensors["q"] = {DType::f32, {heads, p.rows(), width}};
  plan.tensors["k"] = {DType::f32, {heads, p.columns(), width}};
  plan.tensors["lse"] = {DType::f32, {heads, p.rows()}};
  return plan;
}

Planned planned(const RecordedPlace& p, const TraceOptions& o) {
  if (!o.rows.empty()) return chosen_rows(p, o.rows);
  const auto heads = std::ssize(p.heads);
  if (heads == 0 || p.rows() == 0 || p.columns() == 0) return {};
  if (heads * p.rows() * p.columns() > o.most_weights) return reductions(p, o);
  return {.kind = Planned::Kind::whole,
          .tensors = {{"weights", {DType::f32, {heads, p.rows(), p.columns()}}}},
          .kept = {"whole"}};
}

Tensor as_tensor(const Pooled& p, const std::vector<float>& numbers) { return tensor({p.rows, p.columns}, numbers); }

void write_head(DiskTensors& to, const RecordedPlace& p, const Planned& plan, size_t number) {
  const std::string path = p.place.path + ".";
  const auto put = [&](const std::string& name, const Tensor& head) {
    to.write(path + name, static_cast<int64_t>(number) * head.elements(), head);
  };
  if (plan.kind == Planned::Kind::whole) return put("weights", p.part(number, {}, {}));
  if (plan.kind == Planned::Kind::rows) {
    std::vector<Tensor> rows;
    for (int64_t row : plan.rows) rows.push_back(p.part(number, {row, row + 1}, {}));
    return put("row_weights", concat(rows, 0));
  }
  const Reduced seen = reduced(p, number, plan.reduction);
  put(plan.squares("max"), as_tensor(seen.squares, seen.squares.largest));
  put(plan.squares("mean"), as_tensor(seen.squares, seen.squares.mean));
  put("top_weights", seen.largest), put("top_columns", seen.columns);
  if (!plan.parts) return;
  const KeptAttention::Parts parts = parts_of(p, number);
  put("q", parts.q), put("k", parts.k), put("lse", parts.lse);
}

void write_places(DiskTensors& to, const Recording& seen, const std::vector<Planned>& plans) {
  for (size_t i = 0; i < plans.size(); ++i) {
    const RecordedPlace& p = seen.places[i];
    if (plans[i].kind == Planned::Kind::nothing) continue;
    if (plans[i].kind == Planned::Kind::rows)
      to.write(p.place.path + ".row_numbers", 0, tensor({std::ssize(plans[i].rows)}, plans[i].rows));
    for (size_t h = 0; h < p.heads.size(); ++h) write_head(to, p, plans[i], h);
  }
}

}  // namespace

int64_t level_of_tiles(const RecordedPlace& p, int64_t most) {
  require(most > 0, "tiles: found {} on a side, expected at least 1", most);
  int64_t level = 0;
  while ((std::max(p.rows(), p.columns()) - 1) >> level >= most) ++level;
  return level;
}

void write_trace(const std::filesystem::path& path, const Recording& seen, const TraceOptions& options) {
  require(options.top > 0 && options.tiles > 0, "trace: found top {} and tiles {}, expected at least 1 of each",
          options.top, options.tiles);
  Json json = to_json(seen);
  std::vector<Planned> plans;
  Entries entries;
  for (const RecordedPlace& p : seen.places) {
    plans.push_back(planned(p, options));
    for (const auto& [name, entry] : plans.back().tensors) entries[p.place.path + "." + name] = entry;
    Json place = place_json(p);
    place["kept"] = plans.back().kept;
    if (plans.back().parts) place["scale"] = plans.back().scale;
    json["places"].push_back(std::move(place));
  }
  const std::string text = json.dump();
  DiskTensors disk(path.parent_path(), entries);
  write_places(disk, seen, plans);
  NamedTensors all = disk.tensors();
  if (path.extension() != ".npz") return write_safetensors(path, all, {{"fovea", text}});
  Tensor& bytes = all["fovea"] = Tensor({std::ssize(text)}, DType::i8);
  std::copy(text.begin(), text.end(), bytes.data<int8_t>());
  write_npz(path, all);
}

}  // namespace fovea
