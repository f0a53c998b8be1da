// Memory that attention takes beyond its inputs and outputs: 16,384 tokens, 12 heads, width 64.
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "bench/bench.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/attention.h"

namespace fovea::benches {
namespace {

using namespace kernels;

// A line of /proc/self/status in MB.
double status(const std::string& key) {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    if (word == key + ":") {
      double kilobytes = 0;
      file >> kilobytes;
      return kilobytes / 1024;
    }
  }
  return 0;
}

// Peak resident growth of the work, in a child process of its own: scratch that earlier work left behind does not
// count.
double growth(bool backward) {
  int count = threads();  // a fresh pool: the child cannot use the threads of its parent's
  set_threads(count + 1), set_threads(count);
  int ends[2];
  require(pipe(ends) == 0, "bench memory: pipe failed");
  pid_t child = fork();
  require(child >= 0, "bench memory: fork failed");
  if (child == 0) {
    const int64_t tokens = 16384, heads = 12, width = 64, row = heads * width;
    std::vector<float> q(tokens * row, 0.01f), k(tokens * row, 0.02f), v(tokens * row, 0.03f), out(tokens * row, 0.0f);
    std::vector<RowSum> sums(heads * tokens);
    std::vector<float> gradients(backward ? 4 * tokens * row : 0, 0.01f);
    Attention a = {.shape = {.queries = tokens,
                             .keys = tokens,
                             .heads = heads,
                             .key_heads = heads,
                             .width = width,
                             .value_width = width},
                   .q = {q.data(), 0, row, width},
                   .k = {k.data(), 0, row, width},
                   .v = {v.data(), 0, row, width},
                   .scale = 0.125f,
                   .causal = true,
                   .window_left = 512};  // memory does not depend on the window, time does
    auto part = [&](int64_t i) { return TokenArrayOut{gradients.data() + i * tokens * row, 0, row, width}; };
    double before = status("VmRSS");
    std::ofstream("/proc/self/clear_refs") << "5" << std::flush;
    if (!backward) {
      attention_forward(a, {.out = {out.data(), 0, row, width}, .sums = sums.data()});
    } else {
      attention_backward(a, {.out = {out.data(), 0, row, width},
                             .d_out = {gradients.data() + 3 * tokens * row, 0, row, width},
                             .sums = sums.data(),
                             .d_q = part(0),
                             .d_k = part(1),
                             .d_v = part(2)});
    }
    double extra = status("VmHWM") - before;
    ssize_t written = write(ends[1], &extra, sizeof(extra));
    _exit(written == sizeof(extra) ? 0 : 1);
  }
  double extra = -1;
  require(read(ends[0], &extra, sizeof(extra)) == sizeof(extra), "bench memory: the child gave no answer");
  close(ends[0]), close(ends[1]);
  waitpid(child, nullptr, 0);
  return extra;
}

}  // namespace

extern const Bench memory = {
    .name = "memory", .help = "extra memory of attention at 16,384 tokens", .run = [](Bencher& b) {
      for (bool backward : {false, true}) {
        b.emit({backward ? "attention_backward_memory" : "attention_forward_memory", "heads=12 width=64 tokens=16384",
                threads(), growth(backward), "MB"});
      }
    }};

}  // namespace fovea::benches
