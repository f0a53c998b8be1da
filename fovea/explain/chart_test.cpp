#include "fovea/explain/chart.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <set>

#include "fovea/base/error.h"
#include "fovea/explain/svg_texts.h"

namespace fovea {
namespace {

using Ticks = std::vector<double>;

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

TEST(Chart, TicksAreRoundAndCoverTheRange) {
  EXPECT_EQ(nice_ticks(0, 10, 5), (Ticks{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(nice_ticks(3, 97, 5), (Ticks{0, 20, 40, 60, 80, 100}));
  EXPECT_EQ(nice_ticks(-1, 1, 4), (Ticks{-1, -0.5, 0, 0.5, 1}));
  for (double high : {1e-7, 0.3, 1.0, 7.7, 12345.0, 3e11}) {
    const Ticks ticks = nice_ticks(0, high, 5);
    EXPECT_EQ(ticks.front(), 0);
    EXPECT_GE(ticks.back(), high * (1 - 1e-6));
    EXPECT_TRUE(ticks.size() >= 4 && ticks.size() <= 9) << high << ": " << ticks.size();
  }
}

TEST(Chart, TickTextsAreShort) {
  const std::pair<double, const char*> cases[] = {
      {0, "0"},       {0.25, "0.25"},  {1000, "1k"},         {20000, "20k"}, {1.5e6, "1.5M"},
      {3e-4, "3e-4"}, {1e-3, "0.001"}, {-2.5e-5, "-2.5e-5"}, {2e12, "2e12"}, {-7, "-7"}};
  for (const auto& [value, text] : cases) EXPECT_EQ(tick_text(value), text);
}

TEST(Chart, PointsStandWhereTheirNumbersSay) {
  const std::string svg = to_svg({{.title = "a<b", .x_label = "step", .series = {{"s", {0, 5, 10}, {0, 5, 10}}}}});
  // The plot reaches from 66 to 558 and from 270 up to 46.
  for (const char* part : {"translate(66.0,270.0)", "translate(312.0,158.0)", "translate(558.0,46.0)"}) {
    EXPECT_NE(svg.find(part), std::string::npos) << part << "\n" << svg;
  }
  EXPECT_NE(svg.find("a&lt;b"), std::string::npos);
}

TEST(Chart, LogarithmicScalesSpaceFactorsEvenly) {
  const std::string svg = to_svg({{.title = "t",
                                   .x_label = "x",
                                   .series = {{"s", {0, 1, 2, 3}, {1, 100, 10000, -1}}},
                                   .scale = Chart::logarithmic}});
  EXPECT_NE(svg.find(",158.0)"), std::string::npos) << svg;
  EXPECT_EQ(count_of(svg, "class=\"mark\""), 3u);
}

// The box of the plots' curves in the picture, and those of each legend's lines with their names.
struct Drawn {
  SvgBox curves = {1e9, 1e9, -1e9, -1e9};
  std::vector<SvgBox> legend;
};

Drawn drawn(const std::string& svg) {
  Drawn result;
  SvgGroups groups;
  for (const std::string& line : svg_lines(svg)) {
    double x = 0, y = 0;
    if (groups.read(line)) continue;
    if (line.starts_with("<path class=\"legend\"") &&
        std::sscanf(line.c_str(), "<path class=\"legend\" d=\"M%lf %lf", &x, &y) == 2)
      result.legend.push_back({groups.x() + x, groups.y() + y - 6, groups.x() + x + 30, groups.y() + y + 6});
    if (!line.starts_with("<path class=\"line\"")) continue;
    const size_t end = line.find("\" fill");
    for (size_t at = line.find("d=\"") + 2; at < end; at = line.find_first_of("L\"", at + 1)) {
      if (std::sscanf(line.c_str() + at + 1, "%*[M]%lf %lf", &x, &y) != 2)
        std::sscanf(line.c_str() + at + 1, "%lf %lf", &x, &y);
      SvgBox& b = result.curves;
      b = {std::min(b.left, groups.x() + x), std::min(b.top, groups.y() + y), std::max(b.right, groups.x() + x),
           std::max(b.bottom, groups.y() + y)};
    }
  }
  return result;
}

TEST(Chart, LegendsAndTitlesStandWhereNoCurveIs) {
  const std::vector<double> x = {0, 10};
  for (const std::string& title :
       {std::string("t"), std::string(120, 't'), std::string("many words ") + std::string(90, 'W')}) {
    for (const size_t count : {2u, 4u, 9u}) {
      Chart chart = {.title = title, .x_label = "x", .series = {}};
      for (size_t i = 0; i < count; ++i)
        chart.series.push_back({"series of number " + std::to_string(i), x, {9, double(i)}});
      const std::string svg = to_svg({chart});
      const Drawn found = drawn(svg);
      EXPECT_EQ(found.legend.size(), count);
      for (const SvgBox& box : found.legend) EXPECT_FALSE(box.meets(found.curves));
      const std::vector<SvgText> texts = svg_texts(svg);
      ASSERT_EQ(texts.size(), count_of(svg, "<text "));
      for (size_t i = 0; i < texts.size(); ++i) {
        EXPECT_TRUE(svg_size(svg).holds(texts[i].box)) << texts[i].text;
        EXPECT_FALSE(texts[i].box.meets(found.curves)) << texts[i].text;
        for (size_t j = 0; j < i; ++j)
          EXPECT_FALSE(texts[i].box.meets(texts[j].box)) << texts[i].text << ", " << texts[j].text;
      }
    }
  }
}

TEST(Chart, CurvesThatCoincideAreToldApart) {
  Chart chart = {.title = "t", .x_label = "x", .series = {}};
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) chart.series.push_back({name, {0, 1}, {1, 1}});
  std::set<std::string> dashes, marks, widths;
  const std::string svg = to_svg({chart});
  auto attribute = [](const std::string& line, const std::string& name) {
    const size_t begin = line.find(" " + name + "=\"") + name.size() + 3;
    return line.substr(begin, line.find('"', begin) - begin);
  };
  for (const std::string& line : svg_lines(svg)) {
    if (line.starts_with("<path class=\"line\""))
      dashes.insert(attribute(line, "stroke-dasharray")), widths.insert(attribute(line, "stroke-width"));
    if (line.starts_with("<path class=\"mark\"")) marks.insert(attribute(line, "d"));
  }
  EXPECT_EQ(dashes.size(), 6u);
  EXPECT_EQ(widths.size(), 6u);
  EXPECT_EQ(marks.size(), 6u);
}

TEST(Chart, WhatIsNotFiniteInterruptsTheLine) {
  const double nan = std::nan("");
  const std::string svg =
      to_svg({{.title = "t", .x_label = "x", .series = {{"s", {1, 2, 3, 4, 5}, {1, 2, nan, 3, 4}}}}});
  EXPECT_EQ(count_of(svg, "class=\"line\""), 2u);
  EXPECT_EQ(count_of(svg, "class=\"mark\""), 4u);
  EXPECT_EQ(count_of(svg, "nan"), 0u);
}

TEST(Chart, EmptyConstantAndLongSeriesAreDrawn) {
  std::vector<double> x, y;
  for (int i = 0; i < 100000; ++i) x.push_back(i), y.push_back(i == 54321 ? 9 : 2 + std::sin(i));
  for (Chart::Scale scale : {Chart::linear, Chart::logarithmic}) {
    const std::string svg = to_svg({{.title = "none", .x_label = "", .series = {}, .scale = scale},
                                    {.title = "one", .x_label = "", .series = {{"s", {3}, {7}}}, .scale = scale},
                                    {.title = "zero", .x_label = "", .series = {{"s", {1, 2}, {0, 0}}}, .scale = scale},
                                    {.title = "long", .x_label = "", .series = {{"s", x, y}}, .scale = scale}});
    EXPECT_EQ(count_of(svg, "class=\"plot\""), 4u);
    EXPECT_EQ(count_of(svg, "nan") + count_of(svg, "inf"), 0u);
    EXPECT_LT(svg.size(), 40000u);
  }
  EXPECT_THROW(to_svg({{.title = "t", .x_label = "", .series = {{"s", {1, 2}, {1}}}}}), Error);
}

TEST(ChartOfTable, FirstLineNamesTheColumns) {
  const Chart chart =
      chart_of_table("length\tno attention\tattention\r\n5\t30.5\t31\n10\t\t28\n\n20\t-1e1\t27", "t.tsv");
  EXPECT_EQ(chart.x_label, "length");
  ASSERT_EQ(chart.series.size(), 2u);
  EXPECT_EQ(chart.series[0].name, "no attention");
  EXPECT_EQ(chart.series[0].x, (std::vector<double>{5, 20}));
  EXPECT_EQ(chart.series[0].y, (std::vector<double>{30.5, -10}));
  EXPECT_EQ(chart.series[1].y, (std::vector<double>{31, 28, 27}));
}

TEST(ChartOfTable, WhatIsWrongNamesTheLine) {
  const auto says = [](const char* table) {
    try {
      chart_of_table(table, "t.tsv");
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("no Error");
  };
  EXPECT_EQ(says("x\ty\n1\t2\n3\n"), "t.tsv:3: found 1 columns, expected 2 as in the first line");
  EXPECT_EQ(says("x\ty\n1\ttwo\n"), "t.tsv:2: found 'two', expected a number");
  EXPECT_EQ(says("x\n"), "t.tsv:1: found one column, expected names of x and of one series or more");
  EXPECT_EQ(says("\n"), "t.tsv: found no line, expected names in the first one");
}

}  // namespace
}  // namespace fovea
