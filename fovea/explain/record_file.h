// Recordings of whatever a model reads: a text, or the file of a picture or of a sound.
//
//   const Recording seen = record(load_pretrained("zoo/scenes"), "examples/scenes/1.png");
//   seen.answer;   seen.picture->parts_down;                            // "a small purple circle …", 8
#pragma once

#include <string>

#include "fovea/data/audio/sound.h"
#include "fovea/explain/recording.h"
#include "fovea/generate/transcribe.h"

namespace fovea {

enum class Reads { texts, pictures, sounds };
Reads what_is_read(const Model&);
void require_texts(const Pretrained&, std::string_view who);  // an Error that names whoever needs a model of texts

// `given` is a text, or the path of a file; where a file is expected and something else is given, an Error that says so.
Recording record(const Pretrained&, const std::string& given, const RecordOptions& = {});

// A label, a caption or, of a model that only looks, no answer. The text of the recording is the name.
Recording record_picture(const Pretrained&, const Image&, const std::string& name, const RecordOptions& = {});

// What is said in it; an Error if it is longer than one window of the model. Without places of `options` only those of the decoder.
Recording record_sound(const Pretrained&, const Sound&, const std::string& name, const RecordOptions& = {});

// What is drawn of a sound that was transcribed with words and what they heard; an Error if it is longer than one window.
RecordedSound heard_sound(const Pretrained&, const Sound&, const Transcription&);
void require_one_window(const Pretrained&, const Sound&, const std::string& name);

}  // namespace fovea
