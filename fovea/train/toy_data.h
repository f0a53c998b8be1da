// Small data for tests, made up by rule: what can be learned from it is known.
//
//   write_text(folder / "pairs.tsv", toy_pairs(300));
#pragma once

#include <string>
#include <vector>

#include "fovea/base/random.h"

namespace fovea {

class ToyWords final {
 public:
  explicit ToyWords(uint64_t seed) : random_(seed) {}
  size_t below(size_t count) { return static_cast<size_t>(random_.below(count, drawn_++)); }
  std::string of(const std::vector<std::string>& words) { return words[below(words.size())]; }

 private:
  Random random_;
  uint64_t drawn_ = 0;
};

// "two seven one<TAB>zwei sieben eins": word for word.
inline std::string toy_pairs(int count, uint64_t seed = 1) {
  const std::vector<std::string> english = {"one", "two", "three", "four", "five", "six", "seven", "eight", "nine"};
  const std::vector<std::string> german = {"eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"};
  ToyWords words(seed);
  std::string text;
  for (int i = 0; i < count; ++i) {
    std::string source, target;
    for (size_t length = 2 + words.below(4); length > 0; --length) {
      const size_t word = words.below(english.size());
      source += english[word] + (length > 1 ? " " : "");
      target += german[word] + (length > 1 ? " " : "");
    }
    text += source + "\t" + target + "\n";
  }
  return text;
}

// "three four five six\none two": numbers that follow each other, from any on, a few on each line.
inline std::string toy_text(int lines, uint64_t seed = 1) {
  const std::vector<std::string> numbers = {"one", "two", "three", "four", "five", "six", "seven", "eight", "nine"};
  ToyWords words(seed);
  std::string text;
  for (int i = 0; i < lines; ++i) {
    size_t number = words.below(numbers.size());
    for (size_t length = 6 + words.below(5); length > 0; --length)
      text += numbers[number++ % numbers.size()] + (length > 1 ? " " : "\n");
  }
  return text;
}

// "the film was long and awful<TAB>bad": one word decides.
inline std::string toy_labelled(int count, uint64_t seed = 1) {
  const std::vector<std::string> things = {"film", "book", "meal", "song", "hotel"};
  const std::vector<std::string> neutral = {"long", "short", "new", "old", "loud"};
  ToyWords words(seed);
  std::string text;
  for (int i = 0; i < count; ++i) {
    const bool good = words.below(2) == 1;
    const std::string verdict =
        good ? words.of({"wonderful", "great", "lovely"}) : words.of({"awful", "boring", "terrible"});
    text += "the " + words.of(things) + " was " + words.of(neutral) + " and " + verdict + "\t" +
            (good ? "good" : "bad") + "\n";
  }
  return text;
}

// "Anna Berg visited Oslo .": first names begin a person, what stands after a verb is a place.
inline std::string toy_conll(int count, uint64_t seed = 1) {
  ToyWords words(seed);
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += words.of({"Anna", "Ben", "Clara", "David"}) + " B-PER\n";
    if (words.below(2) == 1) text += words.of({"Berg", "Stone", "Vale"}) + " I-PER\n";
    text += words.of({"visited", "left", "loves"}) + " O\n";
    text += words.of({"Oslo", "Paris", "Rome", "Lima"}) + " B-LOC\n. O\n\n";
  }
  return text;
}

}  // namespace fovea
