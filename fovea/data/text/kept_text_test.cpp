#include "fovea/data/text/kept_text.h"

#include <gtest/gtest.h>

namespace fovea {
namespace {

std::vector<std::string> of_kind(std::string_view text, KeptText::Kind kind) {
  std::vector<std::string> found;
  for (const KeptText& k : find_kept_text(text))
    if (k.kind == kind) found.emplace_back(piece_of(text, k.span));
  return found;
}
using Texts = std::vector<std::string>;
Texts words(std::string_view text) { return of_kind(text, KeptText::word); }

TEST(KeptText, FindsAddressesWithoutTheMarksBehindThem) {
  EXPECT_EQ(words("See https://www.example.org/help?id=42."), Texts{"https://www.example.org/help?id=42"});
  EXPECT_EQ(words("(www.bird-photos.example), yes"), Texts{"www.bird-photos.example"});
  EXPECT_EQ(words("Write to anna.becker+news@mail.example."), Texts{"anna.becker+news@mail.example"});
  EXPECT_EQ(words("Is http://localhost:8080 up?"), Texts{"http://localhost:8080"});
  EXPECT_EQ(words("example.org is ours"), Texts{"example.org"});
}

TEST(KeptText, FindsNamesOfAccountsTagsAndPlaceholders) {
  EXPECT_EQ(words("Thanks to @marta.k and @jonas_w!"), (Texts{"@marta.k", "@jonas_w"}));
  EXPECT_EQ(words("About #gardening."), Texts{"#gardening"});
  EXPECT_EQ(words("Dear {name}, you have %d of %s and ${HOME}."), (Texts{"{name}", "%d", "%s", "${HOME}"}));
}

TEST(KeptText, FindsFilesAndCodes) {
  EXPECT_EQ(words("Open report_final.pdf and README.md."), (Texts{"report_final.pdf", "README.md"}));
  EXPECT_EQ(words("Delete C:\\temp\\old and /etc/hosts."), (Texts{"C:\\temp\\old", "/etc/hosts"}));
  EXPECT_EQ(words("Run `git status`; print() and max_size"), (Texts{"`git status`", "print()", "max_size"}));
  EXPECT_EQ(words("LH4021, A-2047-B, X7-99Q, DE8937"), (Texts{"LH4021", "A-2047-B", "X7-99Q", "DE8937"}));
  EXPECT_EQ(words("Call 555-0142 or 0171 5550199, version 1.2.3"), (Texts{"555-0142", "0171 5550199", "1.2.3"}));
}

TEST(KeptText, LeavesOrdinaryWordsAlone) {
  for (const char* text :
       {"I am not angry, am I?", "He said: \"No!\" and/or left.", "It costs 50 % more.", "U.S. troops, e.g. Marines",
        "The 1990s were well-known; 3.5 of 4.", "Das ist z.B. ein Satz.", "5 * 3 = 15", "A 2 B", "O'Leary's",
        "He left.The end.", "I, II and III", "Tom's - not mine -"})
    EXPECT_TRUE(find_kept_text(text).empty()) << text << ": " << piece_of(text, find_kept_text(text)[0].span);
}

TEST(KeptText, PairsMarksAndLetsOthersStandAside) {
  EXPECT_EQ(of_kind("a <b>very</b> good<br> idea", KeptText::opening), Texts{"<b>"});
  EXPECT_EQ(of_kind("a <b>very</b> good<br> idea", KeptText::closing), Texts{"</b>"});
  EXPECT_EQ(of_kind("a <b>very</b> good<br> idea", KeptText::aside), Texts{"<br>"});
  EXPECT_EQ(of_kind("Read [our guide](https://example.org/guide) first", KeptText::opening), Texts{"["});
  EXPECT_EQ(of_kind("Read [our guide](https://example.org/guide) first", KeptText::closing),
            Texts{"](https://example.org/guide)"});
  EXPECT_TRUE(words("Read [our guide](https://example.org/guide) first").empty());
  EXPECT_EQ(of_kind("**so** good", KeptText::closing), Texts{"**"});
  EXPECT_TRUE(find_kept_text("**so good").empty()) << "a mark without its other is text";
}

TEST(KeptText, EmojiStandAsideTogether) {
  EXPECT_EQ(of_kind("So funny 😂😂 and ❤️, 👩‍🍳!", KeptText::aside),
            (Texts{"😂😂", "❤️", "👩‍🍳"}));
}

TEST(KeptText, LongAndHostileTextsAreReadInTime) {
  for (const char* part : {"a-", "A-", "(",    "<a ", "[a", "/a", "1-",  "a.",     "a_", "**a", "@",
                           "{",  "%",  "0 1 ", "1.",  "😀",  "`",  "--a", "www.a.", "](", "_*"}) {
    std::string text;
    while (text.size() < 4000) text += part;
    EXPECT_NO_THROW(find_kept_text(text)) << part;
    EXPECT_NO_THROW(find_kept_text("See " + text + " now")) << part;
  }
}

}  // namespace
}  // namespace fovea
