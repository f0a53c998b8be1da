#include "fovea/nn/recurrent.h"

#include <cmath>

#include "fovea/tensor/gradient.h"
#include "fovea/tensor/index.h"

namespace fovea {

template <RecurrentCell cell>
RecurrentLayers<cell>::RecurrentLayers(const Config& c) : config_(c), dropout_(c.dropout) {
  constexpr int64_t most_width = int64_t{1} << 31, most_layers = 10000;
  require(0 < c.inputs && c.inputs <= most_width && 0 < c.width && c.width <= most_width,
          "recurrent layers: found {} inputs and width {}, expected 1 to {} of each", c.inputs, c.width, most_width);
  require(0 < c.layers && c.layers <= most_layers, "recurrent layers: found {} layers, expected 1 to {}", c.layers,
          most_layers);
  const int64_t columns = (cell == RecurrentCell::lstm ? 4 : 3) * c.width;
  for (int64_t i = 0; i < c.layers * directions(); ++i) {
    const int64_t inputs = i < directions() ? c.inputs : directions() * c.width;
    cells_.push_back({.input = Weight({columns, inputs}, Weight::Use::product)});
    // A GRU's candidate takes U h apart from W x.
    cells_.back().hidden = cell == RecurrentCell::lstm ? Weight({columns, c.width}, Weight::Use::product)
                                                       : Weight({columns, c.width}, {2 * c.width, c.width});
    if (c.bias) cells_.back().input_bias = Weight({columns}), cells_.back().hidden_bias = Weight({columns});
  }
}

template <RecurrentCell cell>
void RecurrentLayers<cell>::weights(Weights& w) {
  const Init init = {Init::uniform, 1 / std::sqrt(static_cast<double>(config_.width))};
  for (size_t i = 0; i < cells_.size(); ++i) {
    const size_t each = static_cast<size_t>(directions());
    const std::string suffix = "_l" + std::to_string(i / each) + (i % each == 1 ? "_reverse" : "");
    w("weight_ih" + suffix, cells_[i].input, init);
    w("weight_hh" + suffix, cells_[i].hidden, init);
    if (!config_.bias) continue;
    w("bias_ih" + suffix, cells_[i].input_bias, init);
    w("bias_hh" + suffix, cells_[i].hidden_bias, init);
  }
}

template <RecurrentCell cell>
std::vector<PackedCell> RecurrentLayers<cell>::pack() const {
  std::vector<PackedCell> packed;
  for (const Cell& w : cells_) {
    if (w.input.packed())
      packed.emplace_back(cell, PackedCell::Matrices{w.input.packed(), w.hidden.packed(), w.hidden.packed(1)},
                          *w.input_bias, *w.hidden_bias);
    else
      packed.emplace_back(cell, w.numbers());
  }
  return packed;
}

template <RecurrentCell cell>
RecurrentOutput RecurrentLayers<cell>::operator()(const Tensor& x, const Context& context,
                                                  const RecurrentOptions& options) const {
  const int64_t count = static_cast<int64_t>(cells_.size());
  for (const Tensor* state : {&options.first.hidden, &options.first.cell}) {
    require(!*state || (state->rank() == 3 && state->size(0) == count),
            "recurrent layers: found a first state {}, expected [{}, batch, {}]", state->shape(), count, config_.width);
  }
  require(!options.packed || options.packed->size() == cells_.size(),
          "recurrent layers: found {} packed cells, expected {}", options.packed ? options.packed->size() : 0, count);
  // Weights that were packed when they were loaded are read where they lie.
  // A gradient goes back through the numbers, which are unpacked for it.
  const bool stored = cells_[0].input.packed() != nullptr;
  const bool back = stored && needs_gradient(x, options.first.hidden, options.first.cell);
  const bool bound = stored && !back;
  const std::vector<PackedCell> packed = bound && !options.packed ? pack() : std::vector<PackedCell>();
  const std::vector<PackedCell>* used = back ? nullptr : options.packed ? options.packed : bound ? &packed : nullptr;
  auto first = [](const Tensor& state, int64_t i) { return state ? state.select(0, i) : Tensor(); };
  std::vector<Tensor> hidden, cells;
  Tensor y = x;
  for (int64_t layer = 0; layer < config_.layers; ++layer) {
    if (layer > 0) y = dropout_(y, context.at("layer " + std::to_string(layer)));
    std::vector<Tensor> outputs;
    for (int64_t direction = 0; direction < directions(); ++direction) {
      const int64_t i = layer * directions() + direction;
      RecurrentResult result = recurrent(cell, y, bound ? CellWeights() : cells_[static_cast<size_t>(i)].numbers(),
                                         {.first_hidden = first(options.first.hidden, i),
                                          .first_cell = first(options.first.cell, i),
                                          .lengths = options.lengths,
                                          .reverse = direction == 1,
                                          .packed = used ? &(*used)[static_cast<size_t>(i)] : nullptr});
      outputs.push_back(result.outputs);
      hidden.push_back(result.last_hidden);
      if (result.last_cell) cells.push_back(result.last_cell);
    }
    y = directions() == 1 ? outputs[0] : concat(outputs, -1);
  }
  return {y, {stack(hidden, 0), cells.empty() ? Tensor() : stack(cells, 0)}};
}

template class RecurrentLayers<RecurrentCell::lstm>;
template class RecurrentLayers<RecurrentCell::gru>;

}  // namespace fovea
