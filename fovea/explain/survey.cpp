#include "fovea/explain/survey.h"

#include "fovea/data/text/lines.h"
#include "fovea/explain/given.h"

namespace fovea {
namespace {

constexpr const char* english[] = {"The cat sat on the mat, and the dog slept beside the door.",
                                   "Where is the nearest station, please?",
                                   "My sister bought a new car last week, but she does not like it.",
                                   "The teacher who lives next door speaks three languages.",
                                   "If it rains tomorrow, we will stay at home and read.",
                                   "He opened the window because the room was too warm.",
                                   "Three of the five children had never seen the sea before.",
                                   "\"I have no idea,\" said the old man, and laughed.",
                                   "The book that you gave me was better than the film.",
                                   "After dinner we walked along the river until it was dark.",
                                   "She asked him whether he had locked the door.",
                                   "The house was sold, and the new house was built in two years.",
                                   "Nobody knows why the train was late this morning.",
                                   "I would like a cup of coffee, a glass of water and some bread.",
                                   "The more he talked about the plan, the less I liked the plan.",
                                   "Please write your name and your address at the end of the page."};
constexpr const char* german[] = {"Die Katze saß auf der Matte, und der Hund schlief neben der Tür.",
                                  "Wo ist bitte der nächste Bahnhof?",
                                  "Meine Schwester hat letzte Woche ein neues Auto gekauft, aber es gefällt ihr nicht.",
                                  "Der Lehrer, der nebenan wohnt, spricht drei Sprachen.",
                                  "Wenn es morgen regnet, bleiben wir zu Hause und lesen.",
                                  "Er öffnete das Fenster, weil es im Zimmer zu warm war.",
                                  "Drei von den fünf Kindern hatten das Meer noch nie gesehen.",
                                  "„Ich habe keine Ahnung“, sagte der alte Mann und lachte.",
                                  "Das Buch, das du mir gegeben hast, war besser als der Film.",
                                  "Nach dem Essen gingen wir am Fluss entlang, bis es dunkel war.",
                                  "Sie fragte ihn, ob er die Tür abgeschlossen habe.",
                                  "Das Haus wurde verkauft, und das neue Haus wurde in zwei Jahren gebaut.",
                                  "Niemand weiß, warum der Zug heute Morgen zu spät kam.",
                                  "Ich hätte gern eine Tasse Kaffee, ein Glas Wasser und etwas Brot.",
                                  "Je mehr er über den Plan sprach, desto weniger gefiel mir der Plan.",
                                  "Bitte schreiben Sie Ihren Namen und Ihre Adresse an das Ende der Seite."};

}  // namespace

std::vector<TextPair> read_text_pairs(const std::string& path) {
  std::vector<TextPair> pairs;
  Lines lines(path);
  for (std::string line; lines.next(line);) {
    const size_t tab = line.find('\t');
    TextPair pair = {line.substr(0, tab)};
    if (tab != std::string::npos) pair.target = line.substr(tab + 1, line.find('\t', tab + 1) - tab - 1);
    if (!pair.source.empty()) pairs.push_back(std::move(pair));
  }
  require(!pairs.empty(), "{}: found no text, expected one a line", path);
  return pairs;
}

std::vector<TextPair> sample_texts(std::string_view language) {
  std::vector<TextPair> texts;
  for (const char* text : language == "de" ? german : english) texts.push_back({text});
  return texts;
}

Recording record_text_pair(const Pretrained& p, const TextPair& pair, const RecordOptions& options) {
  const bool translates = can<Generator>(*p.model) && can<Encoder>(*p.model);
  return translates && !pair.target.empty() ? record_pair(*p.model, *p.tokenizer, pair.source, pair.target, options)
                                            : record(*p.model, *p.tokenizer, pair.source, options);
}

std::vector<HeadMeasure> measure_heads(const Pretrained& p, const std::vector<TextPair>& texts,
                                       HeadMeasures::KnownLinks known, const RecordOptions& options) {
  HeadMeasures measures(std::move(known));
  for (const TextPair& pair : texts) measures.add(record_text_pair(p, pair, options));
  for (const char* name : {"first", "second", "third"})
    measures.add_repeated(record_repeated(*p.model, *p.tokenizer, Random(1).fork(name)));
  return measures.heads();
}

}  // namespace fovea
