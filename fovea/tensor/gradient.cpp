#include "fovea/tensor/gradient.h"

#include <unordered_map>
#include <utility>

#include "fovea/tensor/arithmetic.h"

namespace fovea {

// One recorded operation. It holds its inputs' slots, so a tape lives as long as a result of it.
struct Node {
  const char* name;
  std::vector<std::shared_ptr<GradientSlot>> inputs;  // null where no gradient is needed
  std::vector<Shape> input_shapes;
  std::function<Gradients(std::span<const Tensor>)> backward;
  std::vector<Tensor> gradients;  // of the results, added up while backward() runs

  ~Node();
};

// Where the gradient of one tensor goes: into the node that made it, or, for a leaf, into itself.
struct GradientSlot {
  std::shared_ptr<Node> node;
  int result = 0;
  Tensor gradient;
};

// A tape can be thousands of operations long: it is taken apart in a loop, since destructors calling each other would
// exhaust the stack.
Node::~Node() {
  backward = nullptr;
  std::vector<std::shared_ptr<GradientSlot>> pending = std::move(inputs);
  while (!pending.empty()) {
    std::shared_ptr<GradientSlot> slot = std::move(pending.back());
    pending.pop_back();
    if (!slot || slot.use_count() > 1 || !slot->node || slot->node.use_count() > 1) continue;
    Node& node = *slot->node;
    node.backward = nullptr;
    for (auto& input : node.inputs) pending.push_back(std::move(input));
    node.inputs.clear();
  }
}

class Tape final {
 public:
  static std::vector<Tensor> attach(const char* name, const std::vector<Tensor>& results,
                                    std::span<const Tensor> inputs,
                                    std::function<Gradients(std::span<const Tensor>)> backward) {
    auto node = std::make_shared<Node>();
    node->name = name;
    node->backward = std::move(backward);
    for (const Tensor& input : inputs) {
      node->inputs.push_back(input.slot_);
      node->input_shapes.push_back(input.shape());
    }
    node->gradients.resize(results.size());
    std::vector<Tensor> attached = results;
    for (size_t i = 0; i < attached.size(); ++i) {
      attached[i].slot_ = std::make_shared<GradientSlot>(GradientSlot{node, static_cast<int>(i), {}});
    }
    return attached;
  }

  static void run(const Tensor& root, const Tensor& seed) {
    require(root.slot_ != nullptr,
            "backward: the tensor depends on nothing that needs a gradient; call require_gradient()");
    require(seed.shape() == root.shape() && seed.dtype() == root.dtype(),
            "backward: found a seed {} {}, expected {} {}", name(seed.dtype()), seed.shape(), name(root.dtype()),
            root.shape());
    add(*root.slot_, seed);
    if (!root.slot_->node) return;
    for (const std::shared_ptr<Node>& node : order(root.slot_->node)) step(*node);
  }

 private:
  // A leaf's gradient is its own and contiguous, since an optimiser changes it in place; on the way to it, tensors may
  // share theirs.
  static void add(GradientSlot& slot, Tensor gradient) {
    Tensor& sum = slot.node ? slot.node->gradients[slot.result] : slot.gradient;
    const bool usable = slot.node || (gradient.owns_alone() && gradient.is_contiguous());
    if (!sum)
      sum = usable ? std::move(gradient) : gradient.clone();
    else if (sum.owns_alone() && sum.is_contiguous())
      add_into(sum, gradient);
    else
      sum = sum + gradient;
  }

  static void step(Node& node) {
    require(node.backward != nullptr, "backward: the tape through '{}' was used up by an earlier backward()",
            node.name);
    Gradients gradients = node.backward(node.gradients);
    require(gradients.size() == node.inputs.size(), "gradient of {}: found {} gradients, expected {}", node.name,
            gradients.size(), node.inputs.size());
    node.backward = nullptr;
    for (Tensor& g : node.gradients) g = {};
    for (size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i] || !node.inputs[i]) continue;
      require(gradients[i].shape() == node.input_shapes[i], "gradient of {}: found {}, expected {}", node.name,
              gradients[i].shape(), node.input_shapes[i]);
      add(*node.inputs[i], std::exchange(gradients[i], {}).detach());
    }
  }

  // The nodes under `root`, each before those it depends on.
  static std::vector<std::shared_ptr<Node>> order(const std::shared_ptr<Node>& root) {
    std::vector<std::shared_ptr<Node>> finished;
    std::unordered_map<Node*, size_t> next_input;
    std::vector<std::shared_ptr<Node>> path = {root};
    next_input[root.get()] = 0;
    while (!path.empty()) {
      std::shared_ptr<Node> node = path.back();
      size_t& next = next_input[node.get()];
      if (next == node->inputs.size()) {
        finished.push_back(node);
        path.pop_back();
        continue;
      }
      const std::shared_ptr<GradientSlot>& slot = node->inputs[next++];
      if (slot && slot->node && next_input.emplace(slot->node.get(), 0).second) path.push_back(slot->node);
    }
    return {finished.rbegin(), finished.rend()};
  }
};

bool any_needs_gradient(std::span<const Tensor> tensors) {
  for (const Tensor& t : tensors) {
    if (t.needs_gradient()) return true;
  }
  return false;
}

std::vector<Tensor> with_gradient(const char* name, const std::vector<Tensor>& results, std::vector<Tensor> inputs,
                                  std::function<Gradients(std::span<const Tensor>)> backward) {
  if (!any_needs_gradient(inputs)) return results;
  return Tape::attach(name, results, inputs, std::move(backward));
}

Tensor with_gradient(const char* name, const Tensor& result, std::vector<Tensor> inputs,
                     std::function<Gradients(const Tensor&)> backward) {
  if (!any_needs_gradient(inputs)) return result;
  auto of_span = [f = std::move(backward)](std::span<const Tensor> dy) { return f(dy[0]); };
  return Tape::attach(name, {result}, inputs, std::move(of_span))[0];
}

Tensor& Tensor::require_gradient() {
  require(dtype_ == DType::f32 || dtype_ == DType::f64, "require_gradient: found {}, expected F32 or F64",
          name(dtype_));
  slot_ = std::make_shared<GradientSlot>();
  return *this;
}

Tensor Tensor::detach() const {
  Tensor result = *this;
  result.slot_ = nullptr;
  return result;
}

Tensor Tensor::gradient() const { return slot_ ? slot_->gradient : Tensor(); }

void Tensor::clear_gradient() {
  if (slot_) slot_->gradient = {};
}

void Tensor::set_gradient(Tensor gradient) {
  require(slot_ != nullptr && !slot_->node, "set_gradient: the tensor is not a leaf that needs a gradient");
  slot_->gradient = std::move(gradient);
}

void Tensor::backward() const {
  require(elements() == 1, "backward: found a tensor {}, expected a single number (or give a seed)", shape_);
  backward(ones(shape_, dtype_));
}

void Tensor::backward(const Tensor& seed) const { Tape::run(*this, seed); }

}  // namespace fovea
