#include "fovea/explain/states.h"

#include <algorithm>
#include <cmath>

#include "fovea/explain/profile.h"
#include "fovea/kernels/packed.h"

namespace fovea {

std::vector<double> LayerState::values() const {
  std::vector<double> all;
  for (const Tensor& call : calls) {
    const std::vector<double> some = call.values<double>();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

LayerStates::LayerStates(Model& model) {
  for_each_weight(model, [&](const std::string& path, const Weight& w, const Init&) {
    if (!w) return;
    const void* at = w.packed() ? static_cast<const void*>(w.packed()->data) : static_cast<const void*>(w->bytes());
    paths_.emplace(at, layer_of(path));
  });
}

void LayerStates::saw(const Work& w) {
  const std::lock_guard lock(mutex_);
  if (w.kind == Work::Kind::attention && w.output) return heads_.push_back(w.output->detach());
  const auto known = w.weight ? paths_.find(w.weight) : paths_.end();
  if (known == paths_.end()) return;
  // An embedding that is the output, too, is another layer there.
  std::string name = known->second;
  if (w.kind == Work::Kind::embedding) tables_.insert(w.weight);
  if (w.kind == Work::Kind::linear && tables_.contains(w.weight)) name += " as output";
  if (name == latest_) return;
  latest_ = std::move(name);
  if (!w.input) return;
  auto layer = std::find_if(layers_.begin(), layers_.end(), [&](const LayerState& s) { return s.layer == latest_; });
  if (layer == layers_.end()) layer = layers_.insert(layer, {latest_, {}});
  layer->calls.push_back(w.input->detach());
}

double cosine(const double* a, const double* b, size_t size) {
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < size; ++i) ab += a[i] * b[i], aa += a[i] * a[i], bb += b[i] * b[i];
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

}  // namespace fovea
