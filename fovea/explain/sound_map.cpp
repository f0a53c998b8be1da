#include "fovea/explain/sound_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/base64.h"
#include "fovea/explain/colours.h"
#include "fovea/explain/measure.h"
#include "fovea/explain/svg.h"

namespace fovea {
namespace {

constexpr double margin = 24, wide = 960, wave = 56, high = 170, line = 20;

void colour(Image& image, int64_t x, int64_t y, double value) {
  const Colour c = colour_of(value);
  image.at(x, y, 0) = static_cast<uint8_t>(c.red), image.at(x, y, 1) = static_cast<uint8_t>(c.green);
  image.at(x, y, 2) = static_cast<uint8_t>(c.blue);
}

Image blank(int64_t width, int64_t height) {
  return {width, height, 3, std::vector<uint8_t>(static_cast<size_t>(width * height * 3), 255)};
}

std::string placed(const Image& image, double x, double y, double height) {
  return fmt::format(
      R"(<image x="{:.1f}" y="{:.1f}" width="{}" height="{}" preserveAspectRatio="none" style="image-rendering:pixelated" href="data:image/png;base64,{}"/>)"
      R"(<rect x="{:.1f}" y="{:.1f}" width="{}" height="{}" fill="none" stroke="#d5dade"/>)",
      x, y, wide, height, base64(png_bytes(image)), x, y, wide, height);
}

// Low pitches below.
Image spectrogram(const RecordedSound& s) {
  Image image = blank(s.frames, s.bands);
  for (int64_t b = 0; b < s.bands; ++b)
    for (int64_t f = 0; f < s.frames; ++f)
      colour(image, f, s.bands - 1 - b, std::pow(s.spectrogram[static_cast<size_t>(b * s.frames + f)] / 255.0, 1.6));
  return image;
}

constexpr int64_t rows_each =
    8;  // of a word's own: what draws it may mix neighbours, and words are not to run into each other

// The root of each weight as a share of its row's largest, or small ones would not be seen.
Image listened(const RecordedSound& s) {
  const int64_t states =
      std::min<int64_t>(s.heard.size(1), std::max<int64_t>(1, std::lround(s.seconds / s.state_seconds)));
  Image image = blank(states, s.heard.size(0) * rows_each);
  for (int64_t i = 0; i < image.height; ++i) {
    const float* row = s.heard.data<float>() + i / rows_each * s.heard.size(1);
    const float most = std::max(1e-9f, *std::max_element(row, row + states));
    for (int64_t j = 0; j < states; ++j) colour(image, j, i, std::sqrt(std::max(0.0f, row[j] / most)));
  }
  return image;
}

std::string waveform(const RecordedSound& s, double left) {
  std::string path;
  const double most = std::max(1.0, static_cast<double>(*std::max_element(s.loudness.begin(), s.loudness.end())));
  const auto count = static_cast<double>(s.loudness.size());
  for (size_t i = 0; i < s.loudness.size(); ++i) {
    const double x = left + (static_cast<double>(i) + 0.5) / count * wide, tall = s.loudness[i] / most * wave / 2;
    path += fmt::format("M{:.1f} {:.1f}V{:.1f}", x, wave / 2 - tall, wave / 2 + tall);
  }
  return fmt::format(R"(<path d="{}" stroke="#8a9298" stroke-width="{:.2f}"/>)", path, std::max(0.6, wide / count));
}

std::string axis(const RecordedSound& s, double left, double y) {
  double step = 0.1;
  for (double next : {0.2, 0.5, 1.0, 2.0, 5.0})
    if (s.seconds / step > 12) step = next;
  std::string body;
  for (double time = 0; time <= s.seconds; time += step)
    body += svg_label(left + time / s.seconds * wide, y,
                      fmt::format("{:g}{}", std::round(time * 10) / 10, time > 0 ? "" : " s"),
                      {.size = 11, .anchor = time > 0 ? "middle" : "start", .fill = "#62686f"});
  return body;
}

}  // namespace

std::string to_svg(const RecordedSound& s, std::string_view title) {
  int widest = 0;
  for (const RecordedSound::Word& w : s.words) widest = std::max(widest, cells(w.text));
  const double left = 7.4 * std::min(widest, 24) + 14;
  std::string body = svg_label(0, 16, title, {.size = 15, .bold = true});
  double y = 36;
  body += svg_moved(0, y, waveform(s, left));
  y += wave + 8;
  body += placed(spectrogram(s), left, y, high);
  y += high;
  body += axis(s, left, y + 16);
  y += 30;
  if (s.heard) {
    body += placed(listened(s), left, y, line * static_cast<double>(s.words.size()));
    for (size_t i = 0; i < s.words.size(); ++i) {
      const double top = y + line * static_cast<double>(i), x = left + s.words[i].start / s.seconds * wide;
      body += svg_label(left - 8, top + 14.5, s.words[i].text, {.size = 13, .anchor = "end"});
      body += fmt::format(
          R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{}" fill="none" stroke="#b5330f" stroke-opacity="0.6"/>)",
          x, top + 1, std::max(1.0, (std::min(s.words[i].end, s.seconds) - s.words[i].start) / s.seconds * wide),
          line - 2);
    }
    y += line * static_cast<double>(s.words.size());
  }
  return svg_sheet(left + wide + 2 * margin, y + 2 * margin, svg_moved(margin, margin, body, "sound"));
}

}  // namespace fovea
