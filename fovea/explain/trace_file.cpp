#include "fovea/explain/trace_file.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/explain/recording_json.h"
#include "fovea/explain/window.h"
#include "fovea/formats/safetensors.h"

namespace fovea {
namespace {

// What a file has of an attention instead of its weights: what they are made of, if that is there.
class StoredAttention final : public KeptAttention {
 public:
  struct Stored {
    std::vector<int64_t> heads;  // their numbers
    int64_t queries = 0, keys = 0;
    Tensor q, k, lse;  // [heads, queries or keys, width], [heads, queries]; or nothing
    double scale = 1;
    bool causal = false;
  };
  StoredAttention(Stored stored, std::string where) : stored_(std::move(stored)), where_(std::move(where)) {}

  int64_t rows() const override { return 1; }
  int64_t heads() const override { return static_cast<int64_t>(stored_.heads.size()); }
  int64_t queries() const override { return stored_.queries; }
  int64_t keys() const override { return stored_.keys; }

  Tensor weights(int64_t row, int64_t head, Range queries, Range keys) const override {
    const Parts p = parts(row, head);
    if (!p.q) missing("the weights, nor what they are made of");
    return weights_of(p, queries, keys);
  }
  Parts parts(int64_t, int64_t head) const override {
    const auto found = std::find(stored_.heads.begin(), stored_.heads.end(), head);
    require(found != stored_.heads.end(), "{}: found no head {}", where_, head);
    if (!stored_.q) return {};
    const auto at = static_cast<int64_t>(found - stored_.heads.begin());
    return {stored_.q.select(0, at), stored_.k.select(0, at), stored_.lse.select(0, at), stored_.scale, stored_.causal};
  }
  Tensor brought(int64_t, int64_t, Range) const override { missing("the values"); }
  Tensor gradient(int64_t, int64_t, int64_t) const override { missing("gradients"); }

 private:
  [[noreturn]] void missing(const char* what) const {
    throw Error(Error::not_found, "{}: found tiles and the largest weights, but not {}", where_, what);
  }
  Stored stored_;
  std::string where_;
};

// "PATH.tiles.L.max" and mean; no tensors if a file has none.
PooledHeads stored_squares(const NamedTensors& tensors, const RecordedPlace& p, int64_t rows, int64_t columns) {
  const auto heads = static_cast<int64_t>(p.heads.size());
  for (int64_t level = 0; level <= 31; ++level) {
    const std::string name = fmt::format("{}.tiles.{}.", p.place.path, level);
    const auto largest = tensors.find(name + "max"), mean = tensors.find(name + "mean");
    if (largest == tensors.end() || mean == tensors.end()) continue;
    const int64_t side = int64_t{1} << level;
    const Shape shape = {heads, (rows + side - 1) / side, (columns + side - 1) / side};
    if (largest->second.shape() != shape || mean->second.shape() != shape)
      throw Error(Error::corrupt, "found '{}' {} and {}, expected {}", name, largest->second.shape().text(),
                  mean->second.shape().text(), shape.text());
    return {level, largest->second.to(DType::f32), mean->second.to(DType::f32)};
  }
  return {};
}

}  // namespace

TraceFile::TraceFile(const std::filesystem::path& path) : path_(path) {
  const SafeTensors file(path);
  const auto metadata = file.metadata().find("fovea");
  if (metadata == file.metadata().end())
    throw Error(Error::corrupt, "{}: found no \"fovea\" in the metadata, expected a trace that Fovea wrote",
                path.string());
  tensors_ = file.tensors();
  const TraceJson json = read_trace_json(metadata->second, path.string());
  recording_ = json.recording;
  for (const TraceJson::Place& p : json.places) {
    const auto heads = static_cast<int64_t>(p.heads.size());
    auto expect = [&](const std::string& name, const Shape& shape) {
      const auto found = tensors_.find(p.place.path + "." + name);
      if (found == tensors_.end() || found->second.shape() != shape)
        throw Error(Error::corrupt, "{}: found '{}.{}' {}, expected {}", path.string(), p.place.path, name,
                    found == tensors_.end() ? "missing" : found->second.shape().text(), shape.text());
      return found->second;
    };
    Place place = {{.place = p.place, .heads = p.heads}, p.rows, p.columns, p.kept, p.scale};
    StoredAttention::Stored stored = {p.heads, p.rows, p.columns, {}, {}, {}, p.scale, p.place.causal};
    for (const std::string& kept : p.kept) {
      if (kept == "whole") place.recorded.weights = expect("weights", {heads, p.rows, p.columns}).to(DType::f32);
      if (kept != "parts") continue;
      const auto found = tensors_.find(p.place.path + ".q");
      const int64_t width = found == tensors_.end() || found->second.rank() != 3 ? 0 : found->second.size(2);
      stored.q = expect("q", {heads, p.rows, width}).to(DType::f32);
      stored.k = expect("k", {heads, p.columns, width}).to(DType::f32);
      stored.lse = expect("lse", {heads, p.rows}).to(DType::f32);
    }
    const bool made = static_cast<bool>(stored.q);
    if (!place.recorded.weights) {
      place.recorded.kept = std::make_shared<StoredAttention>(std::move(stored), path.string() + ": " + p.place.path);
      place.recorded.pooled = stored_squares(tensors_, place.recorded, p.rows, p.columns);
    }
    if ((made || place.recorded.weights || place.recorded.pooled.largest) && heads > 0 && p.rows > 0 && p.columns > 0)
      recording_.places.push_back(place.recorded);
    places_.push_back(std::move(place));
  }
}

const TraceFile::Place& TraceFile::at(const std::string& path) const {
  for (const Place& p : places_)
    if (p.recorded.place.path == path) return p;
  throw Error(Error::not_found, "{}: found no place '{}'", path_.string(), path);
}

double TraceFile::weight(const std::string& path, size_t head, int64_t row, int64_t column) const {
  const Place& p = at(path);
  require(head < p.recorded.heads.size() && 0 <= row && row < p.rows && 0 <= column && column < p.columns,
          "{}: found head {}, row {}, column {}, expected less than {}, {}, {}", path, head, row, column,
          p.recorded.heads.size(), p.rows, p.columns);
  const auto number = static_cast<int64_t>(head);
  if (p.recorded.weights)
    return p.recorded.weights.select(0, number).select(0, row).values<double>()[static_cast<size_t>(column)];
  if (std::find(p.kept.begin(), p.kept.end(), "parts") == p.kept.end())
    throw Error(Error::not_found, "{}: found neither the weights of '{}' nor what they are made of", path_.string(),
                path);
  if (p.recorded.place.causal && column > row) return 0;
  const std::vector<double> q = tensors_.at(path + ".q").select(0, number).select(0, row).values<double>(),
                            k = tensors_.at(path + ".k").select(0, number).select(0, column).values<double>();
  const double score = std::inner_product(q.begin(), q.end(), k.begin(), 0.0) * p.scale;
  return std::exp(score - tensors_.at(path + ".lse").select(0, number).values<double>()[static_cast<size_t>(row)]);
}

}  // namespace fovea
