#include "fovea/serve/server.h"

#include <httplib.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "fovea/base/json.h"
#include "fovea/formats/matrix_text.h"
#include "fovea/serve/page.h"

namespace fovea {
namespace {

using Json = nlohmann::json;
using Asked = httplib::Request;
using httplib::Response;

std::string random_token() {
  std::random_device device;
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", device());
  return token;
}

// Whether two texts are equal, in a time that does not tell where they differ.
bool same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char different = 0;
  for (size_t i = 0; i < a.size(); ++i) different |= static_cast<unsigned char>(a[i] ^ b[i]);
  return different == 0;
}

int64_t number_in(const Asked& request, const char* name, int64_t otherwise) {
  if (!request.has_param(name)) return otherwise;
  const std::string text = request.get_param_value(name);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  require(error == std::errc() && end == text.data() + text.size(), "{}: found '{}', expected a number", name,
          text.substr(0, 40));
  return value;
}

// As it is: the library compresses what it is given whole, which takes seconds of a long text, for a way inside of one machine.
void answer(Response& r, std::string text, const char* type) {
  const auto bytes = std::make_shared<const std::string>(std::move(text));
  r.set_content_provider(bytes->size(), type, [bytes](size_t offset, size_t length, httplib::DataSink& sink) {
    return sink.write(bytes->data() + offset, length);
  });
}

int status_of(const Error& error) {
  switch (error.kind()) {
    case Error::not_found:
      return 404;
    case Error::invalid:
    case Error::corrupt:
      return 400;
    default:
      return 500;
  }
}

}  // namespace

struct PageServer::Routes {
  ViewSession& session;
  Options options;
  std::string token = random_token();
  httplib::Server server;
  int port = 0;
  std::mutex mutex;
  bool begun = false, ended = false;
  std::atomic<bool> finished = false;

  Routes(ViewSession& s, const Options& o) : session(s), options(o) {
    server.set_payload_max_length(o.most_request_bytes);
    server.set_keep_alive_timeout(5);
    server.set_read_timeout(10), server.set_write_timeout(60);
    // A thread stays with its connection, and a browser keeps up to six of them open.
    server.new_task_queue = [] { return new httplib::ThreadPool(8); };
    server.set_default_headers({{"X-Content-Type-Options", "nosniff"},
                                {"Referrer-Policy", "no-referrer"},
                                {"Cache-Control", "no-store"},
                                {"X-Frame-Options", "DENY"},
                                {"Cross-Origin-Resource-Policy", "same-origin"}});
    server.set_pre_routing_handler([this](const Asked& q, Response& r) { return admit(q, r); });
    server.set_exception_handler([](const Asked&, Response& r, std::exception_ptr e) { explain(e, r); });
    server.Get("/[0-9a-f]+/", [this](const Asked&, Response& r) { first_page(r); });
    server.Get("/[0-9a-f]+/first",
               [this](const Asked&, Response& r) { answer(r, options.told.get(), "application/json"); });
    server.Post("/[0-9a-f]+/run", [this](const Asked& q, Response& r) { run(q, r); });
    server.Post("/[0-9a-f]+/explain", [this](const Asked& q, Response& r) { explain_words(q, r); });
    server.Get("/[0-9a-f]+/tile", [this](const Asked& q, Response& r) { tile(q, r); });
    server.Get("/[0-9a-f]+/steps", [this](const Asked& q, Response& r) {
      r.set_content(session.steps({number_in(q, "run", 0), q.get_param_value("place"), number_in(q, "head", 0),
                                   number_in(q, "row", 0)}),
                    "application/json");
    });
    port = o.port == 0 ? server.bind_to_any_port("127.0.0.1") : server.bind_to_port("127.0.0.1", o.port) ? o.port : -1;
    if (port <= 0)
      throw Error(Error::io, "127.0.0.1:{}: found the port taken, expected a free one; --port 0 takes any", o.port);
  }

  // Only with the token, and only under this machine's own name: a page of another site that has its name point here gets nothing.
  httplib::Server::HandlerResponse admit(const Asked& q, Response& r) const {
    const std::string host = q.get_header_value("Host");
    const bool named = host == fmt::format("127.0.0.1:{}", port) || host == fmt::format("localhost:{}", port);
    const size_t slash = q.path.find('/', 1);
    const bool known = slash != std::string::npos && same(std::string_view(q.path).substr(1, slash - 1), token);
    if (named && known) return httplib::Server::HandlerResponse::Unhandled;
    r.status = 403;
    r.set_content("not here: the address has a token, which `fovea view` printed\n", "text/plain");
    return httplib::Server::HandlerResponse::Handled;
  }

  static void explain(const std::exception_ptr& e, Response& r) {
    std::string text = "unknown";
    r.status = 500;
    try {
      std::rethrow_exception(e);
    } catch (const Error& error) {
      r.status = status_of(error), text = error.what();
    } catch (const std::exception& error) {
      text = error.what();
    }
    r.set_content(Json{{"error", text}}.dump(-1, ' ', false, Json::error_handler_t::replace), "application/json");
  }

  void first_page(Response& r) const {
    answer(r, page({.served = true, .models = session.models(), .first = {options.model, options.text}}),
           "text/html; charset=utf-8");
  }

  static std::string text_in(const Json& json, const char* key) {
    if (!json.is_object() || !json.contains(key) || !json[key].is_string())
      throw Error(Error::invalid, "request: found no \"{}\", expected a text", key);
    return json[key].get<std::string>();
  }

  void run(const Asked& q, Response& r) {
    const Json json = parse_json(q.body, "request");
    answer(r, session.run(text_in(json, "model"), text_in(json, "text")), "application/json");
  }

  void explain_words(const Asked& q, Response& r) {
    const Json json = parse_json(q.body, "request");
    const std::string checked = text_in(json, "check");
    answer(r,
           session.explain({text_in(json, "model"), text_in(json, "text"), text_in(json, "answer"),
                            split_text(text_in(json, "methods"), ','), text_in(json, "erase"), checked == "yes"}),
           "application/json");
  }

  void tile(const Asked& q, Response& r) {
    const ViewSession::Tile t = {number_in(q, "run", 0),    q.get_param_value("place"),  number_in(q, "head", 0),
                                 number_in(q, "level", 0),  number_in(q, "row", 0),      number_in(q, "column", 0),
                                 number_in(q, "rows", 256), number_in(q, "columns", 256)};
    r.set_content(session.tile(t), "application/octet-stream");
  }
};

PageServer::PageServer(ViewSession& session, const Options& options)
    : routes_(std::make_unique<Routes>(session, options)) {}
PageServer::~PageServer() = default;

std::string PageServer::address() const { return fmt::format("http://127.0.0.1:{}/{}/", port(), routes_->token); }
int PageServer::port() const { return routes_->port; }

void PageServer::listen() {
  {
    const std::lock_guard lock(routes_->mutex);
    if (routes_->ended) return;
    routes_->begun = true;
  }
  routes_->server.listen_after_bind();
  routes_->finished = true;
}

// The library's own stop() is lost on a server that is about to begin.
void PageServer::stop() {
  {
    const std::lock_guard lock(routes_->mutex);
    routes_->ended = true;
    if (!routes_->begun) return;
  }
  while (!routes_->finished && !routes_->server.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  routes_->server.stop();
}

}  // namespace fovea
