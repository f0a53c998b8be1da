#include "fovea/train/metrics/porter_stemmer.h"

#include <array>
#include <span>
#include <utility>
#include <vector>

namespace fovea {
namespace {

bool vowel(char c) { return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u'; }

// A y is a consonant where it begins the word or follows a vowel.
std::vector<bool> consonants(std::string_view word) {
  std::vector<bool> flags(word.size());
  for (size_t i = 0; i < word.size(); ++i) flags[i] = word[i] == 'y' ? i == 0 || !flags[i - 1] : !vowel(word[i]);
  return flags;
}

// m in [C](VC)ᵐ[V], C and V being runs of consonants and of vowels.
int measure(std::string_view stem) {
  const std::vector<bool> consonant = consonants(stem);
  int count = 0;
  for (size_t i = 1; i < stem.size(); ++i) count += !consonant[i - 1] && consonant[i] ? 1 : 0;
  return count;
}

bool has_vowel(std::string_view stem) {
  for (bool consonant : consonants(stem)) {
    if (!consonant) return true;
  }
  return false;
}

bool ends_in_consonant(std::string_view word) { return !word.empty() && consonants(word).back(); }

bool ends_in_double_consonant(std::string_view word) {
  return word.size() >= 2 && word.back() == word[word.size() - 2] && ends_in_consonant(word);
}

// Consonant, vowel, consonant other than w, x and y; NLTK: also a vowel and a consonant that are the whole word.
bool ends_short(std::string_view word) {
  const std::vector<bool> c = consonants(word);
  const size_t n = word.size();
  if (n == 2) return !c[0] && c[1];
  return n >= 3 && c[n - 3] && !c[n - 2] && c[n - 1] && word[n - 1] != 'w' && word[n - 1] != 'x' && word[n - 1] != 'y';
}

std::string_view without(std::string_view word, size_t letters) { return word.substr(0, word.size() - letters); }

struct Rule {
  std::string_view suffix, replacement;
};

// The first rule whose suffix fits decides, whether or not its stem's measure is enough.
std::string apply(std::string_view word, std::span<const Rule> rules, int measure_above) {
  for (const Rule& rule : rules) {
    if (!word.ends_with(rule.suffix)) continue;
    const std::string_view stem = without(word, rule.suffix.size());
    if (measure(stem) <= measure_above) break;
    return std::string(stem).append(rule.replacement);
  }
  return std::string(word);
}

// Plurals: caresses → caress, ponies → poni, dies → die, cats → cat.
std::string step_1a(std::string_view word) {
  constexpr std::array<Rule, 4> rules = {{{"sses", "ss"}, {"ies", "i"}, {"ss", "ss"}, {"s", ""}}};
  if (word.ends_with("ies") && word.size() == 4) return std::string(without(word, 1));
  return apply(word, rules, -1);
}

// Past and progressive: agreed → agree, plastered → plaster, motoring → motor.
std::string step_1b(std::string_view word) {
  if (word.ends_with("ied")) return std::string(without(word, word.size() == 4 ? 1 : 2));
  if (word.ends_with("eed")) return std::string(measure(without(word, 3)) > 0 ? without(word, 1) : word);
  std::string_view stem;
  for (std::string_view suffix : {"ed", "ing"}) {
    if (!word.ends_with(suffix) || !has_vowel(without(word, suffix.size()))) continue;
    stem = without(word, suffix.size());
    break;
  }
  if (stem.empty()) return std::string(word);
  for (std::string_view ending : {"at", "bl", "iz"}) {
    if (stem.ends_with(ending)) return std::string(stem) + "e";
  }
  if (ends_in_double_consonant(stem)) {
    const bool kept = stem.back() == 'l' || stem.back() == 's' || stem.back() == 'z';
    return std::string(kept ? stem : without(stem, 1));
  }
  return std::string(stem).append(measure(stem) == 1 && ends_short(stem) ? "e" : "");
}

// happy → happi, but enjoy and by stay.
std::string step_1c(std::string_view word) {
  if (!word.ends_with("y") || word.size() <= 2 || !ends_in_consonant(without(word, 1))) return std::string(word);
  return std::string(without(word, 1)) + "i";
}

std::string step_2(std::string_view word) {
  constexpr std::array<Rule, 21> rules = {
      {{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"},
       {"bli", "ble"},     {"alli", "al"},     {"entli", "ent"}, {"eli", "e"},     {"ousli", "ous"},
       {"ization", "ize"}, {"ation", "ate"},   {"ator", "ate"},  {"alism", "al"},  {"iveness", "ive"},
       {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"},  {"iviti", "ive"}, {"biliti", "ble"},
       {"fulli", "ful"}}};
  if (word.ends_with("alli") && measure(without(word, 4)) > 0) return step_2(without(word, 2));
  if (word.ends_with("logi")) return std::string(measure(without(word, 3)) > 0 ? without(word, 1) : word);
  return apply(word, rules, 0);
}

std::string step_3(std::string_view word) {
  constexpr std::array<Rule, 7> rules = {
      {{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""}, {"ness", ""}}};
  return apply(word, rules, 0);
}

std::string step_4(std::string_view word) {
  constexpr std::array<Rule, 18> rules = {{{"al", ""},
                                           {"ance", ""},
                                           {"ence", ""},
                                           {"er", ""},
                                           {"ic", ""},
                                           {"able", ""},
                                           {"ible", ""},
                                           {"ant", ""},
                                           {"ement", ""},
                                           {"ment", ""},
                                           {"ent", ""},
                                           {"ou", ""},
                                           {"ism", ""},
                                           {"ate", ""},
                                           {"iti", ""},
                                           {"ous", ""},
                                           {"ive", ""},
                                           {"ize", ""}}};
  if (!word.ends_with("ion")) return apply(word, rules, 1);
  const std::string_view stem = without(word, 3);
  return std::string(measure(stem) > 1 && (stem.back() == 's' || stem.back() == 't') ? stem : word);
}

// A last e goes, and one of two last l: probate → probat, controll → control.
std::string step_5(std::string_view word) {
  if (word.ends_with("e")) {
    const std::string_view stem = without(word, 1);
    if (measure(stem) > 1 || (measure(stem) == 1 && !ends_short(stem))) word = stem;
  }
  if (word.ends_with("ll") && measure(without(word, 1)) > 1) word = without(word, 1);
  return std::string(word);
}

}  // namespace

std::string porter_stem(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 16> irregular = {{{"sky", "sky"},
                                                                                        {"skies", "sky"},
                                                                                        {"dying", "die"},
                                                                                        {"lying", "lie"},
                                                                                        {"tying", "tie"},
                                                                                        {"news", "news"},
                                                                                        {"innings", "inning"},
                                                                                        {"inning", "inning"},
                                                                                        {"outings", "outing"},
                                                                                        {"outing", "outing"},
                                                                                        {"cannings", "canning"},
                                                                                        {"canning", "canning"},
                                                                                        {"howe", "howe"},
                                                                                        {"proceed", "proceed"},
                                                                                        {"exceed", "exceed"},
                                                                                        {"succeed", "succeed"}}};
  for (auto [form, stem] : irregular) {
    if (form == word) return std::string(stem);
  }
  if (word.size() <= 2) return std::string(word);
  return step_5(step_4(step_3(step_2(step_1c(step_1b(step_1a(word)))))));
}

}  // namespace fovea
