// Where the time of a run goes: per layer and kind of work the seconds, operations, bytes, share of the machine's limit, and which
// kernel ran.
//
//   Profile profile;
//   {
//     Watched watched(&profile);
//     const Pretrained model = load_pretrained("zoo/en-de");   translate(…);
//   }
//   fmt::print(stderr, "{}", to_text(profile.report()));
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "fovea/tensor/work.h"

namespace fovea {

// The layer of a weight: its path up to the first number, encoder.0 of encoder.0.self.query.weight; else without its last name.
std::string layer_of(const std::string& weight_path);

struct ProfileLine {
  std::string layer = {};  // "" for work that belongs to none
  std::string work = {};   // "linear", "attention" …; "the rest": what no watcher was told of
  std::string kernel = {};
  int64_t calls = 0;
  double seconds = 0;  // added up over the threads that ran at the same time
  double flops = 0, bytes = 0;
  double of_limit = 0;  // operations as a share of what as many threads could do in registers (kernels/peak.h)
};

struct ProfileReport {
  double seconds = 0;                      // from the first work to the last, as a clock on the wall has it
  double flops_limit = 0, int8_limit = 0;  // operations a second, of one thread
  double bf16_limit = 0,
         block_limit = 0;  // the same where a unit of the CPU multiplies bf16, or int8 alone; else as above
  int threads = 1;
  std::string instruction_set;
  std::vector<ProfileLine> lines;  // in the order in which the layers ran first
};

class Profile final : public Watcher {
 public:
  void knows(const std::string& path, const void* weight) override;
  void saw(const Work&) override;

  // Measures the machine's limits, which takes a tenth of a second.
  ProfileReport report() const;
  bool empty() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Sums {
    ProfileLine line;
    double possible = 0;  // seconds times the threads that the work could use
    std::optional<Precision> precision = {};
    bool blocks = false;
  };
  Sums& sums_of(const std::string& layer, std::string_view work, const std::string& kernel);

  mutable std::mutex mutex_;
  std::map<const void*, std::string> layers_;
  std::map<std::thread::id, std::string> latest_;  // the layer that each thread was in
  std::vector<Sums> all_;
  Clock::time_point first_ = {}, last_ = {};
};

std::string to_text(const ProfileReport&);
std::string to_json(const ProfileReport&);

}  // namespace fovea
