#include "fovea/models/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "fovea/models/family.h"

namespace fovea {
namespace {

constexpr double turn = 2 * std::numbers::pi;

// Where between low and high i stands: 0 below, 1 above.
double ramp(double i, double low, double high) {
  return std::clamp((i - low) / (low == high ? 0.001 : high - low), 0.0, 1.0);
}

double yarn_scale(double factor, double mscale) { return factor <= 1 ? 1 : 0.1 * mscale * std::log(factor) + 1; }

}  // namespace

void RopeConfig::scaling(Fields& f, const std::string& in) {
  auto name = [&](const char* key) { return in + key; };
  if (f.reads()) f(name("type").c_str(), type, "");
  f(name("rope_type").c_str(), type, "how the frequencies were stretched");
  f(name("factor").c_str(), factor, "by how much");
  f(name("attention_factor").c_str(), attention_factor, "by which queries and keys become longer");
  f(name("original_max_position_embeddings").c_str(), original_positions, "tokens of a text before that");
  f(name("low_freq_factor").c_str(), low_frequency, "");
  f(name("high_freq_factor").c_str(), high_frequency, "");
  f(name("beta_fast").c_str(), beta_fast, "");
  f(name("beta_slow").c_str(), beta_slow, "");
  f(name("mscale").c_str(), mscale, "");
  f(name("mscale_all_dim").c_str(), mscale_all, "");
  f(name("truncate").c_str(), truncate, "");
  f.numbers(name("short_factor").c_str(), short_factors);
  f.numbers(name("long_factor").c_str(), long_factors);
}

void RopeConfig::fields(Fields& f) {
  f("rope_theta", theta, "base of the rotary positions' frequencies");
  f("partial_rotary_factor", share, "share of a head's elements that turn");
  if (f.reads() || interleaved) f("rope_interleaved", interleaved, "whether neighbours turn together");
  if (f.reads() || type != "default") scaling(f, "rope_scaling.");
  if (f.reads()) fields_in(f, "rope_parameters.");
}

void RopeConfig::fields_in(Fields& f, const std::string& object) {
  f((object + "rope_theta").c_str(), theta, "");
  f((object + "partial_rotary_factor").c_str(), share, "");
  scaling(f, object);
}

double RopeConfig::stretch(int64_t positions) const {
  if (factor > 0) return factor;
  return static_cast<double>(positions) / static_cast<double>(first_context(positions));
}

int64_t RopeConfig::longest(int64_t positions) const {
  return is_long() ? std::min(positions, first_context(positions)) : positions;
}

void RopeConfig::check() const {
  check_choice("model", "rope_type", type, {"default", "linear", "dynamic", "llama3", "yarn", "longrope", "su"});
  require(
      share > 0 && share <= 1 && theta > 1 && factor >= 0 && original_positions >= 0 && attention_factor >= 0,
      "rotary positions: found a share of {}, a base of {}, a factor of {}, an attention factor of {} and {} original "
      "positions, expected a share of at most 1, a base above 1, and nothing negative",
      share, theta, factor, attention_factor, original_positions);
  require((type != "linear" && type != "llama3") || factor > 0, "rope_scaling: found no factor, expected one for {}",
          type);
  require(low_frequency != high_frequency && beta_fast > 0 && beta_slow > 0,
          "rope_scaling: found frequency factors {} and {}, betas {} and {}, expected two different ones, and above 0",
          low_frequency, high_frequency, beta_fast, beta_slow);
}

std::vector<double> RopeConfig::frequencies(int64_t width, int64_t positions) const {
  const double context = static_cast<double>(first_context(positions)), by = stretch(positions);
  const auto turns_at = [&](double turns) {  // the i whose vectors turn so often in the first context
    return static_cast<double>(width) * std::log(context / (turns * turn)) / (2 * std::log(theta));
  };
  double low = turns_at(beta_fast), high = turns_at(beta_slow);
  if (truncate) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0), high = std::min(high, static_cast<double>(width - 1));
  std::vector<double> all;
  for (int64_t i = 0; i < width / 2; ++i) {
    const double plain = std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(width));
    const double smooth = (context * plain / turn - low_frequency) / (high_frequency - low_frequency);
    if (type == "linear") all.push_back(plain / by);
    if (type == "llama3") all.push_back(std::lerp(plain / by, plain, std::clamp(smooth, 0.0, 1.0)));
    if (type == "yarn") all.push_back(std::lerp(plain, plain / by, ramp(static_cast<double>(i), low, high)));
    if (is_long()) all.push_back(plain / short_factors[static_cast<size_t>(i)]);
  }
  for (double frequency : all)
    require(std::isfinite(frequency), "rope_scaling: found numbers that make a frequency of {}, expected a finite one",
            frequency);
  return all;
}

double RopeConfig::lengthening(int64_t positions) const {
  const double by = stretch(positions);
  if (type != "yarn" && !is_long()) return 1;
  if (attention_factor > 0) return attention_factor;
  if (is_long())
    return by <= 1 ? 1 : std::sqrt(1 + std::log(by) / std::log(static_cast<double>(first_context(positions))));
  return mscale != 0 && mscale_all != 0 ? yarn_scale(by, mscale) / yarn_scale(by, mscale_all) : yarn_scale(by, 1);
}

RotaryPositions::Config RopeConfig::rotary(int64_t head_width, int64_t positions) const {
  check();
  const auto width = static_cast<int64_t>(static_cast<double>(head_width) * share);
  require(width >= 2 && width % 2 == 0 && width <= 1 << 16,
          "rotary positions: found {} of {} elements that turn, expected an even number of at most 65536", width,
          head_width);
  require(!is_long() || static_cast<int64_t>(short_factors.size()) == width / 2,
          "rope_scaling: found {} short factors, expected {}, one for each pair of elements", short_factors.size(),
          width / 2);
  return {.width = width,
          .base = theta,
          .interleaved = interleaved,
          .frequencies = frequencies(width, positions),
          .factor = lengthening(positions)};
}

}  // namespace fovea
