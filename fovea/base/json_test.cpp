#include "fovea/base/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fovea/base/error.h"

namespace fovea {
namespace {

std::string error_of(std::string_view text) {
  try {
    parse_json(text, "c.json");
    parse_json<nlohmann::ordered_json>(text, "c.json");
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), Error::corrupt);
    return e.what();
  }
  return "no error";
}

std::string repeated(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

TEST(ForeignJson, BalancedDepthIsAnErrorBeforeItIsBuilt) {
  for (const auto& [open, close] : {std::pair{"[", "]"}, {"{\"a\":", "}"}, {"[{\"a\":", "}]"}}) {
    const std::string end = std::string_view(open).ends_with(':') ? "1" : "";
    EXPECT_EQ(error_of(repeated(open, 100'000) + end + repeated(close, 100'000)), "c.json: nested more than 100 deep");
    EXPECT_EQ(error_of(repeated(open, 50) + end + repeated(close, 50)), "no error");
  }
  EXPECT_EQ(error_of(std::string(100'000, '[')), "c.json: nested more than 100 deep");
}

TEST(ForeignJson, NothingStandsBehindTheValue) {
  using namespace std::literals;
  for (const std::string_view text : {"{}\0"sv, "{}\0junk"sv, "{} x"sv, "{}{}"sv, "\0{}"sv, "{\"a\0b\":1}"sv, ""sv})
    EXPECT_TRUE(error_of(text).starts_with("c.json: not valid JSON")) << text;
  EXPECT_EQ(error_of(" {} \r\n\t"), "no error");
  EXPECT_EQ(parse_json("\"a\\u0000b\"", "c.json").get<std::string>().size(), 3u);
}

TEST(ForeignJson, TextMustBeUtf8AndNumbersMustFit) {
  for (const char* text : {"\"\xff\"", "{\"\xc3\": 1}", "\"\xed\xa0\x80\"", "1e999", "\"\\ud800\"", "NaN", "{]"})
    EXPECT_TRUE(error_of(text).starts_with("c.json: not valid JSON")) << text;
}

// An ordered object looks through all of its keys for each that it gets: a million of them would take minutes.
TEST(ForeignJson, ManyKeysAreNoTrouble) {
  std::string text = "{";
  for (int i = 0; i < 300'000; ++i) text += fmt::format("{}\"{}\":1", i ? "," : "", i);
  text += "}";
  EXPECT_EQ(parse_json(text, "c.json").size(), 300'000u);
  EXPECT_THROW(parse_json<nlohmann::ordered_json>(text, "c.json"), Error);
}

}  // namespace
}  // namespace fovea
