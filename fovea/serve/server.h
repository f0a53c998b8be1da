// The page of a session, served on this machine to whoever knows its address: http://127.0.0.1:PORT/TOKEN/
//
//   PageServer server(session, {.model = "en-de", .text = "The cat sat.", .told = std::move(answer)});
//   server.address();   server.listen();               // until stop()
//
// The page itself is there at once, so that a browser loads it while a model still reads what is shown first.
// It listens on 127.0.0.1 alone; the token is random; no file is reachable; requests are small or refused.
#pragma once

#include <future>
#include <memory>
#include <string>

#include "fovea/serve/session.h"

namespace fovea {

class PageServer final {
 public:
  struct Options {
    std::string model, text;                    // what is shown first,
    std::shared_future<std::string> told = {};  // and the session's answer to it, which the page waits for
    int port = 0;                               // 0: any that is free
    size_t most_request_bytes = size_t{2} << 20;
  };
  PageServer(ViewSession&, const Options&);  // binds the port; an Error of kind io if it is taken
  ~PageServer();

  std::string address() const;
  int port() const;
  void listen();  // answers until stop() is called, from another thread or a signal handler's
  void stop();

 private:
  struct Routes;
  std::unique_ptr<Routes> routes_;
};

}  // namespace fovea
