// `fovea tokenize`: learns a vocabulary from text, and cuts text into its pieces.
#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/verb.h"
#include "fovea/data/text/bytes.h"
#include "fovea/data/text/lines.h"
#include "fovea/data/text/sentencepiece.h"
#include "fovea/data/text/words.h"

namespace fovea::verbs {
namespace {

struct TokenizeOptions {
  static constexpr const char* positional = "text";
  std::string text, model, input = "-", kind = "unigram", output;
  std::vector<std::string> train;
  int64_t vocabulary = 0, seed = 0;
  double coverage = 1;
  bool lower_case = false, byte_fallback = false, ids = false, json = false, decode = false;

  void fields(Fields& f) {
    f("text", text, "the text; without it each line of --input is one");
    f("model", model, "the folder of a tokenizer or model, or a SentencePiece .model file");
    f("input", input, "a file of texts, plain, .gz or .zip; - is stdin");
    f("ids", ids, "print ids instead of pieces");
    f("json", json, "print ids, pieces and the bytes of the text each came from, as JSON");
    f("decode", decode, "the texts are ids; print what they spell");
    f("train", train, "learn a vocabulary from the lines of these files");
    f("kind", kind, "with --train: unigram, bpe, words or bytes");
    f("vocabulary", vocabulary, "with --train: how many pieces; 0: 8000, or 20000 words");
    f("lower_case", lower_case, "with --train: do not tell A from a");
    f("coverage", coverage, "with --train: share of the characters that get pieces of their own (unigram, bpe)");
    f("byte_fallback", byte_fallback, "with --train: spell unknown characters in bytes (unigram, bpe)");
    f("seed", seed, "with --train: of the draw, where there are more than 2,000,000 lines (unigram, bpe)");
    f("output", output, "with --train: the folder to write");
  }
};

std::unique_ptr<Tokenizer> trained(const TokenizeOptions& o) {
  const bool pieces = o.kind == "unigram" || o.kind == "bpe";
  if (!pieces && o.kind != "words" && o.kind != "bytes") {
    throw_unknown("kind of tokenizer", o.kind, {"unigram", "bpe", "words", "bytes"});
  }
  require(pieces || (!o.byte_fallback && o.coverage == 1 && o.seed == 0),
          "--kind {}: found --byte-fallback, --coverage or --seed, which are for unigram and bpe", o.kind);
  if (o.kind == "bytes") {
    require(o.vocabulary == 0 && !o.lower_case,
            "--kind bytes: found --vocabulary or --lower-case; bytes are always 256");
    return std::make_unique<Bytes>();
  }
  if (o.kind == "words") {
    return std::make_unique<Words>(Words::train(
        lines_of(o.train), {.vocabulary = o.vocabulary ? o.vocabulary : 20000, .lower_case = o.lower_case}));
  }
  return std::make_unique<SentencePiece>(SentencePiece::train(
      lines_of(o.train), {.model = o.kind == "bpe" ? SentencePiece::Model::bpe : SentencePiece::Model::unigram,
                          .vocabulary = o.vocabulary ? o.vocabulary : 8000,
                          .normalization = o.lower_case ? SentencePiece::Normalization::nfkc_lower_case
                                                        : SentencePiece::Normalization::nfkc,
                          .coverage = o.coverage,
                          .byte_fallback = o.byte_fallback,
                          .seed = static_cast<uint64_t>(o.seed)}));
}

void train(const TokenizeOptions& o) {
  require(!o.output.empty(), "--train: found no --output, expected the folder to write");
  require(o.model.empty() && o.text.empty(), "--train: found --model or a text, which are for using a tokenizer");
  const std::unique_ptr<Tokenizer> tokenizer = trained(o);
  tokenizer->save(o.output);
  fmt::print(stderr, "{}: {} tokenizer with {} pieces\n", o.output, tokenizer->kind(), tokenizer->size());
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

void run(const TokenizeOptions& o) {
  if (!o.train.empty()) return train(o);
  require(!o.model.empty(), "fovea tokenize: found neither --model nor --train, expected one of them");
  require(int{o.ids} + o.json + o.decode <= 1, "fovea tokenize: expected only one of --ids, --json and --decode");
  require(o.output.empty(), "--output: found it without --train");
  const std::unique_ptr<Tokenizer> tokenizer = load_tokenizer(o.model);
  if (!o.text.empty()) return print(*tokenizer, o.text, o);
  Lines lines(o.input);
  for (std::string line; lines.next(line);) print(*tokenizer, line, o);
}

}  // namespace

extern const Verb tokenize = {.name = "tokenize",
                              .group = "look inside",
                              .help = "learn a vocabulary from text, and cut text into its pieces",
                              .examples =
                                  "fovea tokenize --train text.txt --kind bpe --vocabulary 8000 -o my-tokenizer\n"
                                  "fovea tokenize -m my-tokenizer \"Where is the station?\" --json\n"
                                  "fovea tokenize -m my-tokenizer --ids < text.txt",
                              .run = [](const TokenizeOptions& o) { run(o); }};

}  // namespace fovea::verbs
