// A module lists its weights once; initialising, loading, saving, counting and optimising are visitors of that list.
//
//   struct Block { Linear project; void weights(Weights& w) { w("project", project); w("scale", scale, {Init::ones}); } };
//   initialise(block, Random(1));   load(block, SafeTensors("model.safetensors").tensors());   count(block);
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/random.h"
#include "fovea/formats/safetensors.h"
#include "fovea/nn/weight.h"

namespace fovea {

// How a weight begins. Fan-in is the product of all axes but the first (weights are stored [outputs, inputs, …]).
struct Init {
  enum Kind { zeros, ones, normal, xavier, kaiming, uniform } kind = zeros;
  double scale = 1;       // normal: the deviation; uniform: the bound; xavier, kaiming: the gain
  int64_t zero_row = -1;  // a row that begins as zeros all the same, such as an embedding's padding
};

class Weights;

template <class M>
concept Module = requires(M m, Weights& w) {
  m.weights(w);
};

// Whoever visits the weights. A path such as "encoder.0.norm.weight" is made of the names on the way.
class Weights {
 public:
  virtual ~Weights() = default;

  void operator()(std::string_view name, Weight& weight, Init init) {
    visit(prefix_ + std::string(name), weight, init);
  }
  void operator()(std::string_view name, Tensor& numbers, Init init) {  // a weight that is always numbers
    Weight weight(numbers);
    (*this)(name, weight, init);
    numbers = *weight;
  }
  template <Module M>
  void operator()(std::string_view name, M& module) {
    size_t length = prefix_.size();
    prefix_ += std::string(name) + ".";
    module.weights(*this);
    prefix_.resize(length);
  }
  template <Module M>
  void operator()(std::string_view name, std::vector<M>& modules) {
    for (size_t i = 0; i < modules.size(); ++i) (*this)(std::string(name) + "." + std::to_string(i), modules[i]);
  }

 protected:
  virtual void visit(const std::string& path, Weight& weight, const Init& init) = 0;

 private:
  std::string prefix_;
};

// Calls f(path, weight, init) for each weight, in the order of the list.
using WeightFunction = std::function<void(const std::string& path, Weight& weight, const Init& init)>;
class EachWeight final : public Weights {
 public:
  explicit EachWeight(WeightFunction f) : f_(std::move(f)) {}

 protected:
  void visit(const std::string& path, Weight& weight, const Init& init) override { f_(path, weight, init); }

 private:
  WeightFunction f_;
};

template <Module M>
void for_each_weight(M& module, WeightFunction f) {
  EachWeight each(std::move(f));
  module.weights(each);
}

// f(path, numbers, init) for each weight of a module that learns; what had only its shape becomes zeros.
using NumbersFunction = std::function<void(const std::string& path, Tensor& numbers, const Init& init)>;
template <Module M>
void for_each_tensor(M& module, const NumbersFunction& f) {
  for_each_weight(module, [&](const std::string& path, Weight& w, const Init& init) { f(path, w.numbers(), init); });
}

// Fills one weight; its numbers depend on `random` alone.
void initialise(Tensor& weight, const Init& init, const Random& random);

// Each weight gets numbers of its own, from its path: adding a layer does not change the others.
template <Module M>
void initialise(M& module, const Random& random) {
  for_each_tensor(
      module, [&](const std::string& path, Tensor& w, const Init& init) { initialise(w, init, random.fork(path)); });
}

// One weight from a file's tensor: an Error if it is missing or the shapes differ; the type becomes that of the weight.
void load(Weight& weight, const NamedTensors& tensors, const std::string& path);
inline void load(Tensor& numbers, const NamedTensors& tensors, const std::string& path) {
  Weight weight(numbers);
  load(weight, tensors, path);
}

template <Module M>
void load(M& module, const NamedTensors& tensors) {
  for_each_weight(module, [&](const std::string& path, Weight& w, const Init&) { load(w, tensors, path); });
}

template <Module M>
NamedTensors save(M& module) {
  NamedTensors tensors;
  for_each_weight(module, [&](const std::string& path, Weight& w, const Init&) { tensors[path] = w.stored(); });
  return tensors;
}

template <Module M>
void require_gradients(M& module) {
  for_each_tensor(module, [](const std::string&, Tensor& w, const Init&) { w.require_gradient(); });
}

template <Module M>
int64_t count(M& module) {
  int64_t numbers = 0;
  for_each_weight(module, [&](const std::string&, Weight& w, const Init&) { numbers += w.elements(); });
  return numbers;
}

}  // namespace fovea
