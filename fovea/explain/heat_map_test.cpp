#include "fovea/explain/heat_map.h"

#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "fovea/explain/colours.h"
#include "fovea/explain/measure.h"
#include "fovea/explain/svg_texts.h"

namespace fovea {
namespace {

const std::vector<std::string> names = {
    "The", "Bundesverfassungsgericht", "字典", "🙂", "re\u0301sume\u0301", "in", "WWWWWWWWWWWW"};

HeatMap sample(size_t rows, size_t columns, const std::string& title = "") {
  HeatMap map = {.title = title, .rows = {}, .columns = {}, .values = std::vector<double>(rows * columns, 0.125)};
  for (size_t r = 0; r < rows; ++r) map.rows.push_back(names[(r + 1) % names.size()]);
  for (size_t c = 0; c < columns; ++c) map.columns.push_back(names[(c + 3) % names.size()]);
  return map;
}

std::string without_codes(const std::string& text) {
  return std::regex_replace(text, std::regex("\x1b\\[[0-9;]*m"), "");
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

TEST(TerminalHeatMap, NoLineIsWiderThanTheTerminal) {
  for (const size_t columns : {1u, 3u, 12u, 60u}) {
    const HeatMap map = sample(3, columns, "a title that is much longer than the narrowest of these terminals");
    for (int width = 8; width <= 200; ++width) {
      for (const std::string& line : svg_lines(without_codes(to_terminal(map, {.width = width}))))
        EXPECT_LE(cells(line), width) << columns << " columns: " << line;
    }
  }
}

// Each column has its heading and its numbers, in whatever block, at every width.
TEST(TerminalHeatMap, FoldedMapsKeepAllColumns) {
  HeatMap map = {.title = "", .rows = {"a", "b"}, .columns = {}, .values = {}};
  for (int c = 0; c < 12; ++c) map.columns.push_back("w" + std::to_string(c));
  for (int i = 0; i < 24; ++i) map.values.push_back(i / 100.0);
  for (const int width : {30, 40, 64, 80, 200}) {
    const std::string text = to_terminal(map, {.width = width, .colour = false});
    for (const std::string& column : map.columns)
      EXPECT_EQ(count_of(text + " ", column + "\n") + count_of(text, column + " "), 1u);
    for (int i = 0; i < 24; ++i) EXPECT_NE(text.find("0." + std::to_string(100 + i).substr(1)), std::string::npos) << i;
  }
}

TEST(TerminalHeatMap, WideMapsTurnTheirHeadings) {
  HeatMap map = sample(1, 40);
  map.rows = {"row"}, map.columns.assign(40, "ab"), map.values.assign(40, 0.6);
  const std::vector<std::string> lines = svg_lines(to_terminal(map, {.width = 40, .colour = false}));
  ASSERT_GT(lines.size(), 3u);
  EXPECT_EQ(lines[0].substr(0, 9), "      a a") << lines[0];
  EXPECT_EQ(lines[1].substr(0, 9), "      b b");
  EXPECT_TRUE(lines[2].starts_with("row  ▓▓▓▓")) << lines[2];
  EXPECT_NE(lines.back().find("--json or --svg"), std::string::npos);
}

TEST(HeatMap, MaskedCellsHaveNoNumber) {
  HeatMap map = {.title = "", .rows = {"a", "b"}, .columns = {"a", "b"}, .values = {1, 0, 0.25, 0.75}};
  map.mask_future();
  EXPECT_EQ(to_terminal(map, {.width = 80, .colour = false}),
            "         a      b\n"
            "a   1.0000      ·\n"
            "b   0.2500 0.7500\n");
  const std::string svg = to_svg({map});
  EXPECT_EQ(count_of(svg, ">0.00<") + count_of(svg, "0.0000"), 0u);
  EXPECT_EQ(count_of(svg, "<title>a → b: masked</title>"), 1u);
  EXPECT_EQ(count_of(svg, "fill=\"url(#masked)\""), 1u);
  map.values[3] = std::nan("");
  EXPECT_EQ(count_of(to_svg({map}), "fill=\"url(#no-number)\""), 1u);
}

void expect_good_layout(const std::string& svg) {
  const std::vector<SvgText> texts = svg_texts(svg);
  ASSERT_EQ(texts.size(), count_of(svg, "<text "));
  for (size_t i = 0; i < texts.size(); ++i) {
    const SvgBox& b = texts[i].box;
    EXPECT_TRUE(svg_size(svg).holds(b)) << texts[i].text << ": " << b.left << " " << b.top << " " << b.right << " "
                                        << b.bottom;
    for (size_t j = 0; j < i; ++j)
      EXPECT_FALSE(texts[i].bold && texts[j].bold && b.meets(texts[j].box))
          << texts[i].text << " covers " << texts[j].text;
  }
}

TEST(SvgHeatMap, NoTextLeavesThePictureAndNoTitlesMeet) {
  const std::string title = "scaled-dot attention of a rather long name, batch row 3, head 7: WWWWWWWWWWWWWWWWWWWWWWWW";
  for (const size_t size : {1u, 2u, 5u, 9u, 30u}) {
    std::vector<HeatMap> maps = {sample(size, size, title), sample(1, size, title),
                                 sample(size, 1, "decoder.2.cross, head 1")};
    expect_good_layout(to_svg(maps));
    maps[0].heading = maps[1].heading = "The bank approved the loan, after a sentence " + std::string(300, 'M');
    maps[2].heading = "Another sentence.";
    expect_good_layout(to_svg(maps));
  }
}

TEST(SvgHeatMap, TabsOfTitlesAreSpaces) {
  const std::string svg = to_svg({sample(1, 3, "negative\t0.8713")});
  EXPECT_NE(svg.find(">negative 0.8713<"), std::string::npos);
}

TEST(SvgHeatMap, HeadingsNameWhatPanelsBelongTo) {
  std::vector<HeatMap> maps(4, sample(2, 2, "head"));
  maps[0].heading = maps[1].heading = "First.";
  maps[2].heading = maps[3].heading = "Second.";
  const std::string svg = to_svg(maps);
  EXPECT_EQ(count_of(svg, ">First.<"), 1u);
  EXPECT_LT(svg.find(">First.<"), svg.find(">Second.<"));
}

TEST(SvgHeatMap, HeadsOfSeveralLayersAreAGrid) {
  std::vector<HeatMap> maps;
  for (const char* layer : {"encoder.0.self", "encoder.1.self", "decoder.0.cross"}) {
    for (int64_t head = 0; head < 4; ++head) {
      maps.push_back(sample(5, 5, "title"));
      maps.back().layer = layer, maps.back().head = head;
    }
  }
  const std::string svg = to_svg(maps);
  expect_good_layout(svg);
  EXPECT_EQ(count_of(svg, "<rect x"), 12u * 25u);
  EXPECT_EQ(count_of(svg, ">title<") + count_of(svg, ">0.12<") + count_of(svg, ">0.13<"), 0u);
  const std::vector<SvgText> texts = svg_texts(svg);
  auto find = [&](const std::string& text) {
    return *std::find_if(texts.begin(), texts.end(), [&](const SvgText& t) { return t.text == text; });
  };
  EXPECT_LT(find("encoder.0.self").box.bottom, find("encoder.1.self").box.top);
  EXPECT_LT(find("encoder.1.self").box.bottom, find("decoder.0.cross").box.top);
  for (int head = 0; head < 3; ++head)
    EXPECT_LT(find("head " + std::to_string(head)).box.right, find("head " + std::to_string(head + 1)).box.left);
  maps.resize(4);  // one layer: panels with numbers
  EXPECT_EQ(count_of(to_svg(maps), ">title<"), 4u);
}

// WCAG's contrast of a colour with white (1) or black (0).
double contrast(Colour c, double other) {
  auto linear = [](int channel) {
    const double v = channel / 255.0;
    return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
  };
  const double luminance = 0.2126 * linear(c.red) + 0.7152 * linear(c.green) + 0.0722 * linear(c.blue);
  return (std::max(luminance, other) + 0.05) / (std::min(luminance, other) + 0.05);
}

TEST(TerminalColours, ReadOnBlackAndOnWhite) {
  int vivid = -1;
  for (double value = 0; value <= 1; value += 1.0 / 64) {
    const Colour c = terminal_colour_of(value);
    EXPECT_GE(contrast(c, 0), 3.9) << value;
    EXPECT_GE(contrast(c, 1), 4.4) << value;
    const int spread = std::max({c.red, c.green, c.blue}) - std::min({c.red, c.green, c.blue});
    EXPECT_GE(spread, vivid - 1) << value;  // but for the rounding
    vivid = spread;
  }
  EXPECT_EQ(painted(0, "a").find("48;"), std::string::npos) << "a zero has no background";
  EXPECT_NE(painted(1, "a").find("48;"), std::string::npos);
}

}  // namespace
}  // namespace fovea
