// Text ⇄ ids. Every token keeps the bytes of the user's own text that it came from, through any normalisation.
//
//   std::unique_ptr<Tokenizer> t = load_tokenizer("my-model");
//   Tokens tokens = t->encode("Hello world");          // tokens.ids[i] came from bytes tokens.spans[i]
//
// The kinds, one file each: sentencepiece.h (unigram and BPE), words.h, bytes.h; those of pretrained models stand in pretrained/.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/text/special_ids.h"
#include "fovea/data/text/utf8.h"

namespace fovea {

struct Tokens {
  std::vector<int64_t> ids;
  std::vector<Span> spans;          // in order; together they cover all but white space
  std::vector<int64_t> types = {};  // if frame() made them: the text that each belongs to, as the model was told apart
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  virtual std::string_view kind() const = 0;  // "unigram", "bpe", "wordpiece", "words" or "bytes"
  virtual int64_t size() const = 0;           // ids are 0 … size() − 1
  virtual const SpecialIds& special() const = 0;
  virtual std::string piece(int64_t id) const = 0;                     // as the vocabulary spells it
  virtual int64_t id_of(std::string_view piece) const = 0;             // special().unk if it is not in the vocabulary
  virtual Tokens encode(std::string_view text) const = 0;              // adds neither bos nor eos
  virtual std::string decode(std::span<const int64_t> ids) const = 0;  // pad, bos and eos give nothing
  virtual void save(const std::filesystem::path& folder) const = 0;

  // What a model of others was trained to read: one text, or two, among the special tokens of its post-processor ([CLS] text
  // [SEP] …), which have empty spans. Those of a second text are bytes of that text. As it is if the tokenizer frames nothing.
  virtual Tokens frame(const Tokens& text, const Tokens* second = nullptr) const;
  virtual bool frames() const {
    return false;
  }  // whether frame() adds something: tokenizers that were trained here do not

 protected:
  void check_id(int64_t id) const;  // an Error if there is no such id
  static void make_folder(const std::filesystem::path& folder);
};

// From a folder that save() wrote, or that of a pretrained model; of what is there the first of: what was trained here
// (spiece.model, vocabulary.json), tokenizer.json, source.spm with target.spm and vocab.json, vocab.txt, vocab.json with
// merges.txt, spiece.model, tokenizer.model, sentencepiece.bpe.model, *.tiktoken. Or from such a file itself.
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& folder);

// Gives one text of the training data after the other; false at the end.
using TextSource = std::function<bool(std::string&)>;
TextSource lines_of(std::vector<std::string> paths);  // the lines of these files, as lines.h reads them

}  // namespace fovea
