#include "fovea/nn/trace.h"

#include "fovea/base/catalogue.h"
#include "fovea/tensor/index.h"

namespace fovea {

const Probe* Trace::probe_for(const std::string& place) const {
  bool wanted = places.empty();
  for (const std::string& p : places) wanted = wanted || place == p || place.starts_with(p + ".");
  return wanted ? &probe_ : nullptr;
}

const ProbeResult& Trace::operator[](const std::string& place) const {
  auto found = results_.find(place);
  if (found != results_.end()) return found->second.back();
  std::vector<std::string> known;
  for (const auto& [name, results] : results_) known.push_back(name);
  throw_unknown("place in the trace", place, known);
}

Tensor joined_weights(const std::vector<ProbeResult>& runs) {
  std::vector<Tensor> rows;
  for (const ProbeResult& run : runs) rows.push_back(run.weights);
  return rows.size() == 1 ? rows[0].contiguous() : concat(rows, 2).contiguous();
}

}  // namespace fovea
