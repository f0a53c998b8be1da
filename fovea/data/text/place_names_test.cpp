#include "fovea/data/text/place_names.h"

#include <gtest/gtest.h>

namespace fovea {
namespace {

// "Vienna→Wien" of all that are found.
std::string found(std::string_view text, std::string_view from = "en", std::string_view to = "de") {
  std::string result;
  for (const PlaceName& p : place_names(text, from, to))
    result += (result.empty() ? "" : " ") + std::string(piece_of(text, p.span)) + "→" + p.text;
  return result;
}

TEST(PlaceNames, AreThoseOfTheOtherLanguage) {
  EXPECT_EQ(found("From Vienna to Brussels, and on to New Zealand."),
            "Vienna→Wien Brussels→Brüssel New Zealand→Neuseeland");
  EXPECT_EQ(found("Von Köln nach Saudi-Arabien über Island.", "de", "en"),
            "Köln→Cologne Saudi-Arabien→Saudi Arabia Island→Iceland");
}

TEST(PlaceNames, LongNamesHideThoseInside) {
  EXPECT_EQ(found("Mexico City is in Mexico."), "Mexico City→Mexiko-Stadt Mexico→Mexiko");
  EXPECT_EQ(found("South Africa"), "South Africa→Südafrika");
}

TEST(PlaceNames, AreWholeWordsAndNoGenitives) {
  EXPECT_EQ(found("The Viennas, a Romeo, romes, Norway's coast, Norway’s coast, Rome-based"), "");
  EXPECT_EQ(found("Romée Norwégen", "de", "en"), "");
}

TEST(PlaceNames, OtherNamesAreAccepted) {
  const std::vector<PlaceName> tokyo = place_names("I like Tokyo.", "en", "de");
  ASSERT_EQ(tokyo.size(), 1u);
  EXPECT_EQ(tokyo[0].accepted, std::vector<std::string>{"Tokyo"});
  EXPECT_EQ(found("Tokio, Tokyo", "de", "en"), "Tokio→Tokyo Tokyo→Tokyo");
}

TEST(PlaceNames, OfOtherLanguagesAndBrokenTextsNothingIsSaid) {
  EXPECT_EQ(found("Vienna", "en", "fr"), "");
  EXPECT_EQ(found("Vienna \xff", "en", "de"), "");
  EXPECT_EQ(found(""), "");
}

}  // namespace
}  // namespace fovea
