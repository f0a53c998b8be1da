#include "fovea/api/transcriber.h"

#include "fovea/generate/transcribe.h"
#include "fovea/models/zoo.h"

namespace fovea {

struct Transcriber::Loaded {
  Pretrained model;

  Answer answer(const Sound& sound, const Options& o) const {
    const Transcription t =
        transcribe(model, sound, {.language = o.language, .task = o.task, .words = o.words, .prompt = o.prompt});
    Answer answer = {.text = t.text, .language = t.language};
    for (const fovea::Segment& s : t.segments) {
      answer.segments.push_back({.text = s.text, .start = s.start, .end = s.end});
      for (const SpokenWord& w : s.words)
        answer.segments.back().words.push_back(
            {w.text.substr(std::min(w.text.find_first_not_of(' '), w.text.size())), w.start, w.end, w.probability});
    }
    return answer;
  }
};

Transcriber::Transcriber(const std::string& model, const ModelOptions& o)
    : loaded_(std::make_shared<Loaded>(load_pretrained(find_model(model, "", o.zoo), {.precision = o.weights}))) {
  loaded_->model.as<Listener>();
}

Transcriber::Answer Transcriber::operator()(const std::string& path, const Options& o) const {
  return loaded_->answer(read_sound(path), o);
}

Transcriber::Answer Transcriber::operator()(const std::vector<float>& samples, const Options& o) const {
  return loaded_->answer({.rate = 16000, .samples = samples}, o);
}

}  // namespace fovea
