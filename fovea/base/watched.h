// Who watches the work of a thread. It goes along into the loops that the thread gives to the pool, as its float mode does, and
// ends with its scope: two requests in one process may be watched by two watchers, or one of them by nobody.
//
//   Watched watched(&profile);   model.encode(source, {});                        // profile.saw() hears of every product
//
// Costs a look at one pointer for each product where nobody watches.
#pragma once

namespace fovea {

class Watcher;  // tensor/work.h

Watcher* watcher();  // of this thread; null: nobody

class Watched final {
 public:
  explicit Watched(Watcher*);
  ~Watched();
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

 private:
  Watcher* before_;
};

bool inside_loop();  // whether this thread is inside the body of a loop of the pool, where it works alone

}  // namespace fovea
