#include "fovea/data/text/chat_template.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "test_paths.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

const Json& golden() {
  static const Json numbers = Json::parse(read_text(fs::path(test_data) / "golden/chat_templates.json"));
  return numbers;
}

std::tm saturday() {  // 6 July 2024, 9:05:03
  std::tm time{};
  time.tm_year = 124, time.tm_mon = 6, time.tm_mday = 6, time.tm_hour = 9, time.tm_min = 5, time.tm_sec = 3;
  timegm(&time);
  return time;
}

std::string render(const std::string& source, const Json& variables, ChatTemplate::Options options = {}) {
  options.clock = saturday;
  return ChatTemplate(source, "test")(variables, options);
}

// What the Error says, or the text in angle brackets if there was none.
std::string error_of(const std::string& source, const Json& variables = Json::object(),
                     Error::Kind kind = Error::invalid, ChatTemplate::Options options = {}) {
  try {
    return "<" + render(source, variables, options).substr(0, 100) + ">";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << source << ": " << e.what();
    return e.what();
  }
}

void expect_as_jinja(const std::string& source, const Json& variables, const Json& expected) {
  try {
    const std::string text = render(source, variables);
    ASSERT_TRUE(expected.contains("text")) << source.substr(0, 300) << "\ngave " << text;
    EXPECT_EQ(text, expected["text"].get<std::string>()) << source.substr(0, 300);
  } catch (const Error& e) {
    ASSERT_FALSE(expected.contains("text")) << source.substr(0, 300) << "\n" << e.what();
    const std::string raised = expected.value("error", std::string());
    EXPECT_TRUE(std::string(e.what()).ends_with(raised)) << e.what() << "\n" << raised;
  }
}

TEST(ChatTemplates, FamiliesAsJinja2RendersThem) {
  for (const Json& example : golden()["cases"]) {
    Json variables = example["variables"];
    variables["messages"] = golden()["turns"][example["turns"].get<std::string>()];
    if (example["tools"]) variables["tools"] = golden()["tools"];
    SCOPED_TRACE(example["template"].get<std::string>() + " " + example["turns"].get<std::string>());
    expect_as_jinja(golden()["templates"][example["template"].get<std::string>()], variables, example);
  }
}

TEST(ChatTemplates, EachPieceOfTheLanguageAsJinja2RendersIt) {
  for (const Json& snippet : golden()["snippets"]) expect_as_jinja(snippet["source"], golden()["variables"], snippet);
}

TEST(ChatTemplates, ErrorsNameTheLineAndTheThing) {
  EXPECT_EQ(error_of("a\n{{ raise_exception('No ' ~ 'way') }}"), "test:2: No way");
  EXPECT_EQ(error_of("a\n\n{{ 1|frobnicate }}", Json::object(), Error::unsupported),
            "test:3: found the filter 'frobnicate', which chat templates do not have");
  EXPECT_NE(error_of("{{ 1 is frobnicated }}", Json::object(), Error::unsupported)
                .find("test:1: found the test 'frobnicated'"),
            std::string::npos);
  EXPECT_EQ(error_of("\n{{ frobnicate(1) }}"), "test:2: 'frobnicate' is undefined");
  EXPECT_EQ(error_of("{% if true %}\n{{ 1 + }}"), "test:2: found }}, expected an expression");
  EXPECT_EQ(error_of("{% if true %}\n"), "test:1: found the end of the template, expected {% endif %}");
  EXPECT_EQ(error_of("\n{{ 'a }}"), "test:2: found a string without an end");
  EXPECT_EQ(error_of("{{ x.y }}"), "test:1: 'x' is undefined");
  EXPECT_EQ(error_of("{{ x.y.z }}", Json::parse(R"({"x": {}})")), "test:1: found no 'y' in a value of type 'dict'");
  EXPECT_EQ(error_of("{% include 'x' %}", Json::object(), Error::unsupported),
            "test:1: found the tag 'include', which chat templates do not have");
  EXPECT_THROW(render("{{ 1 }}", Json::array()), Error);
  EXPECT_THROW(render("\xff", Json::object()), Error);
}

TEST(ChatTemplates, NoTemplateTakesMoreTimeOrMemoryThanItMay) {
  const auto stops = [](const std::string& source, std::string_view why) {
    const std::string error = error_of(source, Json::object(), Error::invalid, {.steps = 2'000'000});
    EXPECT_NE(error.find(why), error.npos) << source.substr(0, 200) << "\n" << error;
  };
  const std::string steps = "more than 2000000 steps", deep = "deep";
  stops("{{ 'a' * 10**9 }}", steps);
  stops("{{ [0] * 10**9 }}", steps);
  stops("{{ 'ab' * 9223372036854775807 }}", steps);
  stops("{{ range(10**9)|list }}", "range: found 1000000000 items");
  stops("{% set ns = namespace(s='aaaaaaaa') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
        steps);
  stops("{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = ns.l + ns.l %}{% endfor %}", steps);
  stops("{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l }}",
        steps);
  stops(
      "{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l|tojson "
      "}}",
      steps);
  stops(
      "{% set ns = namespace(l=1, m=1) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% set ns.m = [ns.m, "
      "ns.m] %}{% endfor %}{{ ns.l == ns.m }}",
      steps);
  stops("{% set ns = namespace(l=1) %}{% for i in range(1000) %}{% set ns.l = [ns.l] %}{% endfor %}{{ ns.l }}", deep);
  stops(
      "{% for a in range(10000) %}{% for b in range(10000) %}{% for c in range(10000) %}{% endfor %}{% endfor %}{% "
      "endfor %}",
      steps);
  stops("{{ ('a' * 100000).replace('', 'b' * 100000) }}", steps);
  stops("{{ ('a,' * 1000000).split(',')|join('b' * 1000000) }}", steps);
  stops("{{ ('a' * 1000000).find('a' * 500000 ~ 'b') }}", steps);
  stops("{{ ('a' * 1000000).strip('a' * 500000) }}", "strip");
  stops("{{ 'a'.ljust(10**12) }}", steps);
  stops("{{ 'a'|indent(10**12) }}", steps);
  stops("{{ [1]|batch(10**12, 0) }}", steps);
  stops("{{ '%1000000s' % 1 }}", "width");
  stops("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", deep);
  stops("{% macro m(n) %}{{ m(n + 1) ~ m(n + 1) }}{% endmacro %}{{ m(0) }}", deep);
  EXPECT_EQ(error_of("{{ 9223372036854775807 + 1 }}", Json::object(), Error::unsupported),
            "test:1: found an int beyond 64 bits");
  stops("{{ " + std::string(100000, '(') + "1" + std::string(100000, ')') + " }}", deep);
  stops("{{ " + std::string(100000, '-') + "1 }}", deep);
  stops(
      "{{ 1" +
          [] {
            std::string s;
            for (int i = 0; i < 100000; ++i) s += "+1";
            return s;
          }() +
          " }}",
      "levels");
  stops(
      "{{ x" +
          [] {
            std::string s;
            for (int i = 0; i < 100000; ++i) s += "|trim";
            return s;
          }() +
          " }}",
      "levels");
  stops(
      [] {
        std::string s;
        for (int i = 0; i < 100000; ++i) s += "{% if true %}";
        return s;
      }(),
      deep);
  EXPECT_EQ(error_of("{{ 'a' * 10000 }}", Json::object(), Error::invalid, {.steps = 100}).substr(0, 40),
            "test:1: the template takes more than 100");
}

TEST(ChatTemplates, ObjectsMayReferToThemselves) {
  EXPECT_EQ(render("{% set a = namespace() %}{% set a.me = a %}{% set a.list = [a] %}{{ a.me.me.list[0].me == a }}",
                   Json::object()),
            "True");
  EXPECT_EQ(render("{% set ns = namespace(next=none) %}{% for i in range(50000) %}{% set ns.next = "
                   "namespace(next=ns.next) %}{% endfor %}ok",
                   Json::object()),
            "ok");
}

TEST(ChatTemplates, FoundInAModelsFolder) {
  const fs::path folder = fs::path(testing::TempDir()) / ("fovea_chat_" + std::to_string(getpid()));
  fs::create_directories(folder);
  EXPECT_EQ(find_chat_template(folder), "");
  write_text(folder / "tokenizer_config.json", R"({"bos_token": "<s>"})");
  EXPECT_EQ(find_chat_template(folder), "");
  write_text(folder / "tokenizer_config.json", R"({"chat_template": "one"})");
  EXPECT_EQ(find_chat_template(folder), "one");
  write_text(folder / "tokenizer_config.json",
             R"({"chat_template": [{"name": "rag", "template": "two"}, {"name": "default", "template": "three"}]})");
  EXPECT_EQ(find_chat_template(folder), "three");
  write_text(folder / "tokenizer_config.json", R"({"chat_template": 5})");
  EXPECT_THROW(find_chat_template(folder), Error);
  write_text(folder / "chat_template.json", R"({"chat_template": "four"})");
  EXPECT_EQ(find_chat_template(folder), "four");
  write_text(folder / "chat_template.jinja", "five");
  EXPECT_EQ(find_chat_template(folder), "five");
  fs::remove_all(folder);
}

}  // namespace
}  // namespace fovea
