// Fovea in three lines. A model is a folder, or the name of one that ships; see docs/cpp.md.
//
//   fovea::Translator translate("en-de");
//   auto r = translate("The bank approved the loan.");   // r.text, r.score, r.alignment, r.attention
//
//   fovea::Tagger tag;                tag("Ada Lovelace lived in London.").entities;
//   fovea::Classifier classify;       classify("A wonderful film.").label;
//   fovea::Summariser summarise("my-model");
//   fovea::Attention attend({.form = "dot"});
//
// Answers are plain structs of the standard library's types. Objects are cheap to copy and to move, and any number of threads
// may call one at the same time. What goes wrong is a fovea::Error.
#pragma once

#include "fovea/api/attention.h"
#include "fovea/api/classifier.h"
#include "fovea/api/tagger.h"
#include "fovea/api/text_writer.h"
#include "fovea/base/error.h"
#include "fovea/version.h"
