#include "fovea/explain/picture_map.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fovea/base/error.h"

namespace fovea {
namespace {

PictureMap half_looked_at() {
  return {.picture = {4, 2, 3, std::vector<uint8_t>(24, 200)},
          .down = 1,
          .across = 2,
          .weights = {0.2, 0.1},
          .title = "cat <1>"};
}

TEST(PictureMap, IsTheBrighterTheMoreItWasLookedAt) {
  const PictureMap map = half_looked_at();
  EXPECT_EQ(map.brightness(0, 0), 1);
  EXPECT_EQ(map.brightness(0, 1), 0.5);
  const std::string text = to_terminal(map, {.width = 4});
  EXPECT_NE(text.find("38;2;200;200;200"), std::string::npos) << text;
  EXPECT_NE(text.find("38;2;125;125;125"), std::string::npos) << text;  // 200 · (0.25 + 0.75 / 2)
  EXPECT_EQ(to_terminal(map, {.width = 80, .colour = false}), "cat <1>\n██▓▓\n");
}

TEST(PictureMap, OfADarkPictureIsTheWarmerTheMoreItWasLookedAt) {
  PictureMap map = half_looked_at();
  map.picture = {4, 2, 1, std::vector<uint8_t>(8, 20)};
  const std::string text = to_terminal(map, {.width = 4});
  EXPECT_NE(text.find("38;2;213;104;23"), std::string::npos) << text;  // 20 · 0.18 + 255, 122, 24 · 0.82
  EXPECT_NE(text.find("38;2;116;62;22"), std::string::npos) << text;   // 20 · 0.59 + 255, 122, 24 · 0.41
  EXPECT_NE(to_svg({map}).find(R"(fill="#ff7a18" fill-opacity="0.410")"), std::string::npos);
}

TEST(PictureMap, IsWholeAsSvg) {
  const std::string svg = to_svg({half_looked_at(), half_looked_at()});
  EXPECT_NE(svg.find("cat &lt;1&gt;"), std::string::npos);
  EXPECT_NE(svg.find("data:image/png;base64,iVBORw0KGgo"), std::string::npos);
  EXPECT_NE(svg.find("fill-opacity=\"0.375\""), std::string::npos);
  PictureMap wrong = half_looked_at();
  wrong.weights.pop_back();
  EXPECT_THROW(to_svg({wrong}), Error);
}

// As many beside each other as fit, the others below.
TEST(PictureMap, SmallOnesStandBesideEachOther) {
  PictureMap one = half_looked_at(), other = half_looked_at();
  one.title = "rot", other.title = "blüht";
  const int64_t wide = 2 * one.across;
  const std::string beside = to_terminal(std::vector<PictureMap>{one, other}, {.width = 200, .colour = false});
  EXPECT_EQ(std::count(beside.begin(), beside.end(), '\n'), 1 + one.down);
  EXPECT_EQ(beside.substr(0, beside.find('\n')), "rot" + std::string(static_cast<size_t>(wide + 2 - 3), ' ') + "blüht");
  const std::string below =
      to_terminal(std::vector<PictureMap>{one, other}, {.width = static_cast<int>(wide), .colour = false});
  EXPECT_EQ(std::count(below.begin(), below.end(), '\n'), 2 * (1 + one.down));
  const std::string svg = to_small_svg(std::vector<PictureMap>(7, one));
  size_t panels = 0;
  for (size_t at = svg.find("<image "); at != std::string::npos; at = svg.find("<image ", at + 1)) ++panels;
  EXPECT_EQ(panels, 7u);
}

}  // namespace
}  // namespace fovea
