// A recording as a file: safetensors, whose metadata has one JSON under "fovea". Python's `safetensors` reads it as it is.
//
//   write_trace("seen.safetensors", record(*model, *tokenizer, text), {});
//   TraceFile("seen.safetensors").weight("decoder.2.cross", head, row, column);
//
// The JSON: {"format": 1, "model", "family", "precision", "text", "answer", "sequences": {name: {"text", "ids", "pieces", "spans":
// [[begin, end]], "probabilities", "alternatives": [[{"id", "piece", "probability"}]]}}, "places": [{"path", "kind", "heads": [numbers], "key_heads", "rows", "columns", "causal",
// "size": [rows, columns], "kept": [what of it is here]}]}. The tensors of a place, each below its path:
//
//   PATH.weights                                   [heads, rows, columns]                "whole"
//   PATH.row_numbers, PATH.row_weights             [rows], [heads, rows, columns]        "rows": chosen ones
//   PATH.top_weights, PATH.top_columns             [heads, rows, k]                      "top": the largest of each row
//   PATH.tiles.L.max, PATH.tiles.L.mean            [heads, ⌈rows/2ᴸ⌉, ⌈columns/2ᴸ⌉]      "tiles": squares of 2ᴸ × 2ᴸ cells, pooled
//   PATH.q, PATH.k, PATH.lse                       [heads, rows or columns, width]       "parts": w = exp(scale · q·k − lse)
//
// Under a name that ends in .npz the same tensors are written as NumPy has them, the JSON's bytes among them as "fovea".
//
// The mean is over the cells that there are, masked ones counting as 0. Of "parts" the place has its "scale" too, and what is
// behind a causal mask is 0.
#pragma once

#include <filesystem>

#include "fovea/explain/recording.h"

namespace fovea {

struct TraceOptions {
  // Everything, if the weights have no more numbers; otherwise tiles of at most `tiles` squares on a side and the largest of each
  // row, in memory proportional to rows + columns, and the parts. What a head becomes waits on the disk, in a file without a
  // name beside this one, so that no more than one is held; .npz is put together in memory.
  int64_t most_weights = int64_t{1} << 26;
  std::vector<int64_t> rows = {};  // only these, instead
  int64_t tiles = 1024, top = 16;
};
void write_trace(const std::filesystem::path&, const Recording&, const TraceOptions& = {});

// The fewest squares of 2ᴸ × 2ᴸ weights of which there are at most so many on a side: their level L.
int64_t level_of_tiles(const RecordedPlace&, int64_t most_on_a_side);

// What a file has, every size and name checked; an Error of kind corrupt otherwise.
class TraceFile final {
 public:
  explicit TraceFile(const std::filesystem::path&);

  struct Place {
    RecordedPlace recorded;  // with weights if they are whole, kept and pooled ones otherwise
    int64_t rows = 0, columns = 0;
    std::vector<std::string> kept;
    double scale = 1;
  };
  const Recording& recording() const { return recording_; }  // with the places that something is known of
  const std::vector<Place>& places() const { return places_; }
  const NamedTensors& tensors() const { return tensors_; }

  // One weight, from whatever the file has of its place: exactly if it is there or can be computed. An Error if it is not.
  double weight(const std::string& path, size_t head_number, int64_t row, int64_t column) const;

 private:
  const Place& at(const std::string& path) const;
  std::filesystem::path path_;
  Recording recording_;
  std::vector<Place> places_;
  NamedTensors tensors_;
};

}  // namespace fovea
