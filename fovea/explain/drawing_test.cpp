#include "fovea/explain/drawing.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/image/image.h"
#include "fovea/explain/heat_map.h"
#include "fovea/explain/picture_map.h"
#include "fovea/explain/svg.h"
#include "fovea/explain/svg_texts.h"

namespace fovea {
namespace {

Image parsed(const std::string& png) { return parse_image(std::as_bytes(std::span(png)), "png"); }

std::vector<int> colour_at(const Image& image, double x, double y) {
  const auto column = static_cast<int64_t>(2 * x), row = static_cast<int64_t>(2 * y);
  return {image.at(column, row, 0), image.at(column, row, 1), image.at(column, row, 2)};
}

int64_t dark_pixels(const Image& image) {
  int64_t count = 0;
  for (int64_t y = 0; y < image.height; ++y)
    for (int64_t x = 0; x < image.width; ++x) count += image.at(x, y, 0) < 128 ? 1 : 0;
  return count;
}

const std::vector<int> white = {255, 255, 255};

TEST(Drawing, APngHasTheSheetsSizeTwiceAndItsColours) {
  const std::string svg = svg_sheet(40, 20, R"(<rect x="10" y="5" width="10" height="10" fill="#08306b"/>)");
  const Image image = parsed(to_png(svg));
  EXPECT_EQ(image.width, 80);
  EXPECT_EQ(image.height, 40);
  EXPECT_EQ(dark_pixels(image), 20 * 20);
  EXPECT_EQ(colour_at(image, 15, 10), (std::vector<int>{8, 48, 107}));
  for (const auto& [x, y] : {std::pair{1, 1}, {9, 10}, {21, 10}, {15, 4}, {15, 16}, {39, 19}})
    EXPECT_EQ(colour_at(image, x, y), white) << x << ", " << y;
}

TEST(Drawing, CellsOfAHeatMapAreWhereTheSvgHasThem) {
  const std::string svg =
      to_svg({HeatMap{.title = "", .rows = {"a", "b"}, .columns = {"c", "d"}, .values = {1, 0, 0, 1}}});
  const Image image = parsed(to_png(svg));
  const SvgBox size = svg_size(svg);
  EXPECT_EQ(image.width, 2 * static_cast<int64_t>(size.right));
  EXPECT_EQ(image.height, 2 * static_cast<int64_t>(size.bottom));
  SvgGroups groups;
  int cells = 0;
  for (const std::string& line : svg_lines(svg)) {
    double x = 0, y = 0, width = 0, height = 0;
    int red = 0, green = 0, blue = 0;
    constexpr const char* cell = R"cell(<rect x="%lf" y="%lf" width="%lf" height="%lf" fill="rgb(%d,%d,%d)")cell";
    if (groups.read(line) || std::sscanf(line.c_str(), cell, &x, &y, &width, &height, &red, &green, &blue) != 7)
      continue;
    ++cells;  // a corner, which no number stands on
    EXPECT_EQ(colour_at(image, groups.x() + x + 3, groups.y() + y + 3), (std::vector<int>{red, green, blue}));
  }
  EXPECT_EQ(cells, 4);
  EXPECT_EQ(colour_at(image, 1, 1), white);
}

// Without a font the boxes of unknown letters, or nothing, would be alike.
TEST(Drawing, LettersAreDrawnWithTheirMarks) {
  std::vector<Image> drawn;
  for (const char* text : {"u", "ü", "ß", "α", "→", "½", "…"}) {
    drawn.push_back(parsed(to_png(svg_sheet(40, 40, svg_label(10, 30, text, {.size = 24})))));
    EXPECT_GT(dark_pixels(drawn.back()), 0) << text;
    for (size_t i = 0; i + 1 < drawn.size(); ++i) EXPECT_NE(drawn[i].pixels, drawn.back().pixels) << text;
  }
}

TEST(Drawing, APictureWithinTheSheetIsDrawn) {
  const PictureMap map = {.picture = {4, 2, 3, std::vector<uint8_t>(24, 200)},
                          .down = 1,
                          .across = 2,
                          .weights = {0.2, 0.1},
                          .title = "cat"};
  const Image image = parsed(to_png(to_svg({map})));
  EXPECT_EQ(colour_at(image, 24 + 80, 24 + 28 + 80), (std::vector<int>{200, 200, 200}));
  for (const int channel : colour_at(image, 24 + 240, 24 + 28 + 80))
    EXPECT_NEAR(channel, 125, 1);  // 200 · (0.25 + 0.75 / 2)
}

TEST(Drawing, APdfIsOnePageOfTheSheetsSizeWithoutADate) {
  const std::string svg = svg_sheet(400, 200, svg_label(10, 30, "Ein Wort", {.size = 24}));
  const std::string pdf = to_pdf(svg);
  EXPECT_TRUE(pdf.starts_with("%PDF-"));
  EXPECT_NE(pdf.find("%%EOF"), std::string::npos);
  double x = 1, y = 1, width = 0, height = 0;
  const size_t box = pdf.find("/MediaBox [");
  ASSERT_NE(box, std::string::npos);
  ASSERT_EQ(std::sscanf(pdf.c_str() + box, "/MediaBox [ %lf %lf %lf %lf", &x, &y, &width, &height), 4);
  EXPECT_EQ((std::vector<double>{x, y, width, height}), (std::vector<double>{0, 0, 300, 150}));  // 96 pixels, 72 points
  EXPECT_EQ(pdf.find("/MediaBox", box + 1), std::string::npos);
  EXPECT_NE(pdf.find("/Count 1"), std::string::npos);
  EXPECT_NE(pdf.find("DejaVu"), std::string::npos) << "letters are letters of a font that is within";
  EXPECT_EQ(pdf.find("Date"), std::string::npos);
  EXPECT_EQ(to_pdf(svg), pdf);
}

TEST(Drawing, WhatIsTooLargeOrNoSvgIsAnError) {
  EXPECT_THROW(to_png(svg_sheet(40000, 10, "")), Error);
  EXPECT_THROW(to_png(svg_sheet(20000, 10000, "")), Error);
  EXPECT_EQ(parsed(to_png(svg_sheet(20000, 10, ""))).width, 20000);  // twice as many are too many
  for (const std::string bad :
       {"", "no picture", "<svg", "<html></html>", "<svg xmlns=\"http://www.w3.org/2000/svg\"><b"}) {
    EXPECT_THROW(to_png(bad), Error) << bad;
    EXPECT_THROW(to_pdf(bad), Error) << bad;
  }
}

TEST(Drawing, TheEndingSaysWhatIsWritten) {
  const std::string svg = svg_sheet(40, 20, ""), folder = testing::TempDir();
  const auto written = [&](const std::string& name) {
    write_drawing(folder + "/" + name, svg);
    return read_text(folder + "/" + name);
  };
  EXPECT_EQ(written("a.svg"), svg);
  EXPECT_EQ(written("a"), svg);
  EXPECT_EQ(written("a.png"), to_png(svg));
  EXPECT_EQ(written("a.pdf"), to_pdf(svg));
}

}  // namespace
}  // namespace fovea
