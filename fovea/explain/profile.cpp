#include "fovea/explain/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fovea/base/threads.h"
#include "fovea/kernels/peak.h"
#include "fovea/kernels/simd.h"
#include "fovea/kernels/unit.h"

namespace fovea {
namespace {

bool is_number(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Which kernel runs is decided by the weights' precision and the instruction set.
std::string kernel_of(const Work& w) {
  std::string kernel(w.how);
  if (w.blocks) kernel = std::string(name(*w.blocks)) + " blocks";
  if (w.precision) {
    kernel = fmt::format("{} panels", name(*w.precision));
    if (kernels::unit_of(*w.precision) != kernels::Unit::vectors)
      kernel += fmt::format(", {}", kernels::name_of_unit(*w.precision));
  }
  if (w.kind == Work::Kind::embedding) return "rows of the table";
  if (w.kind == Work::Kind::search) return "scores of the open hypotheses";
  if (w.kind == Work::Kind::backward) return "gradients of all layers";
  if (w.kind == Work::Kind::update) return "the optimiser's step";
  return kernel.empty() ? "f32" : kernel;
}

// Operations a second of one thread; the best of a few short bursts, since others use the machine, too.
double limit(int64_t (*burst)(int64_t)) {
  const int64_t rounds = burst(1) > 100'000 ? 20'000 : 200'000;  // one of tiles takes ten times as long
  double best = 0;
  for (int i = 0; i < 8; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const auto operations = static_cast<double>(burst(rounds));
    best = std::max(best, operations / std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

std::string rate(double amount, double seconds) {
  return seconds > 0 && amount > 0 ? fmt::format("{:.1f}", amount / seconds / 1e9) : ".";
}

}  // namespace

std::string layer_of(const std::string& path) {
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    if (is_number(std::string_view(path).substr(begin, end - begin))) return path.substr(0, end);
    begin = end + 1;
  }
  const size_t last = path.rfind('.');
  return last == std::string::npos ? path : path.substr(0, last);
}

void Profile::knows(const std::string& path, const void* weight) {
  const std::lock_guard lock(mutex_);
  layers_.emplace(weight, layer_of(path));
}

Profile::Sums& Profile::sums_of(const std::string& layer, std::string_view work, const std::string& kernel) {
  for (Sums& s : all_)
    if (s.line.layer == layer && s.line.work == work && s.line.kernel == kernel) return s;
  // Behind what the same layer did before.
  const auto same = std::find_if(all_.rbegin(), all_.rend(), [&](const Sums& s) { return s.line.layer == layer; });
  Sums fresh;
  fresh.line.layer = layer, fresh.line.work = work, fresh.line.kernel = kernel;
  return *all_.insert(same == all_.rend() ? all_.end() : same.base(), fresh);
}

void Profile::saw(const Work& w) {
  const std::string kernel = kernel_of(w);
  const std::lock_guard lock(mutex_);
  last_ = Clock::now();
  if (all_.empty())
    first_ = last_ - std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(w.seconds));
  std::string& latest = latest_[std::this_thread::get_id()];
  if (const auto known = layers_.find(w.weight); w.weight && known != layers_.end()) latest = known->second;
  const bool of_no_layer =
      w.kind == Work::Kind::search || w.kind == Work::Kind::backward || w.kind == Work::Kind::update;
  Sums& s = sums_of(of_no_layer ? "" : latest, name(w.kind), kernel);
  ++s.line.calls;
  s.line.seconds += w.seconds, s.line.flops += w.flops, s.line.bytes += w.bytes;
  s.possible += w.seconds * w.threads;
  s.precision = w.precision, s.blocks = w.blocks.has_value();
}

bool Profile::empty() const {
  const std::lock_guard lock(mutex_);
  return all_.empty();
}

ProfileReport Profile::report() const {
  const std::lock_guard lock(mutex_);
  ProfileReport report;
  report.seconds = std::chrono::duration<double>(last_ - first_).count();
  report.flops_limit = limit(kernels::fma_burst), report.int8_limit = limit(kernels::int8_burst);
  const bool bf16_unit = kernels::unit_of(Precision::bf16) != kernels::Unit::vectors;
  const bool tiles = kernels::unit_of(Precision::int8) == kernels::Unit::tiles;
  report.bf16_limit = bf16_unit ? limit(kernels::bf16_burst) : report.flops_limit;
  report.block_limit = tiles ? limit(kernels::block_burst) : report.int8_limit;
  report.threads = threads(), report.instruction_set = name(simd());
  double seen = 0;
  for (const Sums& s : all_) {
    report.lines.push_back(s.line);
    const double most = s.possible * (s.blocks                         ? report.block_limit
                                      : s.precision == Precision::int8 ? report.int8_limit
                                      : s.precision == Precision::bf16 ? report.bf16_limit
                                                                       : report.flops_limit);
    if (most > 0) report.lines.back().of_limit = s.line.flops / most;
    seen += s.line.seconds;
  }
  if (report.seconds > seen) {
    report.lines.push_back({.work = "the rest", .kernel = "sums, activations, batches, text"});
    report.lines.back().seconds = report.seconds - seen;
  }
  return report;
}

std::string to_text(const ProfileReport& r) {
  size_t layers = 5, kernels = 6;
  double all = 0;
  for (const ProfileLine& l : r.lines)
    layers = std::max(layers, l.layer.size()), kernels = std::max(kernels, l.kernel.size()), all += l.seconds;
  std::string text = fmt::format(
      "{:.1f} ms with {} threads on {}; a thread's limit is {:.1f} GFLOP/s ({}int8: {:.1f})\n"
      "{:<{}}  work       calls         ms  of time  GFLOP/s  of limit    GB/s  kernel\n",
      r.seconds * 1e3, r.threads, r.instruction_set, r.flops_limit / 1e9,
      r.bf16_limit > r.flops_limit ? fmt::format("bf16: {:.1f}, ", r.bf16_limit / 1e9) : "", r.int8_limit / 1e9,
      "layer", layers);
  for (const ProfileLine& l : r.lines)
    text += fmt::format("{:<{}}  {:<9} {:>6} {:>10.2f}  {:>6.1f}%  {:>7}  {:>8}  {:>6}  {}\n",
                        l.layer.empty() ? "-" : l.layer, layers, l.work, l.calls > 0 ? std::to_string(l.calls) : "",
                        l.seconds * 1e3, all > 0 ? 100 * l.seconds / all : 0, rate(l.flops, l.seconds),
                        l.of_limit > 0 ? fmt::format("{:.1f}%", 100 * l.of_limit) : ".", rate(l.bytes, l.seconds),
                        l.kernel);
  return text;
}

std::string to_json(const ProfileReport& r) {
  using Json = nlohmann::ordered_json;
  Json json = {{"seconds", r.seconds},         {"threads", r.threads},       {"instruction_set", r.instruction_set},
               {"flops_limit", r.flops_limit}, {"int8_limit", r.int8_limit}, {"bf16_limit", r.bf16_limit},
               {"block_limit", r.block_limit}, {"work", Json::array()}};
  for (const ProfileLine& l : r.lines)
    json["work"].push_back({{"layer", l.layer},
                            {"kind", l.work},
                            {"kernel", l.kernel},
                            {"calls", l.calls},
                            {"seconds", l.seconds},
                            {"flops", l.flops},
                            {"bytes", l.bytes},
                            {"of_limit", l.of_limit}});
  return json.dump();
}

}  // namespace fovea
