// What people type, as the models have learned to read it: without harm to anything else.
//
//   tidy("whyyy dont u  come ?", {}, {tokenizer, "en"}).edits;        // "Why don't u come?"
#pragma once

#include "fovea/data/text/edited_text.h"
#include "fovea/data/text/tokenizer.h"

namespace fovea {

struct Reader {
  const Tokenizer& tokenizer;
  std::string_view language;
};

struct Tidied {
  std::vector<Edit> edits;
  bool capitals = false;         // the whole text was in capitals, which are small letters now
  bool added_mark = false;       // the text ended without one
  std::vector<Span> emphasised;  // words in capitals among others, which are small letters now
};

// `apart` are bytes that stay as they are, in order. A text all in capitals or all in small letters gets those that its words
// usually have; curly quotes and dashes that the vocabulary lacks become those of a typewriter; a full stop is added.
Tidied tidy(std::string_view text, const std::vector<Span>& apart, const Reader&);

// Words that a model would spell anew, most often wrongly: names whose pieces are many, and abbreviations in capitals.
std::vector<Span> unknown_names(std::string_view text, const std::vector<Span>& apart, const Reader&);
std::vector<Span> unknown_abbreviations(std::string_view text, const std::vector<Span>& apart, const Reader&);

// Words in other writing than Latin that the vocabulary has not (東京, Москва, µm); those with a blank between are one.
std::vector<Span> unknown_writing(std::string_view text, const std::vector<Span>& apart, const Reader&);

// A name together with the title before it, as the target has them: "Frau Szymborska" of "Mrs. Szymborska". Without one, and where the
// form depends on the sentence (Mr.: Herr, Herrn), it is the name alone.
struct TitledName {
  Span span;
  std::string text;
};
TitledName with_title(std::string_view text, Span name, std::string_view from, std::string_view to);

// A word that the vocabulary does not know, and a word of the translation that looks like it and is another: a copy that broke off
// (Gelsenkirchen, Gelsenkir), or a relative (Skandal, scandal).
struct LookAlike {
  Span source, found;
};
std::vector<LookAlike> look_alikes(std::string_view text, const std::vector<Span>& apart, std::string_view found,
                                   const Reader&);

}  // namespace fovea
