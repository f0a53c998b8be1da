#include "fovea/base/fields.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/error.h"

namespace fovea {
namespace {

struct Config {
  int64_t heads = 8;
  double dropout = 0.1;
  bool causal = false;
  std::string form = "scaled-dot";
  std::vector<std::string> tokens;
  void fields(Fields& f) {
    f("heads", heads, "attention heads");
    f("dropout", dropout, "share of weights that is dropped");
    f("causal", causal, "no look at the future");
    f("form", form, "form of attention");
    f("tokens", tokens, "names of the keys");
  }
};

std::string error_of(auto&& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Fields, JsonAndYamlReadWhatTheyWrote) {
  Config written{
      .heads = 3, .dropout = 0.25, .causal = true, .form = "yes: #1\n\"dot\"", .tokens = {"I", "true", "7", "ü"}};
  for (bool yaml : {false, true}) {
    Config read;
    if (yaml)
      from_yaml(to_yaml(written), read, "test");
    else
      from_json(to_json(written), read, "test");
    EXPECT_EQ(read.heads, 3);
    EXPECT_EQ(read.dropout, 0.25);
    EXPECT_TRUE(read.causal);
    EXPECT_EQ(read.form, written.form);
    EXPECT_EQ(read.tokens, written.tokens);
  }
}

TEST(Fields, PlainYamlKeepsTheOtherDefaults) {
  Config config;
  from_yaml("# a recipe\nheads: 4\nform: dot\ntokens: [a, b]\n", config, "r.yaml");
  EXPECT_EQ(config.heads, 4);
  EXPECT_EQ(config.form, "dot");
  EXPECT_EQ(config.tokens, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(config.dropout, 0.1);
}

TEST(Fields, UnknownKeySuggestsTheNearest) {
  Config config;
  std::string text = error_of([&] { from_yaml("haeds: 4", config, "r.yaml"); });
  EXPECT_NE(text.find("r.yaml"), std::string::npos) << text;
  EXPECT_NE(text.find("did you mean 'heads'?"), std::string::npos) << text;
}

TEST(Fields, WrongTypesAndBrokenTextNameTheFile) {
  Config config;
  EXPECT_EQ(error_of([&] { from_json(R"({"heads": "many"})", config, "c.json"); }),
            R"(c.json: 'heads': found "many", expected a whole number)");
  EXPECT_NE(error_of([&] { from_json("{", config, "c.json"); }).find("c.json: not valid JSON"), std::string::npos);
  EXPECT_NE(error_of([&] { from_yaml("a: [", config, "c.yaml"); }).find("c.yaml:"), std::string::npos);
  EXPECT_NE(error_of([&] { from_json("[1]", config, "c.json"); }).find("expected keys and values"), std::string::npos);
  EXPECT_EQ(error_of([&] { from_json(R"({"heads": 9223372036854775808})", config, "c.json"); }),
            "c.json: 'heads': found 9223372036854775808, expected a whole number");
  for (const char* value : {".nan", ".inf", "-.inf"})
    EXPECT_NE(error_of([&] { from_yaml(fmt::format("dropout: {}", value), config, "c.yaml"); }).find("a finite number"),
              std::string::npos);
}

TEST(Fields, DeepTextsAreErrors) {
  Config config;
  const int levels = 100'000;
  for (const auto& [open, close] : {std::pair{"[", "]"}, {"{a: ", "}"}, {"- ", ""}, {"? ", ""}}) {
    std::string text;
    for (int i = 0; i < levels; ++i) text += open;
    text += "x";
    for (int i = 0; i < levels; ++i) text += close;
    EXPECT_NE(error_of([&] { from_yaml(text, config, "c.yaml"); }).find("c.yaml"), std::string::npos) << open;
  }
  const std::string deep = std::string(levels, '[') + std::string(levels, ']');
  EXPECT_EQ(error_of([&] { from_json(R"({"form": )" + deep + "}", config, "c.json"); }),
            "c.json: nested more than 100 deep");
}

// Each line holds ten of the line before: a thousand million values, or the copies of one long text.
TEST(Fields, AliasesThatExpandWithoutEndAreErrors) {
  std::string bomb = "a0: &a0 [x]\n";
  for (int i = 1; i < 10; ++i) {
    bomb += fmt::format("a{}: &a{} [", i, i);
    for (int k = 0; k < 10; ++k) bomb += fmt::format("*a{}, ", i - 1);
    bomb += "]\n";
  }
  std::string copies = "text: &t \"" + std::string(100'000, 'x') + "\"\nlist: [";
  for (int i = 0; i < 50'000; ++i) copies += "*t, ";
  copies += "]\n";
  for (const std::string& text : {bomb, copies, std::string("a: &a [*a]"), std::string("a: &a {b: *a}")}) {
    Config config;
    EXPECT_NE(error_of([&] { from_yaml(text, config, "c.yaml"); }), "no error");
    EXPECT_NE(error_of([&] { yaml_to_json(text, "c.yaml"); }), "no error");
  }
  EXPECT_EQ(yaml_to_json("a: &a [1, x]\nb: *a", "c.yaml"), R"({"a":[1,"x"],"b":[1,"x"]})");
  EXPECT_NE(error_of([&] { yaml_to_json("a: 1\na: 2", "c.yaml"); }).find("'a' stands there twice"), std::string::npos);
}

TEST(Fields, ScalarsOfYamlStayTexts) {
  EXPECT_EQ(yaml_scalar("cc-by-4.0"), "cc-by-4.0");
  EXPECT_EQ(yaml_scalar("en"), "en");
  struct Card {
    std::string license;
    std::vector<std::string> language;
    void fields(Fields& f) {
      f("license", license, "");
      f("language", language, "");
    }
  };
  for (const char* text :
       {"no", "null", "Yes", "1.5", "", "a\nb: c", "a, b", "a\n---\nb", "x]", "#", "-", "inf", ".inf"}) {
    Card card;
    from_yaml(fmt::format("license: {}\nlanguage: [en, {}]\n", yaml_scalar(text), yaml_scalar(text)), card, "card");
    EXPECT_EQ(card.license, text);
    EXPECT_EQ(card.language, (std::vector<std::string>{"en", text}));
  }
}

// Whatever was written is read again, and what could not be read is not written.
TEST(Fields, EveryValueComesBackOrIsRefused) {
  using namespace std::literals;
  const std::string texts[] = {"",
                               " ",
                               "a: b",
                               "# no comment",
                               "- item",
                               "-",
                               "---",
                               "...",
                               "yes",
                               "null",
                               "~",
                               "true",
                               "1e5",
                               "7",
                               "-0",
                               ".nan",
                               "0x10",
                               "\"quoted\"",
                               "'single'",
                               "back\\slash",
                               "tab\there",
                               "line\nbreak",
                               "\r\n",
                               "trailing ",
                               "\x01\x1f\x7f",
                               "nul\0inside"s,
                               "\u0085\u2028\u2029",
                               "\ufeff",
                               "👩‍👩‍👧",
                               "&anchor",
                               "*alias",
                               "!tag",
                               "%directive",
                               "[1, 2",
                               "{a",
                               "@`|>",
                               "${x}",
                               std::string(5000, 'x')};
  const double numbers[] = {0.0, -0.0, 1e-300, 1.7976931348623157e308, 5e-324, 0.1, 3, 1e15, 1e16, 123456789.123};
  const int64_t counts[] = {0, -1, INT64_MAX, INT64_MIN};
  const auto back = [](const Config& written, bool yaml) {
    Config read;
    if (yaml)
      from_yaml(to_yaml(written), read, "test");
    else
      from_json(to_json(written), read, "test");
    return read;
  };
  for (const bool yaml : {false, true}) {
    for (const std::string& text : texts) {
      const Config read = back({.form = text, .tokens = {text, "", text}}, yaml);
      EXPECT_EQ(read.form, text) << yaml;
      EXPECT_EQ(read.tokens, (std::vector<std::string>{text, "", text})) << yaml;
    }
    for (const double number : numbers) EXPECT_EQ(back({.dropout = number}, yaml).dropout, number);
    for (const int64_t count : counts) EXPECT_EQ(back({.heads = count}, yaml).heads, count);
    EXPECT_EQ(back({.causal = true}, yaml).causal, true);
    EXPECT_TRUE(back({.tokens = {}}, yaml).tokens.empty());
    EXPECT_EQ(error_of([&] { back({.dropout = NAN}, yaml); }), "'dropout': found nan, expected a finite number");
    EXPECT_EQ(error_of([&] { back({.dropout = -INFINITY}, yaml); }), "'dropout': found -inf, expected a finite number");
    EXPECT_TRUE(error_of([&] { back({.form = "caf\xe9"}, yaml); }).starts_with("'form': byte 3: found 0xe9"));
    EXPECT_TRUE(error_of([&] { back({.tokens = {"\xff"}}, yaml); }).starts_with("'tokens': byte 0: found 0xff"));
  }
}

TEST(Fields, BytesThatYamlMakesOfNulAreErrors) {
  EXPECT_THROW(yaml_to_json(std::string_view("num\0NU: e\n", 10), "r.yaml"), Error);
}

}  // namespace
}  // namespace fovea
