#include "fovea/generate/careful_sentence.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/data/text/words.h"
#include "fovea/generate/letter_case.h"
#include "fovea/generate/word_links.h"

namespace fovea {
namespace {

std::unique_ptr<Words> words_of(std::string text) {
  bool given = false;
  return std::make_unique<Words>(Words::train(
      [&](std::string& next) {
        if (std::exchange(given, true)) return false;
        next = text;
        return true;
      },
      Words::Options{}));
}

class Careful : public testing::Test {
 protected:
  CarefulSentence sentence(std::string_view text) { return {text, {*words_, "en", "de", carriers_}}; }
  // As if each word were made from the one in the same place.
  Translation translated(const CarefulSentence& s, const std::string& text) const {
    Translation t = {.text = text};
    for (Span w : plain_words(text)) t.tokens.push_back(w);
    t.tokens.push_back({static_cast<int64_t>(text.size()), static_cast<int64_t>(text.size())});
    const auto rows = static_cast<int64_t>(t.tokens.size()), columns = static_cast<int64_t>(tokens(s).size());
    t.log_probabilities.resize(t.tokens.size());
    t.attention = zeros({rows, columns});
    for (int64_t i = 0; i < std::min(rows, columns); ++i) t.attention.data<float>()[i * columns + i] = 1;
    return t;
  }
  static std::vector<Span> tokens(const CarefulSentence& s) {
    std::vector<Span> spans = plain_words(s.text());
    spans.push_back({static_cast<int64_t>(s.text().size()), static_cast<int64_t>(s.text().size())});
    return spans;
  }
  std::string restored(const CarefulSentence& s, const std::string& text) const {
    const auto t = s.restored(translated(s, text), tokens(s));
    return t ? t->text : "(lost)";
  }

  std::unique_ptr<Words> words_ = words_of("Write write to not open the door please Berlin is very important , . ! ?");
  std::vector<Carrier> carriers_ =
      parse_carriers({"text:Boston", "text:Tom", "number:30=30|dreißig", "number:200", "date:October 20=20. Oktober"});
};

TEST_F(Careful, CarriesWritingThatTheVocabularyDoesNotHave) {
  CarefulSentence s = sentence("Write to Иван Петров, please, not to 東京!");
  EXPECT_EQ(s.text(), "Write to Boston, please, not to Tom!");
  EXPECT_EQ(restored(s, "Schreibe bitte Boston, nicht nach Tom!"), "Schreibe bitte Иван Петров, nicht nach 東京!");
  EXPECT_EQ(sentence("Write to Zoë!").text(), "Write to Zoë!") << "Latin letters are the model's";
}

TEST_F(Careful, CarriesWhatIsNotToBeTranslated) {
  CarefulSentence s = sentence("Write to a@b.org and @tom!");
  EXPECT_EQ(s.text(), "Write to Boston and Tom!");
  EXPECT_EQ(restored(s, "Schreibe an Boston und Tom!"), "Schreibe an a@b.org und @tom!");
  EXPECT_EQ(restored(s, "Schreibe Tom und Boston!"), "Schreibe @tom und a@b.org!") << "in another order";
  EXPECT_EQ(restored(s, "Schreibe an Bostoner!"), "(lost)");
  EXPECT_EQ(restored(s, "Tom und Tom und Boston"), "(lost)") << "more often than once";
}

TEST_F(Careful, KeepsTheBytesThatTokensCameFrom) {
  const CarefulSentence s = sentence("Write to a@b.org!");
  EXPECT_EQ(s.original(tokens(s)), (std::vector<Span>{{0, 5}, {6, 8}, {9, 16}, {17, 17}}));
  const auto t = s.restored(translated(s, "An Boston schreiben!"), tokens(s));
  EXPECT_EQ(t->text, "An a@b.org schreiben!");
  EXPECT_EQ(t->tokens, (std::vector<Span>{{0, 2}, {3, 10}, {11, 20}, {21, 21}}));
}

TEST_F(Careful, TriesOtherCarriersAndThenCuts) {
  CarefulSentence s = sentence("Write to a@b.org!");
  ASSERT_TRUE(s.next_attempt());
  EXPECT_EQ(s.text(), "Write to Tom!");
  int attempts = 1;
  while (s.next_attempt()) ++attempts;
  EXPECT_LE(attempts, 4);
  const CarefulSentence again = sentence("Write to a@b.org!");
  std::vector<std::string> pieces;
  for (Span p : again.pieces()) pieces.emplace_back(piece_of("Write to a@b.org!", p));
  EXPECT_EQ(pieces, (std::vector<std::string>{"Write to", "a@b.org", "!"}));
}

TEST_F(Careful, TakesNoCarrierThatTheSentenceHasAlready) {
  EXPECT_EQ(sentence("Boston is at www.boston.example now.").text(), "Boston is at Tom now.");
}

TEST_F(Careful, LeavesNumbersToTheModelUnlessItLosesThem) {
  CarefulSentence s = sentence("It weighs 2.5 tons.");
  EXPECT_EQ(s.text(), "It weighs 2.5 tons.");
  EXPECT_EQ(restored(s, "Es wiegt 2,5 Tonnen."), "Es wiegt 2,5 Tonnen.");
  EXPECT_EQ(restored(s, "Es wiegt 25 Tonnen."), "(lost)");
  ASSERT_TRUE(s.next_attempt());
  EXPECT_EQ(s.text(), "It weighs 30 tons.");
  EXPECT_EQ(restored(s, "Es wiegt dreißig Tonnen."), "Es wiegt 2,5 Tonnen.");
}

TEST_F(Careful, LeavesPlacesToTheModelUnlessItLosesThem) {
  CarefulSentence s = sentence("The train to Vienna is late.");
  EXPECT_EQ(s.text(), "The train to Vienna is late.");
  EXPECT_EQ(restored(s, "Der Zug nach Wien ist zu spät."), "Der Zug nach Wien ist zu spät.");
  EXPECT_EQ(restored(s, "Der Zug nach Vienna ist zu spät."), "(lost)");
  ASSERT_TRUE(s.next_attempt());
  EXPECT_EQ(s.text(), "The train to Boston is late.");
  EXPECT_EQ(restored(s, "Der Zug nach Boston ist zu spät."), "Der Zug nach Wien ist zu spät.");
}

TEST_F(Careful, TakesTheLastAttemptAnyhowAndMarksIt) {
  CarefulSentence s = sentence("It weighs 2.5 tons.");
  while (restored(s, "Es wiegt viel.") == "(lost)") ASSERT_TRUE(s.next_attempt());
  const auto t = s.restored(translated(s, "Es wiegt viel."), tokens(s));
  EXPECT_EQ(t->text, "Es wiegt viel.");
  EXPECT_EQ(t->unsure, (std::vector<Span>{{0, 19}}));
}

TEST_F(Careful, WritesDatesInTheOtherLanguage) {
  CarefulSentence s = sentence("He came on March 5, 2024.");
  ASSERT_TRUE(s.next_attempt());
  EXPECT_EQ(s.text(), "He came on October 20.");
  EXPECT_EQ(restored(s, "Er kam am 20. Oktober."), "Er kam am 5. März 2024.");
}

TEST_F(Careful, PutsMarksAroundTheWordsMadeFromThoseInside) {
  const CarefulSentence s = sentence("This is <b>very</b> good.");
  EXPECT_EQ(s.text(), "This is very good.");
  EXPECT_TRUE(s.needs_attention());
  EXPECT_EQ(restored(s, "Das ist sehr gut."), "Das ist <b>sehr</b> gut.");
  const CarefulSentence link = sentence("Read [our guide](https://example.org) first.");
  EXPECT_EQ(restored(link, "Lies unsere Anleitung zuerst."), "Lies [unsere Anleitung](https://example.org) zuerst.");
}

TEST_F(Careful, PutsEmojiBehindTheWordMadeFromTheOneBefore) {
  const CarefulSentence s = sentence("The dog 🐕 is chasing the cat 🐈.");
  EXPECT_EQ(s.text(), "The dog is chasing the cat.");
  EXPECT_EQ(restored(s, "Der Hund ist jagend die Katze."), "Der Hund 🐕 ist jagend die Katze. 🐈");
  EXPECT_EQ(restored(sentence("😀 Good morning!"), "Guten Morgen!"), "😀 Guten Morgen!");
}

TEST_F(Careful, SetsCapitalsAgain) {
  const CarefulSentence s = sentence("PLEASE OPEN THE DOOR IN BERLIN.");
  EXPECT_EQ(s.text(), "Please open the door in Berlin.");
  EXPECT_EQ(restored(s, "Bitte schließ die Tür."), "BITTE SCHLIESS DIE TÜR.");
  const CarefulSentence one = sentence("This is VERY important.");
  EXPECT_EQ(one.text(), "This is very important.");
  EXPECT_EQ(restored(one, "Das ist sehr wichtig."), "Das ist SEHR wichtig.");
}

// A word of many tokens has looked at everything a little, each time.
TEST(WordLinks, AWordOfManyTokensIsNoBetterForIt) {
  const std::string text = "morgens immer";
  Translation t = {.text = text, .tokens = {{0, 3}, {3, 7}, {8, 13}, {13, 13}}};
  t.attention = tensor({4, 2}, std::vector<float>{0.35f, 0.65f, 0.35f, 0.65f, 0.6f, 0.4f, 0.0f, 1.0f});
  const WordLinks links("always morning", {{0, 6}, {7, 14}}, t);
  EXPECT_EQ(links.best_for(0), (Span{8, 13}));
  EXPECT_EQ(links.best_for(1), (Span{0, 7}));
}

TEST_F(Careful, CarriesAWordWhoseCopyBrokeOff) {
  carriers_.push_back(parse_carriers({"name:Mary"})[0]);
  const CarefulSentence::Manner german = {*words_, "de", "en", carriers_};
  CarefulSentence s("Wo ist Gelsenkirchen heute?", german);
  Translation found = translated(s, "Where is Gelsenkir today?");
  EXPECT_FALSE(s.needs_attention());
  EXPECT_TRUE(s.mends(found)) << "attention tells whether it was copied";
  EXPECT_TRUE(s.needs_attention());
  EXPECT_EQ(s.text(), "Wo ist Gelsenkirchen heute?");
  found.copied = {{9, 18}};
  EXPECT_TRUE(s.mends(found));
  EXPECT_EQ(s.text(), "Wo ist Mary heute?");
  const auto t = s.restored(translated(s, "Where is Mary today?"), tokens(s));
  ASSERT_TRUE(t);
  EXPECT_EQ(t->text, "Where is Gelsenkirchen today?");
  EXPECT_EQ(t->unsure, (std::vector<Span>{{7, 20}}));
  EXPECT_FALSE(s.mends(found)) << "once";

  CarefulSentence relative("Da ist ein Skandal gewesen.", german);
  found = translated(relative, "There has been a scandal.");
  found.copied.emplace();
  EXPECT_FALSE(relative.mends(found)) << "written, not copied";
  EXPECT_EQ(restored(relative, found.text), found.text);
}

TEST_F(Careful, ATitleBelongsToItsName) {
  carriers_.push_back(parse_carriers({"name:Mary"})[0]);
  const CarefulSentence s = sentence("Please write to Mrs. Szymborska.");
  EXPECT_EQ(s.text(), "Please write to Mary.");
  EXPECT_EQ(restored(s, "Bitte schreibe Mary."), "Bitte schreibe Frau Szymborska.");
  EXPECT_EQ(sentence("Please write to Mr. Szymborski.").text(), "Please write to Mr. Mary.") << "Herr, or Herrn";
  const CarefulSentence back("Das ist Herr Özdemir.", {*words_, "de", "en", carriers_});
  EXPECT_EQ(restored(back, "That is Mary."), "That is Mr. Özdemir.");
}

TEST_F(Careful, ReadsATimeInDigitsIfItCameOutAsAnother) {
  CarefulSentence s = sentence("Please open the door at half past nine.");
  EXPECT_EQ(restored(s, "Bitte öffne die Tür um halb zehn."), "Bitte öffne die Tür um halb zehn.");
  EXPECT_EQ(restored(s, "Bitte öffne die Tür um halb neun."), "(lost)");
  ASSERT_TRUE(s.next_attempt());
  EXPECT_EQ(s.text(), "Please open the door at 9:30.");
  EXPECT_EQ(restored(s, "Bitte öffne die Tür um 9:30 Uhr."), "Bitte öffne die Tür um 9:30 Uhr.");
}

TEST_F(Careful, LooksForBrokenCopiesInSentencesAlone) {
  carriers_.push_back(parse_carriers({"name:Mary"})[0]);
  std::string text = "Wo ist";
  for (int i = 0; i < 20'000; ++i) text += " Gelsenkirchen" + std::to_string(i);
  CarefulSentence s(text, {*words_, "de", "en", carriers_});
  EXPECT_FALSE(s.mends({.text = "Where is Gelsenkir?"}));
}

TEST_F(Careful, AddsAFullStopAndTakesItAway) {
  const CarefulSentence s = sentence("Open the door");
  EXPECT_EQ(s.text(), "Open the door.");
  EXPECT_EQ(restored(s, "Öffne die Tür."), "Öffne die Tür");
  EXPECT_EQ(sentence("is the door open").text(), "Is the door open?");
}

// Its capital is the sentence's: "Please Szymborska" is no name of two words, and "Plea" no copy of a name.
TEST_F(Careful, TheFirstWordIsNoPartOfAName) {
  carriers_.push_back(parse_carriers({"name:Mary"})[0]);
  const CarefulSentence::Manner german = {*words_, "de", "en", carriers_};
  CarefulSentence s("Please Szymborska, is important.", german);
  EXPECT_EQ(s.text(), "Please Szymborska, is important.");
  EXPECT_EQ(CarefulSentence("It was Wislawa Szymborska, please.", german).text(), "It was Mary, please.");
  Translation found = translated(s, "Pleas Szymbo, is important.");
  found.copied = {{0, 5}, {6, 12}};
  EXPECT_TRUE(s.mends(found));
  EXPECT_EQ(s.text(), "Please Mary, is important.");
}

// "Svetlana and Dmitri …": the words beside a name at the beginning are not a text in small letters, whose first word lacks its capital.
TEST_F(Careful, AWordBehindANameAtTheBeginningGetsNoCapital) {
  carriers_.push_back(parse_carriers({"name:Mary"})[0]);
  EXPECT_EQ(sentence("Szymborska met somebody in town.").text(), "Mary met somebody in town.");
  EXPECT_EQ(sentence("thank you for coming.").text(), "Thank you for coming.");
  EXPECT_EQ(sentence("👍 thank you for coming.").text(), "Thank you for coming.");
}

TEST_F(Careful, TidiesWhatPeopleType) {
  EXPECT_EQ(sentence("i dont write to berlin ?").text(), "I don't write to Berlin?");
  EXPECT_EQ(sentence("He’s not there!!!").text(), "He's not there!");
  EXPECT_EQ(sentence("It is opennn, please.").text(), "It is open, please.");
  EXPECT_EQ(sentence("Nothing to do here.").text(), "Nothing to do here.") << "as it was";
}

TEST(Carriers, SayWhatComesOfThem) {
  const std::vector<Carrier> all = parse_carriers({"text:Boston", "number:30=30|dreißig"});
  EXPECT_EQ(all[0].targets, std::vector<std::string>{"Boston"});
  EXPECT_EQ(all[1].kind, Carrier::number);
  EXPECT_EQ(all[1].targets, (std::vector<std::string>{"30", "dreißig"}));
  EXPECT_THROW(parse_carriers({"Boston"}), Error);
  EXPECT_THROW(parse_carriers({"city:Boston"}), Error);
  EXPECT_THROW(parse_carriers({"text:"}), Error);
  EXPECT_THROW(parse_carriers({"text:a=b||c"}), Error);
}

TEST(LetterCase, KeepsTheNumberOfBytes) {
  EXPECT_EQ(in_capitals("große Tür, 3 ﬁ"), "GROSSE TÜR, 3 ﬁ");
  EXPECT_EQ(with_first_capital("übel"), "Übel");
  EXPECT_EQ(with_first_capital(""), "");
}

}  // namespace
}  // namespace fovea
