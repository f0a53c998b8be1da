#include "fovea/explain/looked.h"

#include "fovea/explain/entered.h"

namespace fovea {

Looked::Looked(const Question& question, const Options& options) : trace_(Probe{.keep = true}) {
  trace_.places = options.places;
  if (!options.gradient) {
    question.odds({.trace = &trace_});
    return;
  }
  Entered entered(question.sequence());
  const Tensor odds = question.odds({.trace = &trace_, .entrance = &entered});
  entered.require_way_back(odds);
  odds.backward(full(odds.shape(), question.slope_at(odds.item())));
}

Looked::Run Looked::run_of(const std::string& place, int64_t row) const {
  const auto found = trace_.results().find(place);
  if (found == trace_.results().end()) throw Error(Error::unsupported, "the attention {} did not run", place);
  for (const ProbeResult& result : found->second) {
    if (!result.kept && !result.weights)
      throw Error(Error::unsupported, "the attention {} does not keep what it did", place);
    if (row < rows_in(result)) return {result, row};
    row -= rows_in(result);
  }
  throw Error(Error::unsupported, "the attention {} has no row for the answer", place);
}

int64_t Looked::heads(const std::string& place) const {
  const ProbeResult& r = run_of(place, 0).result;
  return r.kept ? r.kept->heads() : r.weights.size(1);
}

Tensor Looked::rows(const std::string& place, int64_t head, Range range) const {
  const auto [r, row] = run_of(place, range.begin);
  const Range rows = {row, row + range.end - range.begin};
  if (r.kept) return r.kept->weights(0, head, rows, {});
  return r.weights.select(0, 0).select(0, head).slice(0, rows.begin, rows.end).contiguous();
}

std::vector<double> Looked::weights(const std::string& place, int64_t head, int64_t row) const {
  return rows(place, head, {row, row + 1}).values<double>();
}

std::vector<double> Looked::gradient(const std::string& place, int64_t head, int64_t row) const {
  const auto [r, at] = run_of(place, row);
  const Tensor g = r.kept ? r.kept->gradient(0, head, at) : Tensor();
  if (!g) throw Error(Error::unsupported, "no gradient comes back to the weights of {}", place);
  return g.values<double>();
}

Tensor Looked::brought(const std::string& place, int64_t head, int64_t row) const {
  const ProbeResult& r = run_of(place, row).result;
  if (!r.kept) throw Error(Error::unsupported, "the attention {} does not keep its values", place);
  return r.kept->brought(0, head, {});
}

}  // namespace fovea
