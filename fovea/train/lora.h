// Low-rank adaptation of a model that was trained before (LoRA: Hu et al. 2022): its weights stay, small additions learn.
//
//   const Lora lora({.rank = 8, .targets = {"query", "value"}}, model, {"classifier.weight"}, Random(seed));
//   lora.weights(model, visitor);   lora.save(folder, model, "bert-base");
#pragma once

#include <set>
#include <string>
#include <vector>

#include "fovea/base/fields.h"
#include "fovea/models/model.h"
#include "fovea/nn/adapter.h"

namespace fovea {

struct LoraConfig {
  int64_t rank = 0;  // 0: every weight learns, without additions
  double alpha = 0, dropout = 0;
  std::vector<std::string> targets = {};

  void fields(Fields& f) {
    f("lora", rank,
      "learn additions of this rank beside the weights of --from, which stay as they are; 0: the weights themselves");
    f("lora_alpha", alpha, "what the additions count: alpha / rank; 0: twice the rank");
    f("lora_targets", targets,
      "which matrices get one, by the ends of their names as PEFT has them; all-linear: each; none named: queries and "
      "values");
    f("lora_dropout", dropout, "share of what the additions read that is dropped in training");
  }
};

class Lora final {
 public:
  // Each target gets its addition; `whole` are the paths of weights that learn themselves, those of a head. An Error if a target names no
  // matrix, or if the rank is larger than one of them allows.
  Lora(const LoraConfig&, Model&, std::set<std::string> whole, const Random&);

  void weights(Model&, Weights&) const;          // what learns
  void begin_step(Model&, const Random&) const;  // what is dropped until end_step() comes from this
  void end_step(Model&) const;
  void save(const std::filesystem::path& folder, Model&, const std::string& base) const;  // as PEFT stores it
  int64_t numbers() const { return numbers_; }                                            // that learn
  int64_t matrices() const { return matrices_; }

 private:
  LoraConfig config_;
  std::vector<std::string> targets_;
  std::set<std::string> whole_;
  int64_t numbers_ = 0, matrices_ = 0;
};

}  // namespace fovea
