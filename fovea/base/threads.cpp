#include "fovea/base/threads.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <fstream>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "fovea/base/denormals.h"
#include "fovea/base/error.h"
#include "fovea/base/watched.h"

namespace fovea {
namespace {

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// What this thread is doing: how many loop bodies it is inside of, and whether a body of the pool's loop has thrown.
struct Inside {
  int bodies = 0;
  const std::atomic<bool>* failed = nullptr;  // null outside the pool's loop
};
thread_local Inside inside;

struct EnterBody {
  EnterBody() { ++inside.bodies; }
  ~EnterBody() { --inside.bodies; }
};

// Ends a body that waits for one that has failed; never seen outside, since the failure itself came first.
struct Abandoned {};

class Pool {
 public:
  explicit Pool(int count) {
    for (int i = 1; i < count; ++i) workers_.emplace_back([this] { work(); });
  }
  ~Pool() {
    stop_ = true;
    epoch_.fetch_add(1);
    epoch_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }
  int size() const { return static_cast<int>(workers_.size()) + 1; }

  void run(int64_t count, detail::LoopBody body, void* state) {
    body_ = body, state_ = state, count_ = count, mode_ = float_mode(), watcher_ = watcher();
    next_.store(0, std::memory_order_relaxed);
    failed_.store(false, std::memory_order_relaxed);
    gate_.store(open, std::memory_order_release);
    epoch_.fetch_add(1, std::memory_order_release);
    epoch_.notify_all();
    take_indices();
    gate_.fetch_and(~open, std::memory_order_relaxed);
    for (int spins = 0; gate_.load(std::memory_order_acquire) != 0; ++spins) {
      if (spins < 10000)
        pause();
      else
        std::this_thread::yield();
    }
    if (std::exception_ptr failure = std::exchange(failure_, nullptr)) std::rethrow_exception(failure);
  }

 private:
  void work() {
    uint32_t seen = 0;
    while (true) {
      for (int spins = 0; epoch_.load(std::memory_order_acquire) == seen; ++spins) {
        if (spins < 20000)
          pause();
        else
          epoch_.wait(seen, std::memory_order_acquire);
      }
      seen = epoch_.load(std::memory_order_acquire);
      if (stop_) return;
      if (!enter()) continue;
      set_float_mode(mode_);
      {
        Watched watched(watcher_);
        take_indices();
      }
      gate_.fetch_sub(1, std::memory_order_release);
    }
  }

  bool enter() {
    uint32_t gate = gate_.load(std::memory_order_relaxed);
    while (gate & open) {
      if (gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acquire)) return true;
    }
    return false;
  }

  void take_indices() {
    EnterBody entered;
    inside.failed = &failed_;
    try {
      for (int64_t i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < count_;) body_(state_, i);
    } catch (...) {
      next_.store(count_, std::memory_order_relaxed);
      std::scoped_lock lock(failure_mutex_);
      if (!failure_) failure_ = std::current_exception();
      failed_.store(true, std::memory_order_release);
    }
    inside.failed = nullptr;
  }

  std::vector<std::thread> workers_;
  detail::LoopBody body_ = nullptr;
  void* state_ = nullptr;
  int64_t count_ = 0;
  uint64_t mode_ = 0;
  Watcher* watcher_ = nullptr;
  std::exception_ptr failure_;
  std::mutex failure_mutex_;
  std::atomic<bool> failed_ = false;
  std::atomic<bool> stop_ = false;
  alignas(64) std::atomic<uint32_t> epoch_ = 0;
  alignas(64) std::atomic<int64_t> next_ = 0;
  // How many workers are inside the loop, and whether more may enter: a worker that the system has not woken by the end of a
  // loop is not waited for.
  static constexpr uint32_t open = uint32_t{1} << 31;
  alignas(64) std::atomic<uint32_t> gate_ = 0;
};

// A process has one set of cores, hence one pool; what is computed does not depend on it.
struct SharedPool {
  std::mutex mutex;
  std::unique_ptr<Pool> pool;
  std::atomic<int> size = usable_cores();
};

SharedPool& shared() {
  static SharedPool instance;
  return instance;
}

}  // namespace

int usable_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return std::max(1u, std::thread::hardware_concurrency());
  std::set<std::string> cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    std::string siblings = std::to_string(cpu);
    std::ifstream(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu)) >> siblings;
    cores.insert(siblings);
  }
  int count = std::max<int>(1, static_cast<int>(cores.size()));
  std::string quota;
  double period = 0;
  if (std::ifstream limit("/sys/fs/cgroup/cpu.max"); limit >> quota >> period && quota != "max" && period > 0) {
    count = std::clamp(static_cast<int>(std::stod(quota) / period + 0.5), 1, count);
  }
  return count;
}

bool inside_loop() { return inside.bodies > 0; }

int threads() { return shared().size.load(std::memory_order_relaxed); }

void set_threads(int count) {
  require(count >= 0 && count <= 1024, "threads: found {}, expected 1 to 1024, or 0 for all cores", count);
  require(inside.bodies == 0, "threads: set_threads was called inside a loop body, expected it outside of every loop");
  if (count == 0) count = usable_cores();
  std::scoped_lock lock(shared().mutex);
  if (shared().size != count) shared().pool.reset();
  shared().size = count;
}

void wait_for_turn(const std::atomic<int64_t>& turn, int64_t wanted) {
  for (int spins = 0; turn.load(std::memory_order_acquire) != wanted;) {
    if (inside.failed && inside.failed->load(std::memory_order_acquire)) throw Abandoned();
    if (spins < 10000)
      ++spins, pause();
    else
      std::this_thread::yield();
  }
}

namespace detail {

void parallel_for(int64_t count, LoopBody body, void* state) {
  SharedPool& s = shared();
  if (count > 1 && !inside.failed && threads() > 1) {
    if (std::unique_lock lock(s.mutex, std::try_to_lock); lock) {
      if (!s.pool) s.pool = std::make_unique<Pool>(s.size);
      return s.pool->run(count, body, state);
    }
  }
  EnterBody entered;
  for (int64_t i = 0; i < count; ++i) body(state, i);
}

}  // namespace detail
}  // namespace fovea
