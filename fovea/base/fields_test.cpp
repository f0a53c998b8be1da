#include "fovea/base/fields.h"

#include <gtest/gtest.h>

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
  std::string deep(100000, '[');
  EXPECT_NE(error_of([&] { from_json(deep, config, "c.json"); }), "no error");
}

}  // namespace
}  // namespace fovea
