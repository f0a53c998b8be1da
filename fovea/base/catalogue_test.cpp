#include "fovea/base/catalogue.h"

#include <gtest/gtest.h>

namespace fovea {
namespace {

std::string error_of(std::string_view name, const std::vector<std::string>& known) {
  try {
    throw_unknown("verb", name, known);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), Error::not_found);
    return e.what();
  }
}

TEST(Catalogue, TheSuggestionComesFirst) {
  EXPECT_EQ(error_of("trian", {"attend", "train"}), "unknown verb 'trian'; did you mean 'train'? known: attend, train");
  EXPECT_EQ(error_of("xyz", {"attend", "train"}), "unknown verb 'xyz', expected one of attend, train");
}

TEST(Catalogue, AWordOfANameOrItsInitialsSuggestIt) {
  auto meant = [](std::string_view name) {
    const std::string text = error_of(name, {"header", "encoder_layers", "decoder_layers", "learning_rate",
                                             "--batch-tokens", "--beam-size", "--seed"});
    const size_t begin = text.find("mean ") + 5;
    return text.substr(begin, text.find('?') - begin);
  };
  EXPECT_EQ(meant("layer"), "'encoder_layers' or 'decoder_layers'");
  EXPECT_EQ(meant("lr"), "'learning_rate'");
  EXPECT_EQ(meant("--batch"), "'--batch-tokens'");
  EXPECT_EQ(meant("--beams"), "'--beam-size'");
  EXPECT_EQ(meant("--beem"), "'--beam-size'") << "not --seed";
  EXPECT_EQ(meant("headr"), "'header'");
  EXPECT_EQ(error_of("--lr", {"--to"}).find("did you mean"), std::string::npos);
}

TEST(Catalogue, ManyNamesAreCountedNotListed) {
  std::vector<std::string> known;
  for (int i = 0; i < 1'000'000; ++i) known.push_back(fmt::format("weight.{}", i));
  EXPECT_EQ(
      error_of("wieght.11", known),
      "unknown verb 'wieght.11'; did you mean 'weight.11'? known: weight.0, weight.1, weight.2, weight.3, weight.4, "
      "weight.5, weight.6, weight.7, weight.8, weight.9, weight.10, weight.11 and 999988 more");
  EXPECT_LT(error_of(std::string(1'000'000, 'x'), known).size(), 400u);
  EXPECT_LT(error_of("x", {std::string(100, 'y')}).size(), 200u);
}

}  // namespace
}  // namespace fovea
