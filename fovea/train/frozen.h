// Which weights of a model stay as they are while the others learn.
//
//   const Frozen frozen({"embeddings", "encoder.layer.0-5"}, model);    // or {"6"}: the embeddings and six layers of each stack
//   frozen("bert.embeddings.word_embeddings.weight");                   // true
//
// A pattern is a part of a weight's path between dots; in it a-b stands for each number from a to b. A number alone stands for all that
// comes before the first layer, and so many layers.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "fovea/models/model.h"

namespace fovea {

class Frozen final {
 public:
  Frozen() = default;
  // An Error if a pattern matches no weight, or if they leave nothing to learn. A text may hold several, with commas between.
  Frozen(const std::vector<std::string>& patterns, Model&);

  bool operator()(const std::string& path) const { return paths_.contains(path); }
  int64_t weights() const { return static_cast<int64_t>(paths_.size()); }
  int64_t numbers() const { return numbers_; }  // in all of them

 private:
  std::set<std::string> paths_;
  int64_t numbers_ = 0;
};

// Lists to a visitor what learns alone.
class LearningWeights final : public Weights {
 public:
  LearningWeights(Weights& inner, const Frozen& frozen) : inner_(inner), frozen_(frozen) {}

 protected:
  void visit(const std::string& path, Weight& weight, const Init& init) override {
    if (!frozen_(path)) inner_(path, weight, init);
  }

 private:
  Weights& inner_;
  const Frozen& frozen_;
};

}  // namespace fovea
