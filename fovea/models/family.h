// A family makes a model from its config. One file each in families/: adding it is all there is to adding a family.
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
#include "fovea/models/abilities.h"

namespace fovea {

// What the models of a family can do: each of them, or each head of a family that has several. Of one model: what it does.
struct Abilities {
  bool encodes = false, generates = false, labels_texts = false, labels_words = false;
  bool labels_tokens = false, fills_gaps = false, finds_answers = false;
  bool encodes_pictures = false, labels_pictures = false;
  bool listens = false;

  template <class M>
  static constexpr Abilities of() {
    return {std::is_base_of_v<Encoder, M>,         std::is_base_of_v<Generator, M>,
            std::is_base_of_v<TextLabeller, M>,    std::is_base_of_v<WordLabeller, M>,
            std::is_base_of_v<TokenLabeller, M>,   std::is_base_of_v<GapFiller, M>,
            std::is_base_of_v<AnswerFinder, M>,    std::is_base_of_v<PictureEncoder, M>,
            std::is_base_of_v<PictureLabeller, M>, std::is_base_of_v<Listener, M>};
  }
  static Abilities of(const Model& model) {
    return {can<Encoder>(model) != nullptr,         can<Generator>(model) != nullptr,
            can<TextLabeller>(model) != nullptr,    can<WordLabeller>(model) != nullptr,
            can<TokenLabeller>(model) != nullptr,   can<GapFiller>(model) != nullptr,
            can<AnswerFinder>(model) != nullptr,    can<PictureEncoder>(model) != nullptr,
            can<PictureLabeller>(model) != nullptr, can<Listener>(model) != nullptr};
  }
  bool writes_on() const {  // a language model: it goes on with a text
    return generates && !encodes && !listens && !encodes_pictures;
  }
  bool operator==(const Abilities&) const = default;
};

// What only the data tells. A config takes what it has fields for.
struct DataFacts {
  Abilities needs =
      {};  // what the task needs of the model, so that a family with several heads takes the one that does it
  int64_t vocabulary = 0, characters = 0;
  std::vector<std::string> labels = {};
  std::string labelling = "one";
  double mean = 0, deviation = 1;
  bool pairs = false;
  SpecialIds special = {};

  void fields(Fields& f);
};

// What a model of a family is made from. Fields that the data tells (Fields::from_data) are chosen by nobody.
class ModelConfig {
 public:
  virtual ~ModelConfig() = default;
  virtual void fields(Fields&) = 0;
  virtual std::unique_ptr<Model> make() const = 0;  // the weights are shapes
  // The same model for what the task needs: another head, with the labels of the data. Nothing if there are no heads to choose from.
  virtual void fit(const DataFacts&) {}
};
void tell(ModelConfig&, DataFacts);

struct Family {
  static constexpr std::string_view noun = "family of models";
  std::string_view name;
  std::string_view help;
  std::unique_ptr<ModelConfig> (*config)();  // as it is if nothing else is said
  Abilities abilities;
  std::string_view variants =
      "[{}]";  // JSON: small configs that the catalogue's tests run; a list stands for each of its items
  std::string_view training = "{}";  // JSON: the fields of a recipe with which a training of it begins
};

// A config beside the name of its family, as config.json has them.
template <class Config>
struct FamilyConfig {
  std::string model_type;
  Config& config;

  void fields(Fields& f) {
    f("model_type", model_type, "family of the model");
    config.fields(f);
  }
};

template <class Config>
std::string family_json(std::string_view family, Config config) {
  FamilyConfig<Config> both = {std::string(family), config};
  return to_json(both);
}

// Keys of config.json that others write and that change nothing of what is computed here.
void pass_over_foreign(Fields&);

// Errors that name the model's field: a value that is none of the known ones (and what is nearest), a size below 1 or beyond 2³¹, more layers
// than any model has, a share outside [0, 1), fewer labels than `least` or the same one twice.
void check_choice(std::string_view model, std::string_view field, const std::string& found,
                  const std::vector<std::string>& known);
void check_size(std::string_view model, std::string_view field, int64_t found);
void check_layers(std::string_view model, std::string_view field, int64_t found);
void check_share(std::string_view model, std::string_view field, double found);
void check_labels(std::string_view model, const std::vector<std::string>& labels, size_t least = 2);

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

template <class M>
constexpr Family family_of(std::string_view name, std::string_view help, std::string_view variants,
                           std::string_view training = "{}") {
  return {name, help, config_of<M>, Abilities::of<M>(), variants, training};
}

}  // namespace fovea
