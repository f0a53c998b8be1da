#include "fovea/tensor/gradient.h"

#include <utility>

#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/work.h"

namespace fovea {

// One recorded operation. It holds its inputs' slots, so a tape lives as long as a result of it.
struct Node {
  struct Input {
    std::shared_ptr<GradientSlot> slot;  // null where no gradient is needed
    Shape shape;
  };

  const char* name;
  std::vector<Input> inputs;
  Backward backward;
  size_t results = 1;
  std::vector<Tensor> gradients;  // of the results, added up while backward() runs
  size_t next_input = 0;          // where the walk that puts the nodes in order stands
  bool reached = false;

  ~Node();
};

// Where the gradient of one tensor goes: into the node that made it, or, for a leaf, into itself.
struct GradientSlot {
  std::shared_ptr<Node> node;
  size_t result = 0;
  Tensor gradient;
};

// A tape can be thousands of operations long: it is taken apart in a loop, since destructors calling each other would
// exhaust the stack.
Node::~Node() {
  backward = nullptr;
  std::vector<Input> pending = std::move(inputs);
  while (!pending.empty()) {
    std::shared_ptr<GradientSlot> slot = std::move(pending.back().slot);
    pending.pop_back();
    if (!slot || slot.use_count() > 1 || !slot->node || slot->node.use_count() > 1) continue;
    Node& node = *slot->node;
    node.backward = nullptr;
    for (Input& input : node.inputs) pending.push_back(std::move(input));
    node.inputs.clear();
  }
}

class Tape final {
 public:
  static std::shared_ptr<Node> record(const char* name, std::span<const Tensor> inputs, Backward backward) {
    auto node = std::make_shared<Node>();
    node->name = name;
    node->backward = std::move(backward);
    node->inputs.reserve(inputs.size());
    for (const Tensor& input : inputs) node->inputs.push_back({input.slot_, input.shape()});
    return node;
  }

  static void attach(Tensor& tensor, std::shared_ptr<Node> node, size_t result) {
    tensor.slot_ = std::make_shared<GradientSlot>();
    tensor.slot_->node = std::move(node);
    tensor.slot_->result = result;
  }

  static void run(const Tensor& root, const Tensor& seed) {
    require(root.slot_ != nullptr,
            "backward: the tensor depends on nothing that needs a gradient; call require_gradient()");
    require(seed.shape() == root.shape() && seed.dtype() == root.dtype(),
            "backward: found a seed {} {}, expected {} {}", name(seed.dtype()), seed.shape(), name(root.dtype()),
            root.shape());
    add(*root.slot_, seed);
    if (!root.slot_->node) return;
    const std::vector<std::shared_ptr<Node>> nodes = order(root.slot_->node);
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) step(**node);
  }

 private:
  // A leaf's gradient is its own and contiguous, since an optimiser changes it in place; on the way to it, tensors may
  // share theirs.
  static void add(GradientSlot& slot, Tensor gradient) {
    if (slot.node && slot.node->gradients.empty()) slot.node->gradients.resize(slot.node->results);
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
    if (node.gradients.empty()) return;  // nothing came back to it
    Gradients gradients = node.backward(node.gradients);
    require(gradients.size() == node.inputs.size(), "gradient of {}: found {} gradients, expected {}", node.name,
            gradients.size(), node.inputs.size());
    node.backward = nullptr;
    node.gradients.clear();
    for (size_t i = 0; i < gradients.size(); ++i) {
      const Node::Input& input = node.inputs[i];
      if (!gradients[i] || !input.slot) continue;
      require(gradients[i].shape() == input.shape, "gradient of {}: found {}, expected {}", node.name,
              gradients[i].shape(), input.shape);
      Tensor own = std::exchange(gradients[i], {});
      own = own.detach();  // the one handle, or a leaf would have to copy it
      add(*input.slot, std::move(own));
    }
  }

  // The nodes under `root`, each after those it depends on.
  static std::vector<std::shared_ptr<Node>> order(const std::shared_ptr<Node>& root) {
    std::vector<std::shared_ptr<Node>> finished, path = {root};
    root->reached = true;
    while (!path.empty()) {
      Node& node = *path.back();
      if (node.next_input == node.inputs.size()) {
        finished.push_back(std::move(path.back()));
        path.pop_back();
        continue;
      }
      const std::shared_ptr<GradientSlot>& slot = node.inputs[node.next_input++].slot;
      if (slot && slot->node && !std::exchange(slot->node->reached, true)) path.push_back(slot->node);
    }
    for (const std::shared_ptr<Node>& node : finished) node->reached = false, node->next_input = 0;
    return finished;
  }
};

bool any_needs_gradient(std::span<const Tensor> tensors) {
  for (const Tensor& t : tensors) {
    if (t.needs_gradient()) return true;
  }
  return false;
}

std::vector<Tensor> with_gradient(const char* name, std::vector<Tensor> results, std::span<const Tensor> inputs,
                                  Backward backward) {
  if (!any_needs_gradient(inputs)) return results;
  const std::shared_ptr<Node> node = Tape::record(name, inputs, std::move(backward));
  node->results = results.size();
  for (size_t i = 0; i < results.size(); ++i) Tape::attach(results[i], node, i);
  return results;
}

Tensor with_gradient_of_one(const char* name, Tensor result, std::span<const Tensor> inputs, Backward backward) {
  if (any_needs_gradient(inputs)) Tape::attach(result, Tape::record(name, inputs, std::move(backward)), 0);
  return result;
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

void Tensor::backward(const Tensor& seed) const {
  TimedWork timed(Work::Kind::backward);
  Tape::run(*this, seed);
  if (timed) timed.done({});
}

}  // namespace fovea
