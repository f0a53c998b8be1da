// What a model can do, as small interfaces: tasks, verbs and explanations ask for one of them, never for a family's name.
//
//   const Generator& writer = as<Generator>(*model);   // an Error if it cannot
//   if (const auto* labeller = can<TextLabeller>(*model)) …
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/text/special_ids.h"
#include "fovea/models/labels.h"
#include "fovea/models/model.h"
#include "fovea/nn/context.h"
#include "fovea/tensor/loss.h"

namespace fovea {

// What is read or heard, padded to a rectangle. What stands beyond a row's length is never looked at.
struct Source {
  Tensor ids = {};      // i64 [batch, tokens]
  Tensor lengths = {};  // i64 [batch]; all tokens (frames, states) if not given
  Tensor types = {};  // i64 [batch, tokens]: which text a token belongs to, if a model tells them apart; 0 if not given
  Tensor pixels = {};  // of a model that reads pictures, instead of all these: [batch, channels, height, width]
  Tensor frames = {};  // of sound instead of ids: [batch, bands, frames], as data/audio/log_mel.h makes them
  Tensor states = {};  // [batch, states, width]: what hear() or encode_pictures() made of frames or pixels
};

// Hidden states of a text.
class Encoder {
 public:
  // [batch, tokens, width]; what stands beyond a row's length means nothing.
  virtual Tensor encode(const Source&, const Context&) const = 0;
  virtual int64_t longest() const { return 0; }  // tokens that it reads; 0: any number

 protected:
  ~Encoder() = default;
};

// Where the generation of a batch stands: the recurrent state, or the cache of keys and values. Not to be used any more
// after a step that threw.
class DecoderState {
 public:
  virtual ~DecoderState() = default;
  virtual int64_t rows() const = 0;
  virtual void reorder(std::span<const int64_t> rows) = 0;  // row i goes on as row rows[i] was; the others are freed
  // The rows of a state of the same model, started for other sources, come behind: a batch is filled up again.
  virtual void append(DecoderState&& other) = 0;
};

// Where each row's last token stands among the ids [tokens of all rows]; an Error if a row has none.
std::vector<int64_t> last_tokens(const Tensor& ids, std::span<const int64_t> starts);

// Writes token after token, from a source if it is an Encoder too; a language model is none and gets an empty one.
//
//   Tensor loss = writer.loss(source, inputs, targets, {.ignored = padding}, context);      // teacher forcing
//   auto state = writer.start(source, context);   Tensor next = writer.step(*state, ids, context);
class Generator {
 public:
  // Logits of the token after each of the given ones, i64 [batch, tokens] → [batch, tokens, vocabulary]; the first of a row
  // is the start.
  virtual Tensor logits(const Source&, const Tensor& target_ids, const Context&) const = 0;

  // The cross-entropy of those logits; in training with everything else the model learns from.
  virtual Tensor loss(const Source&, const Tensor& target_ids, const Tensor& wanted_ids, const CrossEntropyOptions&,
                      const Context&) const;

  // The same step by step, with the same bits: ids i64 [rows] → [rows, vocabulary]. A state without rows (of a model that
  // reads no source) gets them at its first step.
  virtual std::unique_ptr<DecoderState> start(const Source&, const Context&) const = 0;
  Tensor step(DecoderState&, const Tensor& ids, const Context&) const;
  // One or more tokens for each row at once, as prompts and forced prefixes need it: row r gets ids[starts[r]] to
  // ids[starts[r + 1] − 1] → logits after each row's last, [rows, vocabulary].
  virtual Tensor steps(DecoderState&, const Tensor& ids, std::span<const int64_t> starts, const Context&) const = 0;

  virtual SpecialIds special_ids() const = 0;
  virtual std::vector<int64_t> end_ids() const { return {special_ids().eos}; }  // those that end a text; −1: none
  virtual int64_t longest() const { return 0; }      // tokens that a source or a target may have; 0: any number
  virtual std::string source_attention() const = 0;  // where the targets look at the source; empty if nowhere

 protected:
  ~Generator() = default;
};

// Gives a text one label, several, or a number.
class TextLabeller {
 public:
  virtual Tensor logits(const Source&, const Context&) const = 0;  // [batch, labels]
  // Of what Labels::losses() takes, added up over the batch; in training with everything the model learns from.
  virtual Tensor loss(const Source&, const WantedLabels&, const Context&) const = 0;
  virtual const Labels& labels() const = 0;
  virtual bool pairs() const { return false; }   // whether it reads two texts at a time, with a tab between
  virtual int64_t longest() const { return 0; }  // tokens of a text that are read; 0: all
  // How much each token counted, [batch, tokens], each row's sum 1 (0 beyond a row's length); no tensor if the model does not
  // know.
  virtual Tensor token_weights(const Source&, const Context&) const = 0;

 protected:
  ~TextLabeller() = default;
};

// Sentences as words and the words' characters, padded. What stands beyond the lengths is never looked at.
struct SpelledWords {
  Tensor words;              // i64 [batch, words]
  Tensor lengths;            // i64 [batch]
  Tensor characters;         // i64 [batch, words, characters]
  Tensor character_lengths;  // i64 [batch, words]
};

// Gives each word of a sentence a label.
class WordLabeller {
 public:
  virtual Tensor scores(const SpelledWords&, const Context&) const = 0;  // emissions, [batch, words, labels]
  // Of i64 [batch, words] labels: −log p of each sentence (CRF) or word (softmax), added up.
  virtual Tensor loss(const SpelledWords&, const Tensor& labels, const Context&) const = 0;
  // The most probable sequence, i64 [batch, words]; 0 beyond a sentence's length.
  virtual Tensor best(const Tensor& scores, const Tensor& lengths) const = 0;
  // p(label of a word | sentence), [batch, words, labels]; zeros beyond a sentence's length.
  virtual Tensor probabilities(const Tensor& scores, const Tensor& lengths) const = 0;
  // ln p / (1 − p) of a label at one word of each sentence, [batch], with its gradient.
  virtual Tensor log_odds(const Tensor& scores, const Tensor& lengths, std::span<const int64_t> words,
                          int64_t label) const = 0;
  virtual const std::vector<std::string>& labels() const = 0;
  virtual int64_t characters() const = 0;           // entries of the vocabulary of characters
  virtual std::string attention_place() const = 0;  // where words look at words; empty if nowhere

 protected:
  ~WordLabeller() = default;
};

// Gives each token of a text a label: BERT's token classification.
class TokenLabeller {
 public:
  virtual Tensor token_logits(const Source&, const Context&) const = 0;  // [batch, tokens, labels]
  // Of i64 [batch, tokens] labels: −log p of each token's, added up; those with the label −1 count for nothing.
  Tensor token_loss(const Source&, const Tensor& labels, const Context&) const;
  virtual const std::vector<std::string>& token_labels() const = 0;
  virtual int64_t longest() const { return 0; }  // tokens of a text that are read; 0: all

 protected:
  ~TokenLabeller() = default;
};

// Says which words may stand where a mask stands.
class GapFiller {
 public:
  // Logits at the given places, i64 [gaps], row · tokens + token → [gaps, vocabulary].
  virtual Tensor gap_logits(const Source&, const Tensor& places, const Context&) const = 0;
  virtual int64_t longest() const { return 0; }

 protected:
  ~GapFiller() = default;
};

// Finds the part of a text that answers a question: where it begins and where it ends.
class AnswerFinder {
 public:
  virtual Tensor edge_logits(const Source&, const Context&) const = 0;  // [batch, tokens, 2]: first token, last token
  virtual int64_t longest() const { return 0; }

 protected:
  ~AnswerFinder() = default;
};

// How a picture is cut up.
struct PictureShape {
  int64_t channels = 3, height = 0, width = 0;
  int64_t patches_down = 0, patches_across = 0;
  int64_t extra = 0;  // tokens that stand before the patches
};

// Hidden states of pictures [batch, channels, height, width].
class PictureEncoder {
 public:
  virtual Tensor encode_pictures(const Tensor& pixels, const Context&) const = 0;  // [batch, extra + patches, width]
  virtual PictureShape picture_shape() const = 0;
  virtual std::string picture_attention() const = 0;  // where the first token looks at the patches last

 protected:
  ~PictureEncoder() = default;
};

// Gives a picture one label, or several.
class PictureLabeller {
 public:
  virtual Tensor picture_logits(const Tensor& pixels, const Context&) const = 0;  // [batch, labels]
  virtual const Labels& labels() const = 0;

 protected:
  ~PictureLabeller() = default;
};

// What a model hears at a time, and how finely.
struct SoundShape {
  int64_t bands = 80, frames = 3000;  // the most frames of a window
  int64_t frames_per_state = 2;
};

// Hidden states of sound. What it writes of it, it writes as a Generator, from a Source with frames or with these states.
class Listener {
 public:
  virtual Tensor hear(const Source&, const Context&) const = 0;  // [batch, states, width]; zeros beyond a row's length
  virtual SoundShape sound_shape() const = 0;
  // A state that this model started goes back to its beginning: what was heard stays, what was written is forgotten.
  virtual void rewind(DecoderState&) const = 0;

 protected:
  ~Listener() = default;
};

template <class Ability>
const Ability* can(const Model& model) {
  return dynamic_cast<const Ability*>(&model);
}

template <class Ability>
const Ability& as(const Model& model) {
  if (const Ability* found = can<Ability>(model)) return *found;
  throw Error(Error::invalid, "found a model of family '{}', which does not do this", model.family());
}

}  // namespace fovea
