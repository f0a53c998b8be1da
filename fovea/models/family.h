// A model is weights and a config; a family makes a model from its config. One file each in families/.
//
//   std::unique_ptr<ModelConfig> config = find<Family>("transformer").config();
//   from_json(text, *config, "config.json");   std::unique_ptr<Model> model = config->make();
//   initialise(*model, Random(1));   model->config();  // the JSON that makes it again
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/catalogue.h"
#include "fovea/base/error.h"
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

// What a model of a family is made from.
class ModelConfig {
 public:
  virtual ~ModelConfig() = default;
  virtual void fields(Fields&) = 0;
  virtual std::unique_ptr<Model> make() const = 0;  // the weights are zeros
};

struct Family {
  static constexpr std::string_view noun = "family of models";
  std::string_view name;
  std::string_view help;
  std::unique_ptr<ModelConfig> (*config)();  // as it is if nothing else is said
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

// Errors that name the model's field: a value that is none of the known ones (and what is nearest), a size below 1, a share
// outside [0, 1), fewer than two labels or the same one twice.
void check_choice(std::string_view model, std::string_view field, const std::string& found,
                  const std::vector<std::string>& known);
void check_size(std::string_view model, std::string_view field, int64_t found);
void check_share(std::string_view model, std::string_view field, double found);
void check_labels(std::string_view model, const std::vector<std::string>& labels);

template <class M>
class ConfigOf final : public ModelConfig {
 public:
  void fields(Fields& f) override { config_.fields(f); }
  std::unique_ptr<Model> make() const override { return std::make_unique<M>(config_); }

 private:
  typename M::Config config_;
};

template <class M>
std::unique_ptr<ModelConfig> config_of() {
  return std::make_unique<ConfigOf<M>>();
}

// The same model by what it can do; an Error if it cannot.
template <class M>
std::unique_ptr<M> model_as(std::unique_ptr<Model> model, std::string_view where) {
  M* wanted = dynamic_cast<M*>(model.get());
  if (!wanted)
    throw Error(Error::invalid, "{}: found a model of family '{}', which does not do this", where, model->family());
  model.release();
  return std::unique_ptr<M>(wanted);
}

}  // namespace fovea
