#include "fovea/data/text/sentences.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// The sentences with a bar in each gap between them, whatever stood there.
std::string split(std::string_view text) {
  std::string all;
  for (Span span : split_sentences(text)) all += (all.empty() ? "" : "|") + std::string(piece_of(text, span));
  return all;
}

// A bar and the space behind it show where a text is to be cut.
void expect_cuts(std::string_view marked) {
  std::string text, wanted;
  for (size_t i = 0; i < marked.size(); ++i) {
    wanted += marked[i];
    if (marked[i] == '|') text += ' ', ++i, wanted += marked[i];
    text += marked[i];
  }
  EXPECT_EQ(split(text), wanted);
}

TEST(SplitSentences, BehindMarksBeforeWhatBeginsASentence) {
  for (const char* text : {"I went home.|Then I cooked dinner.|After that I watched a film.",
                           "Hello!|How are you?|Fine.",
                           "Wait!!!|What?!|Really?!?|No way!?",
                           "One sentence only",
                           "Das ist gut.|Über uns ist der Himmel.",
                           "¿Qué hora es?|¡Vamos!|Son las tres.",
                           "Он ушёл.|Она осталась.",
                           "यह अच्छा है।|वह गया।",
                           "كيف حالك؟|أنا بخير.",
                           "He is 20.|She is 30.",
                           "I am 20.|He is 30.",
                           "It was 1990.|20 years later he came back.",
                           "No.|I don't.",
                           "Is it B?|Yes.",
                           "So do I.|He came too.",
                           "It cost 3.50 dollars.|He paid.",
                           "See version 2.0.1.|It works.",
                           "Visit example.com.|It is free.",
                           "This is Max.|Tom likes him.",
                           "Ich bin Jan.|Tom ist hier."})
    expect_cuts(text);
}

TEST(SplitSentences, NotBehindAbbreviationsAndInitials) {
  for (const char* text : {"Dr. Smith met Mrs. Jones.|They talked.",
                           "Fruit, e.g. Apples, is good.|So is bread.",
                           "He lives in the U.S. Army barracks.|She does not.",
                           "He lives in the U.S.|He likes it.",
                           "The train left at 5 p.m. Eastern time.",
                           "The train left at 5 p.m.|The bus was late.",
                           "It is open from 9 a.m. to 8 p.m.|Tom knew it.",
                           "J. R. R. Tolkien wrote it.|George W. Bush did not.",
                           "Martin Luther King Jr. Day is in January.",
                           "See No. 5 and Fig. 3 on pp. 7 of vol. 2.|Then stop.",
                           "It works for Apple Inc. and others.|Good.",
                           "Apples, pears, etc. are fruit.|Eat them.",
                           "We bought apples, pears, etc.|Then we left.",
                           "Born on Jan. 5 in St. Petersburg.|He moved.",
                           "Er kennt Hr. Müller und Fr. Schmidt.|Sie nicht.",
                           "Obst, z. B. Äpfel, ist gut.|Brot auch.",
                           "Obst, z.B. Äpfel, d. h. Die ganze Ernte.",
                           "Das sind ca. 20 Leute.|Mehr nicht.",
                           "Vgl. Kap. 3 und Nr. 5.|Danke.",
                           "She has a Ph.D. from Oxford.",
                           "Smith et al. 2014 showed it.",
                           "Plan A failed, so we took plan B.|Then it worked."})
    expect_cuts(text);
}

TEST(SplitSentences, NumbersWithAPoint) {
  for (const char* text :
       {"Am 3. Mai kam er.|Sie nicht.", "Im 19. Jahrhundert war das so.", "Das war am 3. 10. 1990 in Bonn.",
        "1. Open the box.|2. Close it.", "Er wurde der 3. Mann.|Gut so.", "Ich habe 3.|Er hat 4."})
    expect_cuts(text);
}

TEST(SplitSentences, ClosingQuotesAndBracketsBelongToTheirSentence) {
  for (const char* text :
       {"He said: \"Stop.\"|Then he left.", "“Really?” she asked.|“Yes!”|He nodded.", "(It rained.)|We stayed.",
        "„Komm her!“|Er kam.", "„Wo?“, fragte er.|„Hier.“", "»Halt!«|Er blieb.", "Er rief.|»Halt!«",
        "« Oui ! » dit-il.|Il part.", "« Non. »|Il reste.", "Yahoo! was founded in 1994.|It grew.",
        "It was (as he said) fine.|Good.", "He left (at last!).|She stayed.", "'Go.'|They went."})
    expect_cuts(text);
}

TEST(SplitSentences, Ellipses) {
  for (const char* text : {"Well... maybe not.|Or so.", "I waited...|Then I left.", "Tja … das war es.",
                           "So it ends…|Good.", "Numbers 1 ... 10 are small."})
    expect_cuts(text);
}

TEST(SplitSentences, WriterWithoutCapitals) {
  expect_cuts("i went home.|then i slept.|what now?|no idea, e.g. nothing.");
  expect_cuts("hello!|how are you?");
}

TEST(SplitSentences, EmojiBehindAnEndStandByThemselves) {
  for (const char* text : {"Great!|😀|Then I left.", "I love it|😀 👍🏽", "I ❤️ Berlin.|Do you?",
                           "Nice.|:-)|See you.", "😀|Hello."})
    expect_cuts(text);
  EXPECT_EQ(split("Great!😀👩‍👩‍👧 Then I left.😀"), "Great!|😀👩‍👩‍👧|Then I left.|😀");
}

TEST(SplitSentences, LanguagesWithoutSpaces) {
  EXPECT_EQ(split("你好。我很好！你呢？"), "你好。|我很好！|你呢？");
  EXPECT_EQ(split("「はい。」と言った。次に行く。"), "「はい。」と言った。|次に行く。");
  EXPECT_EQ(split("「はい。」「いいえ。」"), "「はい。」|「いいえ。」");
  EXPECT_EQ(split("本当！？そうか。 うん"), "本当！？|そうか。|うん");
}

TEST(SplitSentences, LinesAndParagraphs) {
  EXPECT_EQ(split("A title\n\nIt begins here.  It goes on."), "A title|It begins here.|It goes on.");
  EXPECT_EQ(split("Ann: Hi\nBen: Hello"), "Ann: Hi|Ben: Hello");
  EXPECT_EQ(split("The gardener\nsang about the window."), "The gardener\nsang about the window.");
  EXPECT_EQ(split("A long line that somebody wrapped at its end, just before\nBerlin was named."),
            "A long line that somebody wrapped at its end, just before\nBerlin was named.");
}

TEST(SplitSentences, EveryByteThatIsNoSpaceIsInOneSentence) {
  EXPECT_TRUE(split_sentences("").empty());
  EXPECT_TRUE(split_sentences(" \n\t  ").empty());
  EXPECT_THROW(split_sentences("na\xefve."), Error);
  // Pieces of everything that the rules know, in all orders of two.
  const std::string parts[] = {".", "!",  "…", "。", "\"", "”", "(",  ")",   "«",  "»", "a",
                               "A", "Dr", "1", "😀",  ":)", " ", "\n", "U.S", "本", "z", "I"};
  for (const std::string& a : parts)
    for (const std::string& b : parts)
      for (const std::string& c : parts) {
        const std::string text = a + b + c + b + a + c + " " + b + a;
        std::string kept, all;
        int64_t at = 0;
        for (Span span : split_sentences(text)) {
          ASSERT_LE(at, span.begin) << text;
          ASSERT_LT(span.begin, span.end) << text;
          ASSERT_EQ(without_spaces(text, span), span) << text;
          kept += piece_of(text, span), at = span.end;
        }
        for (std::string* s : {&kept, &(all = text)}) std::erase_if(*s, [](char x) { return x == ' ' || x == '\n'; });
        ASSERT_EQ(kept, all) << text;
      }
}

}  // namespace
}  // namespace fovea
