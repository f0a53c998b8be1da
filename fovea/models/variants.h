// For tests: small models of every family that the catalogue has.
//
//   for (const Variant& v : variants([](const Abilities& a) { return a.generates; })) v.make_as<Generator>()->logits(…);
#pragma once

#include <nlohmann/json.hpp>
#include <ostream>

#include "fovea/models/family.h"

namespace fovea {

struct Variant {
  std::string name;
  const Family* family;
  std::string config;

  Abilities abilities() const { return Abilities::of(*shaped()); }

  // Every weight random, biases too, and large enough that the outputs differ clearly. Vocabulary of 11: padding 0, start 1,
  // end 2, unknown 3.
  std::unique_ptr<Model> make() const {
    std::unique_ptr<Model> model = shaped();
    randomise(*model);
    return model;
  }
  std::unique_ptr<Model> shaped() const {  // weights are shapes alone
    const std::unique_ptr<ModelConfig> fields = family->config();
    from_json(config, *fields, name);
    tell(*fields, {.vocabulary = 11, .characters = 9, .labels = {"a", "b", "c"}});
    return fields->make();
  }

  template <class Ability>
  std::shared_ptr<const Ability> make_as() const {
    const std::shared_ptr<Model> model = make();
    return {model, &as<Ability>(*model)};
  }

  static void randomise(Model& model) {
    initialise(model, Random(7));
    for_each_tensor(model, [](const std::string& path, Tensor& w, const Init& init) {
      if (init.kind == Init::zeros) w.copy_from(normal(w.shape(), Random(8).fork(path), 0, 0.3));
    });
  }

  friend void PrintTo(const Variant& v, std::ostream* out) { *out << v.name; }
};

namespace detail {

// Each list of the config in turn stands for each of its items.
inline void expand(const Family& family, const nlohmann::ordered_json& config, const std::string& name,
                   std::vector<Variant>& into) {
  for (const auto& [key, value] : config.items()) {
    if (!value.is_array()) continue;
    for (const auto& item : value) {
      nlohmann::ordered_json chosen = config;
      chosen[key] = item;
      expand(family, chosen, name + "_" + (item.is_string() ? item.get<std::string>() : key + "_" + item.dump()), into);
    }
    return;
  }
  into.push_back({name, &family, config.dump()});
  std::replace(into.back().name.begin(), into.back().name.end(), '-', '_');
}

}  // namespace detail

inline std::vector<Variant> variants(bool (*wanted)(const Abilities&)) {
  std::vector<Variant> all;
  for (const Family* family : catalogue<Family>()) {
    int number = 0;
    for (const auto& config : nlohmann::ordered_json::parse(family->variants))
      detail::expand(*family, config, std::string(family->name) + "_" + std::to_string(number++), all);
  }
  std::erase_if(all, [&](const Variant& v) { return !wanted(v.abilities()); });
  return all;
}

// Those that write a text from another one.
inline std::vector<Variant> writers() {
  return variants([](const Abilities& a) { return a.encodes && a.generates; });
}

inline std::vector<Variant> first_of_each_family(const std::vector<Variant>& all) {
  std::vector<Variant> firsts;
  for (const Variant& v : all)
    if (firsts.empty() || firsts.back().family != v.family) firsts.push_back(v);
  return firsts;
}

}  // namespace fovea
