// A model is weights and a config; a family makes a model from its config. One file each in families/.
//
//   std::unique_ptr<Model> model = find<Family>("transformer").make(text, "config.json");
//   initialise(*model, Random(1));   model->config();  // the JSON that makes it again
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "fovea/base/catalogue.h"
#include "fovea/base/fields.h"
#include "fovea/nn/weights.h"

namespace fovea {

class Model {
 public:
  virtual ~Model() = default;
  virtual void weights(Weights&) = 0;
  virtual std::string_view family() const = 0;
  virtual std::string config() const = 0;  // as config.json has it
};

struct Family {
  static constexpr std::string_view noun = "family of models";
  std::string_view name;
  std::string_view help;
  std::unique_ptr<Model> (*make)(std::string_view json, std::string_view where);  // the weights are zeros
};

// A config beside the name of its family, as config.json has them.
template <class Config>
struct FamilyConfig {
  std::string model_type;
  Config config = {};

  void fields(Fields& f) {
    f("model_type", model_type, "family of the model");
    config.fields(f);
  }
};

template <class M>
std::unique_ptr<Model> make_from_json(std::string_view json, std::string_view where) {
  FamilyConfig<typename M::Config> read;
  from_json(json, read, where);
  return std::make_unique<M>(read.config);
}

}  // namespace fovea
