#include "fovea/data/text/tokenizer.h"

#include <nlohmann/json.hpp>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/data/text/bytes.h"
#include "fovea/data/text/gguf_tokenizer.h"
#include "fovea/data/text/lines.h"
#include "fovea/data/text/pretrained/load.h"
#include "fovea/data/text/pretrained/vocabulary_files.h"
#include "fovea/data/text/sentencepiece.h"
#include "fovea/data/text/words.h"
#include "fovea/formats/whisper_file.h"

namespace fovea {
namespace fs = std::filesystem;

void Tokenizer::check_id(int64_t id) const {
  require(id >= 0 && id < size(), "{} tokenizer: found id {}, expected 0 to {}", kind(), id, size() - 1);
}

void Tokenizer::make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error(Error::io, "{}: cannot make this folder: {}", folder.string(), error.message());
}

Tokens Tokenizer::frame(const Tokens& text, const Tokens* second) const {
  require(second == nullptr, "{} tokenizer: found two texts, expected one; it has no mark to stand between them",
          kind());
  return text;
}

namespace {

std::unique_ptr<Tokenizer> load_vocabulary(const fs::path& file) {
  const nlohmann::json json = parse_json(MappedFile(file).text(), file.string());
  if (!json.is_object() || !json.contains("kind") || !json["kind"].is_string()) {
    throw Error(Error::corrupt, "{}: found no JSON object with a 'kind'; the file is damaged", file.string());
  }
  const auto kind = json["kind"].get<std::string>();
  if (kind == "words") return std::make_unique<Words>(file);
  if (kind == "bytes") return std::make_unique<Bytes>();
  throw Error(Error::unsupported, "{}: found a vocabulary of kind '{}', expected 'words' or 'bytes'", file.string(),
              kind);
}

// What was trained here is known by its special ids, which nobody else has in this order. nullptr: it is someone else's.
std::unique_ptr<Tokenizer> load_own_sentencepiece(const fs::path& file) {
  if (file.extension() != ".model") return nullptr;
  auto model = std::make_unique<SentencePiece>(file);
  const SpecialIds &found = model->special(), own;
  const bool same = found.pad == own.pad && found.bos == own.bos && found.eos == own.eos && found.unk == own.unk;
  return same ? std::move(model) : nullptr;
}

// In whisper.cpp's files; OpenAI's hold none.
std::unique_ptr<Tokenizer> load_whisper_tokenizer(const fs::path& file) {
  if (const auto words = open_whisper_file(file)->words(); !words.empty())
    return whisper_tokenizer(words, file.string());
  try {
    return load_tokenizer(file.parent_path().empty() ? fs::path(".") : file.parent_path());
  } catch (const Error& e) {
    if (e.kind() != Error::not_found) throw;
    throw Error(
        Error::not_found,
        "{}: found no tokenizer beside it, expected multilingual.tiktoken (gpt2.tiktoken of a model for English "
        "alone) or tokenizer.json in the same folder",
        file.string());
  }
}

}  // namespace

std::unique_ptr<Tokenizer> load_tokenizer(const fs::path& folder) {
  if (path_exists(folder) && !is_folder(folder)) {
    if (folder.extension() == ".gguf") return gguf_tokenizer(Gguf(folder));
    if (is_whisper_file(folder)) return load_whisper_tokenizer(folder);
    if (auto own = load_own_sentencepiece(folder)) return own;
    if (auto pretrained = load_pretrained_tokenizer_file(folder)) return pretrained;
    if (folder.extension() == ".json") return load_vocabulary(folder);
    return std::make_unique<SentencePiece>(folder);
  }
  if (!is_folder(folder)) throw Error(Error::not_found, "{}: there is no such tokenizer", folder.string());
  if (path_exists(folder / "spiece.model")) {
    if (auto own = load_own_sentencepiece(folder / "spiece.model")) return own;
  }
  if (path_exists(folder / "vocabulary.json")) return load_vocabulary(folder / "vocabulary.json");
  if (auto pretrained = load_pretrained_tokenizer(folder)) return pretrained;
  throw Error(Error::not_found,
              "{}: found no tokenizer, expected tokenizer.json, source.spm, vocab.txt, vocab.json with merges.txt, "
              "spiece.model, tokenizer.model, *.tiktoken or vocabulary.json",
              folder.string());
}

TextSource lines_of(std::vector<std::string> paths) {
  struct Reader {
    std::vector<std::string> paths;
    size_t next = 0;
    std::unique_ptr<Lines> lines;
  };
  auto reader = std::make_shared<Reader>(Reader{std::move(paths), 0, nullptr});
  return [reader](std::string& line) {
    for (;;) {
      if (reader->lines && reader->lines->next(line)) return true;
      if (reader->next == reader->paths.size()) return false;
      reader->lines = std::make_unique<Lines>(reader->paths[reader->next++]);
    }
  };
}

}  // namespace fovea
