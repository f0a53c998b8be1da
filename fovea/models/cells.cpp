#include "fovea/models/cells.h"

#include "fovea/tensor/index.h"

namespace fovea {
namespace {

std::variant<Lstm, Gru> made(const std::string& cell, const Lstm::Config& c) {
  if (cell == "lstm") return Lstm(c);
  require(cell == "gru", "recurrent cells: found '{}', expected lstm or gru", cell);
  return Gru({c.inputs, c.width, c.layers, c.bidirectional, c.dropout, c.bias});
}

}  // namespace

Cells::Cells(const std::string& cell, const Lstm::Config& c) : layers_(made(cell, c)) {}

RecurrentOutput Cells::operator()(const Tensor& x, const Context& c, const RecurrentOptions& options) const {
  return std::visit([&](const auto& layers) { return layers(x, c, options); }, layers_);
}

void Cells::weights(Weights& w) {
  std::visit([&](auto& layers) { layers.weights(w); }, layers_);
}

std::vector<PackedCell> Cells::pack() const {
  return std::visit([](const auto& layers) { return layers.pack(); }, layers_);
}

Tensor top_states(const Tensor& states, int64_t directions) {
  const int64_t count = states.size(0);
  if (directions == 1) return states.select(0, count - 1);
  return concat({states.select(0, count - 2), states.select(0, count - 1)}, -1);
}

Tensor by_layer(const Tensor& x, int64_t layers) {
  return x.reshape({x.size(0), layers, x.size(1) / layers}).transpose(0, 1).contiguous();
}

RecurrentState picked(const RecurrentState& s, const Tensor& order) {
  auto pick = [&](const Tensor& x) { return x ? rows(x.transpose(0, 1), order).transpose(0, 1).contiguous() : x; };
  return {pick(s.hidden), pick(s.cell)};
}

RecurrentState joined(const RecurrentState& s, const RecurrentState& behind) {
  return {concat({s.hidden, behind.hidden}, 1), s.cell ? concat({s.cell, behind.cell}, 1) : s.cell};
}

}  // namespace fovea
