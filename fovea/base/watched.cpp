#include "fovea/base/watched.h"

namespace fovea {
namespace {

thread_local Watcher* current = nullptr;

}  // namespace

Watcher* watcher() { return current; }

Watched::Watched(Watcher* w) : before_(current) { current = w; }
Watched::~Watched() { current = before_; }

}  // namespace fovea
