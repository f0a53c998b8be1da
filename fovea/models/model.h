// A model is weights and a config; what it can do is said by the abilities that it has (abilities.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fovea/attention/place.h"
#include "fovea/nn/weights.h"

namespace fovea {

class Model {
 public:
  virtual ~Model() = default;
  virtual void weights(Weights&) = 0;
  virtual std::string_view family() const = 0;
  virtual std::string config() const = 0;  // as config.json has it
  virtual int64_t vocabulary() const = 0;  // entries that its tokenizer has to have

  // Every attention that it has, in the order in which they run; none if it has none.
  std::vector<Place> places() const {
    std::vector<Place> all;
    list_places(Places(all));
    return all;
  }

  // Of models that others train and store: whether it is one, so that its tokenizer may have fewer entries and its files more
  // tensors than it uses; and the path of the weight that a file calls by this name, "" for one that is of no use to it.
  virtual bool foreign() const { return false; }
  virtual std::string weight_path(const std::string& stored) const { return stored; }
  // Whether a weight is the model's knowledge of texts, or its head's, which is drawn anew when it is to learn something else; a bridge
  // between the two is drawn where a file has none.
  enum class Part { body, bridge, head };
  virtual Part part_of(const std::string& /*path*/) const { return Part::body; }
  // A file does not have the weight of this path. If the model can go on without it, it has it no more.
  virtual void do_without(const std::string& /*path*/) {}

 protected:
  virtual void list_places(const Places&) const {}
};

}  // namespace fovea
