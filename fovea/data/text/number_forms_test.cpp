#include "fovea/data/text/number_forms.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace fovea {
namespace {

// What a text says with all its forms in place.
std::string in(std::string_view text, std::string_view from, std::string_view to) {
  std::string result(text);
  const std::vector<NumberForm> forms = number_forms(text, from, to);
  for (auto f = forms.rbegin(); f != forms.rend(); ++f)
    result.replace(static_cast<size_t>(f->span.begin), static_cast<size_t>(f->span.size()), f->text);
  return result;
}

// Expected forms as the Unicode CLDR has them for the two languages.
TEST(NumberForms, FromEnglishToGerman) {
  const std::pair<const char*, const char*> cases[] = {
      {"2.3 billion", "2,3 billion"},
      {"1,480 people, 250,000 cars", "1.480 people, 250.000 cars"},
      {"It costs $1,299.99.", "It costs 1.299,99 $."},
      {"€20,000 or £4.50", "20.000 € or 4,50 £"},
      {"on March 5, 2024.", "on 5. März 2024."},
      {"on 12 June, May 17th", "on 12. Juni, 17. Mai"},
      {"the 3rd of August 2006", "the 3. August 2006"},
      {"at 7:45.", "at 7:45 Uhr."},
      {"at 3:30 p.m. or 9 am", "at 15:30 Uhr or 9 Uhr"},
      {"in 1945, 324 metres", "in 1945, 324 metres"},
      {"Version 3.11", "Version 3.11"},
      {"17 of 30", "17 of 30"},
      {"1.2.3 and 3/4 and B52 and 4x", "1.2.3 and 3/4 and B52 and 4x"},
      {"March 45", "March 45"},
      {"at half past nine or half past twelve", "at halb zehn or halb eins"},
      {"a quarter past one, quarter to one", "Viertel nach eins, Viertel vor eins"},
      {"half of it, half past no time", "half of it, half past no time"},
      {"In the 1990s, since the 1820s; the 1950s were",
       "In den 1990er Jahren, since den 1820er Jahren; the 1950s were"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(in(text, "en", "de"), expected);
}

TEST(NumberForms, FromGermanToEnglish) {
  const std::pair<const char*, const char*> cases[] = {
      {"2,3 Milliarden, 1.480 und 12.345.678,9", "2.3 Milliarden, 1,480 und 12,345,678.9"},
      {"am 5. März 2024.", "am March 5, 2024."},
      {"am 15.09.2025", "am September 15, 2025"},
      {"vom 3. Mai an", "vom May 3 an"},
      {"um 7.45 Uhr, 15:30 Uhr", "um 7:45, 15:30"},
      {"4,50 € und 1.299,99 $", "€4.50 und $1,299.99"},
      {"am 45.13.2025", "am 45.13.2025"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(in(text, "de", "en"), expected);
}

TEST(NumberForms, TimesAndDecadesInWordsFromGermanToEnglish) {
  EXPECT_EQ(in("um halb zehn, halb eins", "de", "en"), "um half past nine, half past twelve");
  EXPECT_EQ(in("Viertel nach acht, viertel vor eins", "de", "en"), "quarter past eight, quarter to one");
  EXPECT_EQ(in("in den 1990er Jahren, seit den 1820ern", "de", "en"), "in the 1990s, seit the 1820s");
  EXPECT_EQ(in("halb so viel, ein Viertel davon", "de", "en"), "halb so viel, ein Viertel davon");
}

TEST(NumberForms, OfAnUnknownLanguageAreNone) {
  EXPECT_TRUE(number_forms("2.3", "en", "ja").empty());
  EXPECT_TRUE(number_forms("2.3", "", "").empty());
  EXPECT_TRUE(knows_numbers("de"));
  EXPECT_FALSE(knows_numbers("xx"));
}

TEST(NumberForms, AcceptWhatSaysTheSame) {
  const auto has = [](const NumberForm& f, const char* text) {
    return std::ranges::find(f.accepted, text) != f.accepted.end();
  };
  EXPECT_TRUE(has(number_forms("9:30", "en", "de")[0], "halb zehn"));
  EXPECT_TRUE(has(number_forms("7.45 Uhr", "de", "en")[0], "quarter to eight"));
  EXPECT_TRUE(has(number_forms("5. März 2024", "de", "en")[0], "March 5th, 2024"));
  EXPECT_TRUE(has(number_forms("March 5, 2024", "en", "de")[0], "05.03.2024"));
  EXPECT_TRUE(has(number_forms("1,480", "en", "de")[0], "1480"));
  EXPECT_TRUE(has(number_forms("42 km", "en", "de")[0], "zweiundvierzig"));
  EXPECT_TRUE(has(number_forms("42 km", "de", "en")[0], "forty-two"));
  EXPECT_TRUE(number_forms("im 3. Stock", "de", "en").empty()) << "an ordinal";
}

TEST(NumberForms, OfHostileTextsAreFoundInTime) {
  for (const char* part :
       {"1,", "1.", "111,", "$1", "1 ", "1:", "May 1 ", "1. Mai ", "99999999999999999999", "1:00 a", "€"}) {
    std::string text;
    while (text.size() < 4000) text += part;
    EXPECT_NO_THROW(number_forms(text, "en", "de")) << part;
    EXPECT_NO_THROW(number_forms(text, "de", "en")) << part;
  }
}

}  // namespace
}  // namespace fovea
