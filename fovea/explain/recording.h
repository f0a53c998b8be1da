// What a model saw while it answered one text: the sequences that it read and wrote, and the weights of its attentions.
//
//   const Recording seen = record(*model, *tokenizer, "The cat sat on the mat.");
//   seen.answer;   seen.at("decoder.2.cross").weights;                    // "Die Katze …", [heads, rows, columns]
//
// The model runs once. Whoever runs it himself hands on a recorder's trace:
//
//   Recorder recorder(model, tokenizer, {}, text);
//   const Translations t = translate(model, tokenizer, {text}, config, {.trace = recorder.trace()})[0];
//   recorder.translated(t);   Recording seen = recorder.finish();
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fovea/data/text/tokenizer.h"
#include "fovea/explain/recorded_media.h"
#include "fovea/generate/classify.h"
#include "fovea/generate/config.h"
#include "fovea/generate/continue.h"
#include "fovea/generate/tag.h"
#include "fovea/generate/translate.h"
#include "fovea/models/abilities.h"
#include "fovea/models/pretrained.h"

namespace fovea {

// What might have been written instead.
struct Alternative {
  int64_t id = 0;
  std::string piece = {};
  double probability = 0;
};
inline constexpr size_t most_alternatives = 5;

// One token for each row or column of the places that name it.
struct RecordedSequence {
  std::string text = {};
  std::vector<int64_t> ids = {};           // −1: no token of a vocabulary
  std::vector<std::string> pieces = {};    // as they are shown; valid UTF-8
  std::vector<Span> spans = {};            // bytes of the text; empty for special tokens
  std::vector<double> probabilities = {};  // of what was written, NaN where nobody knows; none otherwise
  // Of each of these the other tokens that were most probable there, falling.
  std::vector<std::vector<Alternative>> alternatives = {};

  size_t size() const { return pieces.size(); }
};

// Squares of 2ᴸ × 2ᴸ weights of every head, pooled: the largest and the mean of each.
struct PooledHeads {
  int64_t level = 0;
  Tensor largest = {}, mean = {};  // [heads, ⌈rows/2ᴸ⌉, ⌈columns/2ᴸ⌉]
};

// Of the heads that were asked for, either all weights or the attention itself, from which any can be had (window.h).
struct RecordedPlace {
  Place place = {};
  std::vector<int64_t> heads = {};                 // their numbers
  Tensor weights = {};                             // [heads, rows, columns]
  std::shared_ptr<const KeptAttention> kept = {};  // if there are no weights, or both were asked for
  PooledHeads pooled = {};                         // if somebody has done that already

  int64_t rows() const { return weights ? weights.size(1) : kept->queries(); }
  int64_t columns() const { return weights ? weights.size(2) : kept->keys(); }
  // [rows of the range, columns of the range] of heads[number].
  Tensor part(size_t number, Range rows, Range columns) const;
};

struct Recording {
  std::string model = {}, family = {}, precision = {};  // the first and the last as whoever records calls them
  std::string text = {}, answer = {};
  std::map<std::string, RecordedSequence> sequences = {};  // "source", "target" …, as places.h names them
  std::vector<RecordedPlace> places = {};                  // in the order in which they ran
  std::optional<RecordedPicture> picture = {};             // of a model that sees
  std::optional<RecordedSound> sound = {};                 // of a model that hears

  const RecordedPlace& at(const std::string& path) const;  // an Error if it was not recorded
  const RecordedSequence& rows_of(const RecordedPlace& p) const { return sequences.at(p.place.rows); }
  const RecordedSequence& columns_of(const RecordedPlace& p) const { return sequences.at(p.place.columns); }
};

struct RecordOptions {
  std::vector<std::string> places = {};  // only these, or those below them; empty: all
  std::vector<int64_t> heads = {};       // empty: all
  GenerationConfig generation = {};      // of models that write
  // Texts of more tokens are recorded by keeping the attentions instead of their weights.
  size_t most_whole_tokens = 512;
  bool keep =
      false;  // the attentions beside their weights, so that their queries, keys and values can be looked at (steps.h)
};

// The name of a model's folder, and as what its weights are used.
void name_model(Recording&, const Pretrained&);

// An Error for models that neither generate, label nor encode, and for places that the model does not have.
Recording record(const Model&, const Tokenizer&, const std::string& text, const RecordOptions& = {});

class Recorder final {
 public:
  Recorder(const Model&, const Tokenizer&, const RecordOptions&, const std::string& text);
  // Of a model that sees so many tokens of a picture; one that writes has a tokenizer.
  Recorder(const Model&, const Tokenizer*, const RecordOptions&, const std::string& name, size_t tokens);

  Trace* trace() { return &trace_; }

  // One of these says what the trace is of.
  void translated(const Translations&, const std::string& task = "");
  void classified(const Classified&);
  void saw(const PictureShape&);                            // a picture, and wrote nothing
  void captioned(const Translation&, const PictureShape&);  // the text is the picture's path
  void tagged(const TaggedText&);
  void continued(const std::vector<int64_t>& prompt, const Continuation&);
  // Behind continued(): how probable the tokens behind these were, by the logits [tokens, vocabulary] of those from `begin` on; and
  // what else might have stood there, of texts of no more tokens than this.
  static constexpr size_t most_foretold = 4096;
  void foretold(int64_t begin, const Tensor& logits);
  // What is said in a window of sound: the states that the model heard, each so many seconds long, what it was given to read and what it
  // wrote, where ids below that of the end are words.
  void heard(int64_t states, double seconds, const std::vector<int64_t>& prompt, const std::vector<int64_t>& written,
             int64_t end);
  void read(const Tokens& framed, const std::string& text, const std::string& name = "source");

  Recording finish(std::string answer);

 private:
  void wrote(const Translation&, const Generator&);
  std::vector<Alternative> alternatives(const ProbeResult& likely, size_t step, int64_t written) const;
  std::string piece_of_likely(int64_t id) const;
  RecordedSequence sequence(const Tokens&, const std::string& text) const;
  std::string shown(int64_t id) const;

  const Model& model_;
  const Tokenizer* tokenizer_;
  std::vector<int64_t> heads_;
  Trace trace_;
  Recording recording_;
};

}  // namespace fovea
