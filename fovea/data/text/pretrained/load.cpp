#include "fovea/data/text/pretrained/load.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/text/pretrained/numbered_pieces.h"
#include "fovea/data/text/pretrained/tokenizer_json.h"
#include "fovea/data/text/pretrained/vocabulary_files.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> tiktoken_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".tiktoken") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::unique_ptr<Tokenizer> load_pretrained_tokenizer(const fs::path& folder) {
  const auto has = [&](const char* name) { return path_exists(folder / name); };
  if (has("tokenizer.json")) return load_tokenizer_json(folder / "tokenizer.json");
  if (has("source.spm") && has("target.spm") && has("vocab.json")) return load_marian(folder);
  if (has("vocab.txt")) return load_vocab_txt(folder / "vocab.txt");
  if (has("vocab.json") && has("merges.txt"))
    return load_vocab_and_merges(folder / "vocab.json", folder / "merges.txt");
  for (const char* name : {"spiece.model", "tokenizer.model", "sentencepiece.bpe.model"})
    if (has(name)) return load_sentencepiece_model(folder / name);
  const std::vector<fs::path> tables = tiktoken_files(folder);
  if (tables.size() > 1)
    throw Error(Error::invalid, "{}: found {} *.tiktoken files, expected one; name the file", folder.string(),
                tables.size());
  return tables.empty() ? nullptr : load_tiktoken(tables[0]);
}

std::unique_ptr<Tokenizer> load_pretrained_tokenizer_file(const fs::path& file) {
  const std::string name = file.filename().string();
  if (name.ends_with("tokenizer.json")) return load_tokenizer_json(file);
  if (name.ends_with(".tiktoken")) return load_tiktoken(file);
  if (name.ends_with("vocab.txt")) return load_vocab_txt(file);
  if (name.ends_with("vocab.json")) {
    const fs::path merges = file.parent_path() / (name.substr(0, name.size() - 10) + "merges.txt");
    if (path_exists(merges)) return load_vocab_and_merges(file, merges);
    throw Error(Error::not_found, "{}: found no {} beside it", file.string(), merges.filename().string());
  }
  if (name.ends_with(".model") || name.ends_with(".spm")) return load_sentencepiece_model(file);
  return nullptr;
}

}  // namespace fovea
