// The rotary positions of a language model, under Hugging Face's names, old and new: rope_theta, and in rope_scaling or
// rope_parameters how a model was stretched to longer texts than it was first trained with.
//
//   RopeConfig rope;   rope.fields(f);                 // among the fields of the model's own config
//   RotaryPositions rotate(rope.rotary(head_width, max_positions));
//
// With θ[i] = base^(−2i / width):
//
//   linear     θ / factor                                                        (Chen et al. 2023)
//   llama3     θ where a turn is short, θ / factor where it is long, in between a mean of both     (Llama 3.1)
//   yarn       the same by the number of turns in the first context, and longer vectors            (Peng et al. 2023)
//   longrope   θ / a factor for each i, and longer vectors                                         (Ding et al. 2024)
//   dynamic    θ, changed only for texts that are longer than the model's positions                (NTK scaling)
#pragma once

#include <string>
#include <vector>

#include "fovea/base/fields.h"
#include "fovea/nn/positions.h"

namespace fovea {

struct RopeConfig {
  double theta = 10000;
  double share = 1;          // of a head's elements that turn
  bool interleaved = false;  // pairs are neighbours, as GGUF files of Llama have them
  std::string type = "default";
  double factor = 0, attention_factor = 0;  // 0: not given
  int64_t original_positions = 0;
  double low_frequency = 1, high_frequency = 4;                      // llama3
  double beta_fast = 32, beta_slow = 1, mscale = 0, mscale_all = 0;  // yarn
  bool truncate = true;
  std::vector<double> short_factors = {}, long_factors = {};  // longrope

  void fields(Fields& f);
  void fields_in(Fields& f, const std::string& object);  // as an object of rope_parameters has them, "…."

  // An Error if the type is not known, or its numbers make no sense.
  RotaryPositions::Config rotary(int64_t head_width, int64_t positions) const;
  // How long a text may be: longrope has other numbers for all tokens of a text longer than the first context, and dynamic for
  // one beyond the model's positions, so that what was read would have to be read again.
  int64_t longest(int64_t positions) const;

 private:
  void scaling(Fields& f, const std::string& in);
  int64_t first_context(int64_t positions) const { return original_positions > 0 ? original_positions : positions; }
  bool is_long() const { return type == "longrope" || type == "su"; }
  void check() const;
  double stretch(int64_t positions) const;
  double lengthening(int64_t positions) const;
  std::vector<double> frequencies(int64_t width, int64_t positions) const;  // none: the powers of the base
};

}  // namespace fovea
