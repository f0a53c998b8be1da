// Pictures on the page.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fovea/explain/record_file.h"
#include "fovea/serve/page.h"
#include "fovea/serve/session.h"
#include "test_paths.h"

namespace fovea {
namespace {

const std::filesystem::path root = std::filesystem::path(test_data) / "..";

std::string example(const std::string& name) { return (root / "examples" / name).string(); }

TEST(PicturePage, ThePagesOfAllExamplesAreSmall) {
  for (const auto& [model, count] : {std::pair{"fashion", 6}, {"scenes", 4}}) {
    const Pretrained p = load_pretrained(root / "zoo" / model);
    for (int i = 1; i <= count; ++i)
      EXPECT_LT(page({.recordings = {record(p, example(fmt::format("{}/{}.png", model, i)))}}).size(), 1'000'000u);
  }
}

// A page asks for what its user named, and for no other file.
TEST(PicturePage, OnlyTheFileThatWasNamedIsRead) {
  const std::string named = example("scenes/1.png");
  ViewSession session({.models = {(root / "zoo/scenes").string(), (root / "zoo/fashion").string()}, .files = {named}});
  for (const std::string& model : session.models()) {
    const nlohmann::json json = nlohmann::json::parse(session.run(model, named));
    EXPECT_EQ(json["text"], named);
    EXPECT_TRUE(json.contains("picture"));
    EXPECT_THROW(session.run(model, example("scenes/2.png")), Error);
    EXPECT_THROW(session.run(model, "The bank approved the loan."), Error);
    EXPECT_THROW(session.explain({.model = model, .text = named}), Error);
  }
}

}  // namespace
}  // namespace fovea
