#include "fovea/serve/server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <future>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <thread>

#include "fovea/attention/attention.h"
#include "fovea/nn/golden.h"
#include "fovea/serve/page.h"
#include "fovea/serve/page_files.h"

namespace fovea {
namespace {

using Json = nlohmann::json;

int connected(const std::string& host, int port) {
  const int s = socket(AF_INET, SOCK_STREAM, 0);
  const timeval patience = {.tv_sec = 20, .tv_usec = 0};
  setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  sockaddr_in to = {};
  to.sin_family = AF_INET, to.sin_port = htons(static_cast<uint16_t>(port));
  inet_pton(AF_INET, host.c_str(), &to.sin_addr);
  if (connect(s, reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0) return s;
  close(s);
  return -1;
}

struct Reply {
  int status = 0;
  std::string head, body;
};

class Page : public testing::Test {
 protected:
  void SetUp() override {
    thread_ = std::thread([this] { server_.listen(); });
  }
  void TearDown() override {
    server_.stop();
    thread_.join();
  }

  Reply raw(const std::string& bytes) const {
    const int s = connected("127.0.0.1", server_.port());
    EXPECT_GE(s, 0);
    for (size_t sent = 0; sent < bytes.size();) {
      const ssize_t n = send(s, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) break;
      sent += static_cast<size_t>(n);
    }
    std::string all;
    char buffer[65536];
    for (ssize_t n; (n = recv(s, buffer, sizeof(buffer), 0)) > 0;) all.append(buffer, static_cast<size_t>(n));
    close(s);
    Reply reply;
    const size_t end = all.find("\r\n\r\n");
    if (end == std::string::npos) return reply;
    reply.head = all.substr(0, end), reply.body = all.substr(end + 4);
    reply.status = std::stoi(all.substr(9, 3));
    return reply;
  }
  Reply ask(const std::string& method, const std::string& target, const std::string& body = "",
            std::string host = "") const {
    if (host.empty()) host = fmt::format("127.0.0.1:{}", server_.port());
    return raw(fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}", method,
                           target, host, body.size(), body));
  }
  std::string inside(const std::string& path) const {  // behind the token
    const std::string address = server_.address();
    return address.substr(address.find('/', 8)) + path;
  }
  Json run(const std::string& model, const std::string& text) const {
    return Json::parse(ask("POST", inside("run"), Json{{"model", model}, {"text", text}}.dump()).body);
  }

  ViewSession session_{
      {.models = {"sentiment", "en-de"}, .most_text_bytes = 2000, .most_explained_bytes = 2000, .most_recordings = 2}};
  std::promise<std::string> told_;
  PageServer server_{session_,
                     {.model = "sentiment",
                      .text = "A <b>good</b> film.",
                      .told = told_.get_future().share(),
                      .most_request_bytes = 4000}};
  std::thread thread_;
};

// All modules stand in one script.
TEST(PageFiles, NoOutermostNameStandsInTwoModules) {
  const std::regex declared(R"(^(?:export )?(?:async )?(const|let|function|class) (.*)$)"), name(R"(^\s*([\w$]+))");
  std::map<std::string, std::string> owners;
  for (const EmbeddedFile& file : page_files()) {
    if (!file.name.ends_with(".js")) continue;
    std::istringstream lines{std::string(file.text)};
    for (std::string line; std::getline(lines, line);) {
      std::smatch found, one;
      if (!std::regex_match(line, found, declared)) continue;
      std::string rest = found[2];
      int depth = 0;
      for (bool more = true; more && std::regex_search(rest, one, name);) {
        const auto [owner, fresh] = owners.emplace(one[1], file.name);
        EXPECT_TRUE(fresh) << one[1] << " in " << owner->second << " and " << file.name;
        size_t at = 0;
        for (; at < rest.size() && !(rest[at] == ',' && depth == 0); ++at)
          depth += std::string_view("([{").find(rest[at]) != std::string_view::npos,
              depth -= std::string_view(")]}").find(rest[at]) != std::string_view::npos;
        more = at < rest.size() && (found[1] == "const" || found[1] == "let");
        rest = more ? rest.substr(at + 1) : "";
      }
    }
  }
  EXPECT_TRUE(owners.contains("mostAsked")) << "the second of its line";
}

TEST_F(Page, IsThereWithTheTokenAlone) {
  const Reply page = ask("GET", inside(""));
  EXPECT_EQ(page.status, 200);
  EXPECT_NE(page.body.find("<!doctype html>"), std::string::npos);
  EXPECT_NE(page.head.find("nosniff"), std::string::npos);
  for (const std::string target : {"/", "/00000000000000000000000000000000/", "/models", "//", "/x/../"})
    EXPECT_EQ(ask("GET", target).status, 403) << target;
  std::string almost = inside("");
  almost[1] = almost[1] == 'a' ? 'b' : 'a';
  EXPECT_EQ(ask("GET", almost).status, 403);
}

TEST_F(Page, OtherNamesThatPointHereGetNothing) {
  EXPECT_EQ(ask("GET", inside(""), "", "evil.example").status, 403);
  EXPECT_EQ(ask("GET", inside(""), "", fmt::format("localhost:{}", server_.port())).status, 200);
}

TEST_F(Page, NoFileIsReachable) {
  for (const std::string path :
       {"../../etc/passwd", "etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "viewer/app.js", "style.css"})
    EXPECT_GE(ask("GET", inside(path)).status, 400) << path;
}

TEST_F(Page, ListensOnThisMachineAlone) {
  ifaddrs* all = nullptr;
  ASSERT_EQ(getifaddrs(&all), 0);
  for (const ifaddrs* one = all; one; one = one->ifa_next) {
    if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET) continue;
    char host[INET_ADDRSTRLEN];
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr, host, sizeof(host));
    if (std::string(host) == "127.0.0.1") continue;
    EXPECT_LT(connected(host, server_.port()), 0) << host;
  }
  freeifaddrs(all);
}

TEST_F(Page, RunsATextAndGivesItsWeights) {
  const Json seen = run("sentiment", "A good film.");
  EXPECT_EQ(seen["text"], "A good film.");
  EXPECT_EQ(seen["sequences"]["source"]["words"].size(), seen["sequences"]["source"]["pieces"].size());
  ASSERT_GE(seen["places"].size(), 1u);
  EXPECT_TRUE(seen["places"][0].contains("weights"));
}

TEST_F(Page, IsThereBeforeWhatItShowsFirst) {
  EXPECT_NE(ask("GET", inside("")).body.find(R"("models":["sentiment","en-de"])"), std::string::npos);
  std::future<Reply> first = std::async(std::launch::async, [&] { return ask("GET", inside("first")); });
  EXPECT_EQ(first.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  told_.set_value("{}");
  EXPECT_EQ(first.get().body, "{}");
}

TEST_F(Page, TellsWhyThereIsNothingToShowFirst) {
  told_.set_exception(std::make_exception_ptr(Error(Error::invalid, "no.png: found no picture")));
  const Reply first = ask("GET", inside("first"));
  EXPECT_EQ(first.status, 400);
  EXPECT_EQ(Json::parse(first.body)["error"], "no.png: found no picture");
}

// Squares are the largest and the mean of what one asks for cell by cell.
TEST_F(Page, TilesArePooledWeights) {
  const Json seen = run("en-de", "The bank approved the loan.");
  const std::string place = "decoder.1.cross";
  auto tile = [&](const std::string& more) {
    const Reply r =
        ask("GET", inside(fmt::format("tile?run={}&place={}&head=1{}", seen["run"].get<int64_t>(), place, more)));
    EXPECT_EQ(r.status, 200) << r.body;
    int32_t sizes[2];
    std::memcpy(sizes, r.body.data(), sizeof(sizes));
    std::vector<float> numbers((r.body.size() - 8) / 4);
    std::memcpy(numbers.data(), r.body.data() + 8, numbers.size() * 4);
    EXPECT_EQ(numbers.size(), static_cast<size_t>((more.empty() ? 1 : 2) * sizes[0] * sizes[1]));
    return std::pair{std::pair{sizes[0], sizes[1]}, numbers};
  };
  const auto [whole, w] = tile("");
  const auto [pooled, t] = tile("&level=1");
  EXPECT_EQ(pooled.first, (whole.first + 1) / 2);
  for (int i = 0; i < pooled.first; ++i) {
    for (int j = 0; j < pooled.second; ++j) {
      float largest = 0, sum = 0, count = 0;
      for (int r = 2 * i; r < std::min(whole.first, 2 * i + 2); ++r)
        for (int c = 2 * j; c < std::min(whole.second, 2 * j + 2); ++c, ++count)
          largest = std::max(largest, w[static_cast<size_t>(r * whole.second + c)]),
          sum += w[static_cast<size_t>(r * whole.second + c)];
      const auto at = static_cast<size_t>(i * pooled.second + j);
      EXPECT_EQ(t[at], largest);
      EXPECT_NEAR(t[at + t.size() / 2], sum / count, 1e-6);
    }
  }
}

std::vector<float> numbers_in(const Reply& r) {
  std::vector<float> numbers((r.body.size() - 8) / 4);
  std::memcpy(numbers.data(), r.body.data() + 8, numbers.size() * 4);
  return numbers;
}

// Of a text of thousands of tokens any window and any row is given, as softmax(q·k / √8) has it in float64.
TEST_F(Page, WindowsAndRowsOfALongTextAreThoseOfTheFormula) {
  const int64_t tokens = 6000;
  const Tensor q = normal({1, tokens, 1, 8}, Random(1)), k = normal({1, tokens, 1, 8}, Random(2));
  Recording seen = {.model = "made", .text = "long"};
  RecordedSequence& text = seen.sequences["text"];
  text.pieces.assign(tokens, "a"), text.ids.assign(tokens, 1), text.spans.assign(tokens, {0, 1}), text.text = "a";
  seen.places.push_back({.place = {.path = "self", .heads = 1, .rows = "text", .columns = "text"}, .heads = {0}});
  seen.places[0].kept = attend(q, k, k, {.probe = Probe{.keep = true}}, {}).probe.kept;
  const int64_t run = Json::parse(session_.open(std::move(seen)))["run"];

  const std::vector<double> query = q.select(0, 0).slice(0, 5000, 5001).values<double>(), keys = k.values<double>();
  std::vector<double> wanted(tokens);
  double sum = 0;
  for (size_t j = 0; j < wanted.size(); ++j) {
    double score = 0;
    for (size_t d = 0; d < 8; ++d) score += query[d] * keys[j * 8 + d];
    sum += wanted[j] = std::exp(score / std::sqrt(8.0));
  }
  const std::string at = fmt::format("tile?run={}&place=self&row=5000&rows=1", run);
  const std::vector<float> row = numbers_in(ask("GET", inside(at + "&columns=6000")));
  ASSERT_EQ(row.size(), wanted.size());
  for (size_t j = 0; j < row.size(); ++j) EXPECT_NEAR(row[j], wanted[j] / sum, 1e-7 + 1e-5 * wanted[j] / sum);
  const std::vector<float> cell = numbers_in(ask("GET", inside(at + "&columns=1&column=4321")));
  ASSERT_EQ(cell.size(), 1u);
  EXPECT_NEAR(cell[0], wanted[4321] / sum, 1e-7);
  const Reply pooled = ask("GET", inside(at + "&level=5&column=64&columns=3"));
  ASSERT_EQ(pooled.body.size(), 8u + 2 * 3 * 4);
  EXPECT_GE(numbers_in(pooled)[0], *std::max_element(row.begin() + 64, row.begin() + 96));
  for (const char* more : {"&columns=1&column=6000", "&columns=0", "&level=31"})
    EXPECT_EQ(ask("GET", inside(at + more)).status, 400) << more;
  const std::string all = fmt::format("tile?run={}&place=self&rows=6000&columns=6000", run);
  EXPECT_EQ(ask("GET", inside(all)).status, 400);  // more squares than one answer has
}

// Two of the steps that make a weight, by the model's own queries and keys, and the weight that the page shows.
TEST_F(Page, StepsOfARowEndInItsWeights) {
  const Json seen = run("en-de", "The bank approved the loan.");
  const std::string at = fmt::format("run={}&place=encoder.0.self&head=1", seen["run"].get<int64_t>());
  const Json steps = Json::parse(ask("GET", inside("steps?row=2&" + at)).body);
  const std::vector<float> row = numbers_in(ask("GET", inside("tile?rows=1&row=2&" + at)));
  ASSERT_FALSE(steps["keys"].empty());
  for (const Json& key : steps["keys"]) {
    EXPECT_NEAR(key["weight"].get<double>(), row[key["column"].get<size_t>()], 1e-5);
    EXPECT_NEAR(key["score"].get<double>(), steps["scale"].get<double>() * key["product"].get<double>(), 1e-9);
  }
  EXPECT_EQ(steps["context"].size(), 6u);
  EXPECT_EQ(ask("GET", inside("steps?row=99&" + at)).status, 400);
  EXPECT_EQ(ask("GET", inside(fmt::format("steps?run={}&place=decoder.0.cross", seen["run"].get<int64_t>()))).status,
            404);
}

TEST_F(Page, ExplainsAnAnswerByItsWordsAndChecksThat) {
  const Json asked = {{"model", "sentiment"}, {"text", "Not a good <film>."},
                      {"answer", "negative"}, {"methods", "attention,rollout,leave-one-out"},
                      {"erase", "remove"},    {"check", "yes"}};
  const Json told = Json::parse(ask("POST", inside("explain"), asked.dump()).body);
  EXPECT_EQ(told["answer"], "negative");
  EXPECT_EQ(told["words"].size(), 4u);
  EXPECT_EQ(told["methods"][0]["words"].size(), 4u);
  EXPECT_TRUE(told["methods"][1].contains("unfit"));
  EXPECT_EQ(told["check"]["methods"].back()["name"], "random");
  EXPECT_EQ(told["check"]["erased"], "removed");
  EXPECT_EQ(told["choices"].size(), 2u);
  const auto status = [&](const char* key, const Json& value) {
    Json other = asked;
    other[key] = value;
    return ask("POST", inside("explain"), other.dump()).status;
  };
  EXPECT_EQ(status("answer", "neutral"), 404);
  EXPECT_EQ(status("methods", "magic"), 404);
  EXPECT_EQ(status("erase", "burn"), 400);
  EXPECT_EQ(status("model", "entities"), 404);
  EXPECT_EQ(status("check", 1), 400);
  EXPECT_EQ(status("text", std::string(3000, 'a')), 400);
  EXPECT_EQ(ask("POST", inside("explain"), "{}").status, 400);
}

TEST_F(Page, BadRequestsAreToldAndTheNextOneIsAnswered) {
  const auto post = [&](const std::string& body) { return ask("POST", inside("run"), body); };
  EXPECT_EQ(post("").status, 400);
  EXPECT_EQ(post("[1,2]").status, 400);
  EXPECT_EQ(post("{\"model\": 1, \"text\": \"a\"}").status, 400);
  EXPECT_EQ(post("{\"model\": \"../../secret\", \"text\": \"a\"}").status, 404);
  EXPECT_EQ(post("{\"model\": \"entities\", \"text\": \"a\"}").status, 404);  // it is there, but nobody named it
  EXPECT_EQ(post(Json{{"model", "sentiment"}, {"text", std::string(3000, 'a')}}.dump()).status, 400);
  EXPECT_EQ(post(std::string(10000, ' ')).status, 413);
  EXPECT_NE(post("{\"model\": \"sentiment\", \"text\": \"\xff\"}").status, 200);
  for (const std::string query :
       {"tile", "tile?run=99&place=pooling", "tile?run=0&place=x", "tile?run=x", "tile?run=-1",
        "tile?run=0&place=pooling&rows=100000000", "tile?level=99999999999999999999"})
    EXPECT_GE(ask("GET", inside(query)).status, 400) << query;
  EXPECT_EQ(raw("nonsense\r\n\r\n").status, 400);
  EXPECT_EQ(run("sentiment", "still here")["text"], "still here");
}

TEST_F(Page, OldRecordingsGo) {
  const Json first = run("sentiment", "one");
  run("sentiment", "two"), run("sentiment", "three");
  const std::string query = fmt::format("tile?run={}&place=pooling", first["run"].get<int64_t>());
  EXPECT_EQ(ask("GET", inside(query)).status, 404);
}

// However many texts are read, those that stay have no more tokens than a limit, beside the latest.
TEST(ViewSession, AModelMayBeAskedForInAnotherPrecision) {
  ViewSession session({.models = {"sentiment"}});
  const Json whole = Json::parse(session.run("sentiment", "A wonderful film."));
  const Json rounded = Json::parse(session.run("sentiment @ int8", "A wonderful film."));
  EXPECT_EQ(whole["precision"], "f32");
  EXPECT_EQ(rounded["precision"], "int8");
  EXPECT_EQ(rounded["model"], "sentiment @ int8");
  EXPECT_NE(rounded["places"][0]["weights"], whole["places"][0]["weights"]);
  EXPECT_THROW(session.run("sentiment @ int9", "A wonderful film."), Error);
  EXPECT_THROW(session.run("en-de @ int8", "A wonderful film."), Error);
}

TEST(ViewSession, LongTextsDriveOutOldOnes) {
  ViewSession session({.models = {"sentiment"}, .most_recordings = 4, .most_tokens = 30});
  auto run = [&](const std::string& text) { return Json::parse(session.run("sentiment", text))["run"].get<int64_t>(); };
  const int64_t first = run("one two three"), second = run("four five six");
  EXPECT_NO_THROW(session.tile({.run = first, .place = "pooling"}));
  std::string longer;
  for (int i = 0; i < 40; ++i) longer += "word ";
  const int64_t third = run(longer);
  EXPECT_THROW(session.tile({.run = first, .place = "pooling"}), Error);
  EXPECT_THROW(session.tile({.run = second, .place = "pooling"}), Error);
  EXPECT_NO_THROW(session.tile({.run = third, .place = "pooling"}));
}

TEST(PageFile, HoldsTheRecordingAndNoMarkOfTheText) {
  Recording seen;
  seen.text = "</script><script>alert(1)</script>";
  seen.sequences["source"] = {.text = seen.text, .ids = {1}, .pieces = {seen.text}, .spans = {{0, 34}}};
  const std::string html = page({.recordings = {seen}});
  EXPECT_EQ(html.find("alert(1)</script>"), std::string::npos);
  EXPECT_NE(html.find("alert(1)"), std::string::npos);
  EXPECT_LT(html.size(), size_t{300000});
}

}  // namespace
}  // namespace fovea
