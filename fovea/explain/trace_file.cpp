#include "fovea/explain/trace_file.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "fovea/explain/recording_json.h"
#include "fovea/explain/window.h"
#include "fovea/formats/npy.h"
#include "fovea/formats/safetensors.h"
#include "fovea/tensor/index.h"

namespace fovea {
namespace {

using Json = nlohmann::ordered_json;
constexpr int64_t block_cells = int64_t{1} << 22;  // of weights that are in memory at a time

// f(row, its weights) for each row, computed a block at a time.
template <class F>
void for_each_block(const RecordedPlace& p, size_t number, F&& f) {
  const int64_t rows = std::max<int64_t>(1, block_cells / std::max<int64_t>(1, p.columns()));
  const KeptAttention::Parts parts = parts_of(p, number);
  for (int64_t begin = 0; begin < p.rows(); begin += rows) {
    const Range some = {begin, std::min(p.rows(), begin + rows)};
    const Tensor w = parts.q ? weights_of(parts, some, {}) : p.part(number, some, {});
    for (int64_t i = 0; i < w.size(0); ++i) f(begin + i, w.data<float>() + i * w.size(1));
  }
}

// Squares of rows that come one after another.
class Pooling final {
 public:
  Pooling(const RecordedPlace& p, int64_t most) : rows_(p.rows()), columns_(p.columns()) {
    require(most > 0, "tiles: found {} on a side, expected at least 1", most);
    while ((std::max(rows_, columns_) - 1) >> tiles_.level >= most) ++tiles_.level;
    const int64_t side = int64_t{1} << tiles_.level;
    down_ = (rows_ + side - 1) / side, across_ = (columns_ + side - 1) / side;
    tiles_.largest = zeros({down_, across_}), tiles_.mean = zeros({down_, across_});
    sums_.resize(static_cast<size_t>(down_ * across_));
  }

  void add(int64_t row, const float* w) {
    const int64_t at = (row >> tiles_.level) * across_, side = int64_t{1} << tiles_.level;
    for (int64_t tile = 0; tile < across_; ++tile) {
      float most = 0, sum = 0;
      for (int64_t j = tile * side; j < std::min(columns_, (tile + 1) * side); ++j)
        most = std::max(most, w[j]), sum += w[j];
      float& largest = tiles_.largest.data<float>()[at + tile];
      largest = std::max(largest, most), sums_[static_cast<size_t>(at + tile)] += sum;
    }
  }

  Tiles finish() {
    const int64_t side = int64_t{1} << tiles_.level;
    for (int64_t i = 0; i < down_; ++i) {
      for (int64_t j = 0; j < across_; ++j) {
        const int64_t cells = std::min(side, rows_ - i * side) * std::min(side, columns_ - j * side);
        tiles_.mean.data<float>()[i * across_ + j] =
            static_cast<float>(sums_[static_cast<size_t>(i * across_ + j)] / static_cast<double>(cells));
      }
    }
    return std::move(tiles_);
  }

 private:
  int64_t rows_, columns_, down_ = 0, across_ = 0;
  Tiles tiles_;
  std::vector<double> sums_;
};

// The largest weights of a row, falling, equal ones by rising column, go into their places.
void add_largest(Largest& best, int64_t row, const float* w, int64_t columns) {
  const int64_t k = best.weights.size(1);
  float* weights = best.weights.data<float>() + row * k;
  int64_t* places = best.columns.data<int64_t>() + row * k;
  for (int64_t j = 0; j < columns; ++j) {
    if (!(w[j] > weights[k - 1])) continue;
    int64_t at = k - 1;
    for (; at > 0 && w[j] > weights[at - 1]; --at) weights[at] = weights[at - 1], places[at] = places[at - 1];
    weights[at] = w[j], places[at] = j;
  }
}

Tensor stacked(const std::vector<Tensor>& each) {
  std::vector<Tensor> parts;
  for (const Tensor& t : each) parts.push_back(t.unsqueeze(0));
  return concat(parts, 0).contiguous();
}

struct Written {
  NamedTensors tensors;
  std::vector<std::string> kept;
  double scale = 1;
};

Written rows_of_place(const RecordedPlace& p, const std::vector<int64_t>& wanted) {
  std::vector<int64_t> rows;
  for (int64_t row : wanted)
    if (0 <= row && row < p.rows()) rows.push_back(row);
  std::vector<Tensor> heads;
  for (size_t i = 0; i < p.heads.size() && !rows.empty(); ++i) {
    std::vector<Tensor> parts;
    for (int64_t row : rows) parts.push_back(p.part(i, {row, row + 1}, {}));
    heads.push_back(concat(parts, 0));
  }
  if (heads.empty()) return {};
  const auto count = static_cast<int64_t>(rows.size());
  return {{{"row_numbers", tensor({count}, rows)}, {"row_weights", stacked(heads)}}, {"rows"}};
}

Written reduced(const RecordedPlace& p, const TraceOptions& o) {
  std::vector<Tensor> largest, means, top, columns, q, k, lse;
  Written w = {{}, {"top", "tiles"}};
  int64_t level = 0;
  for (size_t i = 0; i < p.heads.size(); ++i) {
    Pooling pooling(p, o.tiles);
    const int64_t count = std::min(o.top, p.columns());
    Largest best = {zeros({p.rows(), count}), full({p.rows(), count}, -1, DType::i64)};
    for_each_block(p, i, [&](int64_t row, const float* weights) {
      pooling.add(row, weights);
      add_largest(best, row, weights, p.columns());
    });
    const Tiles tiles = pooling.finish();
    largest.push_back(tiles.largest), means.push_back(tiles.mean), level = tiles.level;
    top.push_back(best.weights), columns.push_back(best.columns);
    const KeptAttention::Parts parts = parts_of(p, i);
    if (parts.q) q.push_back(parts.q), k.push_back(parts.k), lse.push_back(parts.lse), w.scale = parts.scale;
  }
  const std::string tiles = fmt::format("tiles.{}.", level);
  w.tensors = {{tiles + "max", stacked(largest)},
               {tiles + "mean", stacked(means)},
               {"top_weights", stacked(top)},
               {"top_columns", stacked(columns)}};
  if (q.size() == p.heads.size()) {
    w.tensors["q"] = stacked(q), w.tensors["k"] = stacked(k), w.tensors["lse"] = stacked(lse);
    w.kept.push_back("parts");
  }
  return w;
}

Written written(const RecordedPlace& p, const TraceOptions& o) {
  if (!o.rows.empty()) return rows_of_place(p, o.rows);
  const auto heads = static_cast<int64_t>(p.heads.size());
  if (heads == 0 || p.rows() == 0 || p.columns() == 0) return {};
  if (heads * p.rows() * p.columns() > o.most_weights) return reduced(p, o);
  std::vector<Tensor> each;
  for (size_t i = 0; i < p.heads.size() && !p.weights; ++i) each.push_back(p.part(i, {}, {}));
  return {{{"weights", p.weights ? p.weights.contiguous() : stacked(each)}}, {"whole"}};
}

}  // namespace

Tiles tiles_of(const RecordedPlace& p, size_t number, int64_t most) {
  Pooling pooling(p, most);
  for_each_block(p, number, [&](int64_t row, const float* w) { pooling.add(row, w); });
  return pooling.finish();
}

Largest largest_of(const RecordedPlace& p, size_t number, int64_t k) {
  require(0 < k && k <= p.columns(), "largest: found {}, expected 1 to {}", k, p.columns());
  Largest best = {zeros({p.rows(), k}), full({p.rows(), k}, -1, DType::i64)};
  for_each_block(p, number, [&](int64_t row, const float* w) { add_largest(best, row, w, p.columns()); });
  return best;
}

void write_trace(const std::filesystem::path& path, const Recording& seen, const TraceOptions& options) {
  require(options.top > 0 && options.tiles > 0, "trace: found top {} and tiles {}, expected at least 1 of each",
          options.top, options.tiles);
  NamedTensors tensors;
  Json json = to_json(seen);
  for (const RecordedPlace& p : seen.places) {
    Written w = written(p, options);
    for (auto& [name, t] : w.tensors) tensors[p.place.path + "." + name] = t;
    Json place = place_json(p);
    place["kept"] = w.kept;
    if (w.tensors.contains("q")) place["scale"] = w.scale;
    json["places"].push_back(std::move(place));
  }
  if (path.extension() != ".npz") return write_safetensors(path, tensors, {{"fovea", json.dump()}});
  const std::string text = json.dump();
  tensors["fovea"] = Tensor({static_cast<int64_t>(text.size())}, DType::i8);
  std::copy(text.begin(), text.end(), tensors["fovea"].data<int8_t>());
  write_npz(path, tensors);
}

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
