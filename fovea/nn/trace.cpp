#include "fovea/nn/trace.h"

#include "fovea/base/catalogue.h"

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

}  // namespace fovea
