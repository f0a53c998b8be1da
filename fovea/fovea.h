// Fovea in three lines. A model is a folder, or the name of one that ships; see docs/cpp.md.
//
//   fovea::Translator translate("en-de");
//   auto r = translate("The bank approved the loan.");   // r.text, r.score, r.alignment, r.attention
//
//   fovea::Tagger tag;                tag("Ada Lovelace lived in London.").entities;
//   fovea::Classifier classify;       classify("A wonderful film.").label;
//   fovea::Captioner caption;         caption("photo.png").words[2].looked;
//   fovea::Summariser summarise("my-model");
//   fovea::Attention attend({.form = "dot"});
//
//   fovea::TextGenerator write("model.gguf");          write("Once upon a time", {.max_length = 40}).text;
//   fovea::ChatPartner partner("model.gguf");          partner.say("What is the capital of France?");
//   fovea::TextEmbedder embed("all-MiniLM-L6-v2");     embed.similarity("How are you?", "How do you do?");
//   fovea::MaskFiller fill("bert-base-uncased");       fill("The capital of France is [MASK].")[0].choices;
//   fovea::Transcriber transcribe("ggml-tiny.bin");    transcribe("speech.flac").segments[0].words;
//   fovea::Answerer answer("my-finder");               answer("Who wrote it?", "It was written by Ada in 1843.").span;
//
// Answers are plain structs of the standard library's types. Objects are cheap to copy and to move, and any number of threads
// may call one at the same time (but a ChatPartner, which remembers what was said). What goes wrong is a fovea::Error.
#pragma once

#include "fovea/api/answerer.h"
#include "fovea/api/attention.h"
#include "fovea/api/captioner.h"
#include "fovea/api/chat_partner.h"
#include "fovea/api/classifier.h"
#include "fovea/api/mask_filler.h"
#include "fovea/api/tagger.h"
#include "fovea/api/text_embedder.h"
#include "fovea/api/text_generator.h"
#include "fovea/api/text_writer.h"
#include "fovea/api/transcriber.h"
#include "fovea/base/error.h"
#include "fovea/version.h"
