#include "fovea/explain/record_file.h"

#include "fovea/base/file.h"

namespace fovea {
namespace {

// A text for a model that sees or hears is no file, and often a sentence.
void require_file(const Pretrained& p, const std::string& given, const char* what) {
  std::error_code error;
  if (std::filesystem::is_regular_file(given, error)) return;
  throw Error(Error::not_found, "{}: found no such file, expected the path of {}: {} reads nothing else",
              given.substr(0, 200), what, p.folder.filename().string());
}

}  // namespace

Reads what_is_read(const Model& model) {
  if (can<PictureEncoder>(model)) return Reads::pictures;
  return can<Listener>(model) ? Reads::sounds : Reads::texts;
}

void require_texts(const Pretrained& p, std::string_view who) {
  const Reads reads = what_is_read(*p.model);
  if (reads == Reads::texts) return;
  throw Error(Error::unsupported, "{}: found {}, a model that reads {}, expected one that reads texts", who,
              p.folder.filename().string(), reads == Reads::pictures ? "pictures" : "sounds");
}

Recording record(const Pretrained& p, const std::string& given, const RecordOptions& options) {
  switch (what_is_read(*p.model)) {
    case Reads::pictures:
      require_file(p, given, "a picture (PNG, JPEG, PGM or PPM)");
      return record_picture(p, read_image(given), given, options);
    case Reads::sounds:
      require_file(p, given, "a recording (WAV, FLAC, Ogg or MP3)");
      return record_sound(p, read_sound(given), given, options);
    case Reads::texts:
      break;
  }
  Recording seen = record(*p.model, *p.tokenizer, given, options);
  name_model(seen, p);
  return seen;
}

}  // namespace fovea
