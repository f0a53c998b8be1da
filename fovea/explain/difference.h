// How far two models, or two precisions of one, depart on the same texts: layer by layer, head by head, and in what they answer.
//
//   ModelDifference difference(a, b);
//   for (const std::string& text : texts) difference.add(text);
//   const DifferenceReport r = difference.report();   r.first_layer;   r.changed;
//
// A translator is told the first one's translation in both, so that both see the same tokens; their own answers are compared apart.
#pragma once

#include <string>
#include <vector>

#include "fovea/explain/recording.h"
#include "fovea/explain/states.h"
#include "fovea/models/pretrained.h"

namespace fovea {

struct StateDifference {
  double relative = 0;  // √(Σ (a − b)² / Σ a²)
  double largest = 0;   // |a − b|
  double cosine = 1;    // the mean over tokens
};

struct HeadDifference {
  std::string place;
  int64_t head = 0;
  double kl = 0;                // Σ a ln(a / b) of a row, the mean over rows
  double largest = 0;           // |a − b| of a weight
  StateDifference output = {};  // of what the head puts out; without a cosine
};

struct LayerDifference {
  std::string layer;
  StateDifference state;  // of what it reads
};

struct AnswerDifference {
  std::string text, first, second;
};

struct DifferenceReport {
  int64_t texts = 0, compared = 0;  // those of the same tokens
  std::vector<LayerDifference> layers;
  std::vector<HeadDifference> heads;
  std::string first_layer = {};  // the first whose state departs by more than the tolerance; "" if none does
  std::vector<AnswerDifference> changed;
};

class ModelDifference final {
 public:
  ModelDifference(const Pretrained& a, const Pretrained& b) : a_(a), b_(b) {}

  void add(const std::string& text, const std::string& translation = "");
  DifferenceReport report(double tolerance = 0.01) const;

 private:
  struct Sums {
    double squares = 0, of_first = 0, largest = 0, cosines = 0, tokens = 0;
    void add(const std::vector<double>& a, const std::vector<double>& b, size_t width);
    StateDifference result() const;
  };
  struct Layer {
    std::string name;
    Sums sums;
  };
  struct Head {
    std::string place;
    int64_t head = 0;
    double kl = 0, rows = 0, largest = 0;
    Sums output = {};
  };
  struct Seen {
    Recording recording;
    std::vector<LayerState> layers;
    std::vector<Tensor> heads;
  };
  static Seen look(const Pretrained&, const std::string& text, const std::string& translation);
  void add_layers(const Seen& a, const Seen& b);
  void add_heads(const Seen& a, const Seen& b);
  Head& head_of(const std::string& place, int64_t head);

  const Pretrained &a_, &b_;
  int64_t texts_ = 0, compared_ = 0;
  std::vector<Layer> layers_;
  std::vector<Head> heads_;
  std::vector<AnswerDifference> changed_;
};

std::string to_text(const DifferenceReport&, double tolerance);
std::string to_json(const DifferenceReport&);

}  // namespace fovea
