#include "fovea/tensor/work.h"

#include "fovea/base/threads.h"

namespace fovea {
namespace {

thread_local TimedWork* innermost = nullptr;

}  // namespace

TimedWork::TimedWork(Work::Kind kind) : watcher_(watcher()), kind_(kind) {
  if (!watcher_) return;
  around_ = innermost, innermost = this;
  begin_ = Clock::now();
}

TimedWork::~TimedWork() {
  if (!watcher_) return;
  innermost = around_;
  if (around_) around_->inside_ += std::chrono::duration<double>(Clock::now() - begin_).count();
}

void TimedWork::done(Work work) {
  work.kind = kind_;
  work.seconds = std::chrono::duration<double>(Clock::now() - begin_).count() - inside_;
  work.threads = inside_loop() ? 1 : threads();
  watcher_->saw(work);
}

double bytes_of(const Tensor& x) {
  return x ? static_cast<double>(x.elements()) * static_cast<double>(size_of(x.dtype())) : 0;
}

}  // namespace fovea
