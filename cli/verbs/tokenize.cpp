// `fovea tokenize`: learns a vocabulary from text, and cuts text into its pieces.
#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/verb.h"
#include "fovea/base/text.h"
#include "fovea/data/text/lines.h"
#include "fovea/models/zoo.h"
#include "fovea/train/vocabulary.h"

namespace fovea::verbs {
namespace {

struct TokenizeOptions {
  static constexpr const char* positional = "text";
  std::string text, model, input = "-", kind = "unigram", output;
  std::vector<std::string> train;
  int64_t vocabulary = 0, seed = 0;
  double coverage = 1;
  bool lower_case = false, byte_fallback = false, ids = false, json = false, decode = false, force = false;
  bool given = false;  // the text, be it empty

  void fields(Fields& f) {
    f("text", text, "the text; without it each line of --input is one");
    f("model", model,
      "a model's folder or name, the folder of a tokenizer, or a file of one: tokenizer.json, vocab.txt, .model …");
    f("input", input, "a file of texts, plain, .gz or .zip; - is stdin");
    f("ids", ids, "print ids instead of pieces");
    f("json", json, "print ids, pieces and the bytes of the text each came from, as JSON");
    f("decode", decode, "the texts are ids; print what they spell");
    f("train", train, "learn a vocabulary from the lines of these files");
    f("tokenizer", kind, "with --train: unigram, bpe, byte-bpe, wordpiece, words, characters or bytes");
    f("vocabulary", vocabulary, "with --train: how many pieces; 0: 8000, or 20000 words");
    f("lower_case", lower_case, "with --train: do not tell A from a");
    f("character_coverage", coverage,
      "with --train: share of the characters that get pieces of their own (unigram, bpe)");
    f("byte_fallback", byte_fallback, "with --train: spell unknown characters in bytes (unigram, bpe)");
    f("seed", seed, "with --train: of the draw, where there are more than 2,000,000 lines (unigram, bpe)");
    f("output", output, "with --train: the folder to write");
    f("force", force, "with --train: also into the folder of a model or of another tokenizer");
  }
  void complete(const CommandLine& line) { given = line.has("text"); }
};

// A model does not know its words by another vocabulary.
void require_free(const TokenizeOptions& o) {
  for (const char* name : {"config.json", "spiece.model", "vocabulary.json", "tokenizer.json", "vocab.txt"})
    require(o.force || !path_exists(std::filesystem::path(o.output) / name),
            "--output: give a new folder, or --force; found {} in {}, which would be lost or of no use", name,
            o.output);
}

void train(const TokenizeOptions& o) {
  require(!o.output.empty(), "--train: found no --output, expected the folder to write");
  require(o.text.empty() || !path_exists(o.text), "--train: found {} behind it, expected --train before each file",
          o.text);
  require(o.model.empty() && o.text.empty(), "--train: found --model or a text, which are for using a tokenizer");
  require(o.kind != "bytes" || o.vocabulary == 0, "--tokenizer bytes: found --vocabulary; bytes are always 256");
  require((o.kind != "bytes" && o.kind != "words") || o.seed == 0,
          "--seed: found it with --tokenizer {}, which draws nothing", o.kind);
  require_free(o);
  const VocabularyConfig config = {.kind = o.kind,
                                   .size = o.vocabulary        ? o.vocabulary
                                           : o.kind == "words" ? 20000
                                                               : 8000,
                                   .coverage = o.coverage,
                                   .lower_case = o.lower_case,
                                   .byte_fallback = o.byte_fallback};
  const std::unique_ptr<Tokenizer> tokenizer = learn_vocabulary(config, lines_of(o.train), o.seed);
  tokenizer->save(o.output);
  fmt::print(stderr, "{}: {} tokenizer with {} pieces\n", printable(o.output), tokenizer->kind(), tokenizer->size());
}

std::vector<int64_t> parse_ids(const std::string& text) {
  std::vector<int64_t> ids;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    int64_t id = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    require(error == std::errc() && *end == '\0', "--decode: found '{}', expected an id", word);
    ids.push_back(id);
  }
  return ids;
}

void print(const Tokenizer& tokenizer, const std::string& text, const TokenizeOptions& o) {
  if (o.decode) return fmt::print("{}\n", tokenizer.decode(parse_ids(text)));
  const Tokens tokens = tokenizer.encode(text);
  std::vector<std::string> pieces;
  for (int64_t id : tokens.ids) pieces.push_back(o.ids ? std::to_string(id) : tokenizer.piece(id));
  if (!o.json) return fmt::print("{}\n", fmt::join(pieces, " "));
  nlohmann::ordered_json json = {{"ids", tokens.ids}, {"pieces", pieces}, {"spans", nlohmann::json::array()}};
  for (Span span : tokens.spans) json["spans"].push_back({span.begin, span.end});
  fmt::print("{}\n", json.dump());
}

// What stands there, or else that of a model as every verb finds one: a training's best, or one that ships.
std::unique_ptr<Tokenizer> tokenizer_of(const std::string& name) {
  const bool training = path_exists(std::filesystem::path(name) / "best");
  return load_tokenizer(path_exists(name) && !training ? std::filesystem::path(name) : find_model(name));
}

void run(const TokenizeOptions& o) {
  if (!o.train.empty()) return train(o);
  require(!o.model.empty(), "fovea tokenize: found neither --model nor --train, expected one of them");
  require(int{o.ids} + o.json + o.decode <= 1, "fovea tokenize: expected only one of --ids, --json and --decode");
  require(o.output.empty(), "--output: found it without --train");
  const std::unique_ptr<Tokenizer> tokenizer = tokenizer_of(o.model);
  if (o.given || !o.text.empty()) return print(*tokenizer, o.text, o);
  Lines lines(o.input);
  for (std::string line; lines.next(line);) print(*tokenizer, line, o);
}

}  // namespace

extern const Verb tokenize = {.name = "tokenize",
                              .group = "look inside",
                              .help = "learn a vocabulary from text, and cut text into its pieces",
                              .examples =
                                  "fovea tokenize --train text.txt --tokenizer bpe --vocabulary 8000 -o my-tokenizer\n"
                                  "fovea tokenize -m en-de \"Where is the station?\"\n"
                                  "fovea tokenize -m my-tokenizer \"Where is the station?\" --json\n"
                                  "fovea tokenize -m my-tokenizer --ids < text.txt",
                              .run = [](const TokenizeOptions& o) { run(o); }};

}  // namespace fovea::verbs
