// The states that a model's layers are given, and what its heads put out, of any family: the layers are known by their weights, so
// that none has to be told.
//
//   LayerStates states(*model);
//   {
//     Watched watched(&states);
//     encoder.encode(source, {});
//   }
//   for (const LayerState& s : states.layers()) s.layer, s.state;                // "encoder.layer.0", [batch, tokens, width]
//
// The state of a layer is what its first product or norm reads: in a residual network the stream itself. Of a decoder that steps,
// and of work on several threads, the states of all calls stand one behind the other.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "fovea/models/model.h"
#include "fovea/tensor/work.h"

namespace fovea {

struct LayerState {
  std::string layer;
  std::vector<Tensor> calls;  // [..., width]

  std::vector<double> values() const;  // all of them, one behind the other
  int64_t width() const { return calls.empty() ? 0 : calls[0].size(-1); }
};

class LayerStates final : public Watcher {
 public:
  explicit LayerStates(Model&);

  void knows(const std::string&, const void*) override {}
  void saw(const Work&) override;

  const std::vector<LayerState>& layers() const { return layers_; }  // in the order in which they ran
  const std::vector<Tensor>& attention_outputs() const {
    return heads_;
  }  // [batch, queries, heads, width], as they ran

 private:
  std::mutex mutex_;
  std::map<const void*, std::string> paths_;
  std::set<const void*> tables_;
  std::string latest_;
  std::vector<LayerState> layers_;
  std::vector<Tensor> heads_;
};

// Σ a b / (|a| |b|); 0 if one of them is nothing.
double cosine(const double* a, const double* b, size_t size);

}  // namespace fovea
