// `fovea embed`: texts as vectors, how alike two are, and which of many are nearest to a query.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/answers.h"
#include "cli/tracing.h"
#include "cli/verb.h"
#include "fovea/formats/npy.h"
#include "fovea/generate/embed.h"
#include "fovea/generate/framed.h"
#include "fovea/models/zoo.h"
#include "fovea/tensor/index.h"

namespace fovea::verbs {
namespace {

struct EmbedVerbOptions {
  static constexpr const char* positional = "text";
  std::string model, weights, output, similarity, rank, trace;
  int64_t top = 0;
  bool json = false, quiet = false;
  TextOptions texts;

  void fields(Fields& f) {
    texts.fields(f);
    f("model", model, "the folder of a model that encodes texts");
    f("weights", weights, weights_help);
    f("output", output, "file to write instead of stdout; one that ends in .npy gets all vectors as an array");
    f("similarity", similarity, "print how alike each text is to this one instead, the cosine of their vectors");
    f("rank", rank, "print the texts instead, those nearest to this query first, with their cosines");
    f("top", top, "with --rank: only so many; 0: all");
    f("json", json, "print an object a line");
    f("trace", trace, trace_help);
    f("quiet", quiet, "no progress on stderr");
  }
  void complete(const CommandLine& line) { texts.given = line.has("text"); }
};

std::string line_of(const Tensor& vectors, int64_t row) {
  std::string line;
  const float* v = vectors.data<float>() + row * vectors.size(1);
  for (int64_t i = 0; i < vectors.size(1); ++i) line += fmt::format("{}{:.6g}", i == 0 ? "" : " ", v[i]);
  return line;
}

std::string json_of(const std::string& text, const Tensor& vectors, int64_t row) {
  const float* v = vectors.data<float>() + row * vectors.size(1);
  nlohmann::ordered_json json = {{"text", text}};
  for (int64_t i = 0; i < vectors.size(1); ++i) json["vector"].push_back(v[i]);
  return json.dump();
}

std::string scored(const std::string& text, double cosine, bool json) {
  return json ? nlohmann::ordered_json{{"text", text}, {"similarity", cosine}}.dump()
              : fmt::format("{:.4f}\t{}", cosine, text);
}

void check(const EmbedVerbOptions& o, bool npy) {
  require(o.similarity.empty() || o.rank.empty(), "--similarity: found --rank beside it, expected one of them");
  require(!npy || (o.similarity.empty() && o.rank.empty() && !o.json),
          "--output: found a .npy beside --similarity, --rank or --json, expected it for vectors alone");
  require(!o.model.empty(), "fovea embed: found no --model, expected the folder of one that encodes texts");
  require(o.trace.empty() || (o.similarity.empty() && o.rank.empty()),
          "--trace: found --similarity or --rank beside it, expected it for one text alone");
  require(o.top >= 0, "--top: found {}, expected 0 or more", o.top);
}

class Embedding final {
 public:
  Embedding(const EmbedVerbOptions& o, const Embedder& embed)
      : options_(o), embed_(embed), query_(o.rank.empty() ? o.similarity : o.rank) {}

  // The cosine with the query; its vector stands behind those of the texts.
  void add(const std::vector<std::string>& texts, Trace* trace, Answers& answers) {
    std::vector<std::string> all = texts;
    const auto count = static_cast<int64_t>(texts.size());
    if (!query_.empty()) all.push_back(query_);
    const Tensor vectors = embed_(all, {.trace = trace});
    for (int64_t i = 0; i < count; ++i) {
      const std::string& text = texts[static_cast<size_t>(i)];
      if (!options_.rank.empty())
        ranked_.emplace_back(cosine(vectors, i, count), text);
      else if (!query_.empty())
        answers.line(scored(text, cosine(vectors, i, count), options_.json));
      else if (!keep_)
        answers.line(options_.json ? json_of(text, vectors, i) : line_of(vectors, i));
      answers.done(text);
    }
    if (keep_) kept_.push_back(vectors);
  }

  void finish(Answers& answers) {
    std::stable_sort(ranked_.begin(), ranked_.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    if (options_.top > 0 && ranked_.size() > static_cast<size_t>(options_.top))
      ranked_.resize(static_cast<size_t>(options_.top));
    for (const auto& [similarity, text] : ranked_) answers.line(scored(text, similarity, options_.json));
  }

  void keep() { keep_ = true; }
  Tensor kept() const { return kept_.empty() ? zeros({0, 0}) : concat(kept_, 0); }

 private:
  const EmbedVerbOptions& options_;
  const Embedder& embed_;
  std::string query_;
  bool keep_ = false;
  std::vector<Tensor> kept_;
  std::vector<std::pair<double, std::string>> ranked_;
};

void run(const EmbedVerbOptions& o) {
  const bool npy = o.output.ends_with(".npy");
  check(o, npy);
  Texts texts(o.texts);
  AnswerOptions shown;
  shown.output = npy ? "" : o.output, shown.quiet = o.quiet;
  Answers answers(shown, texts.bytes());
  const Pretrained model = load_pretrained(find_model(o.model), load_as(o.weights));
  const Embedder embed(model);
  Embedding embedding(o, embed);
  if (npy) embedding.keep();
  Tracing tracing(o.trace, model);
  for (std::vector<std::string> some; texts.next(some);) {
    embedding.add(some, tracing.begin(some), answers);
    if (Recorder* r = tracing.recorder())
      r->read(framed(*model.tokenizer, some[0], std::nullopt, embed.longest()).tokens, some[0]), tracing.finish("");
  }
  embedding.finish(answers);
  if (npy) write_npy(o.output, embedding.kept());
  answers.finish();
}

}  // namespace

extern const Verb embed = {.name = "embed",
                           .group = "use",
                           .help = "texts as vectors, how alike they are, and which are nearest to a query",
                           .examples =
                               "fovea embed -m my-encoder \"How are you?\"\n"
                               "fovea embed -m my-encoder -i text.txt -o vectors.npy\n"
                               "fovea embed -m my-encoder --similarity \"How are you?\" \"How do you do?\"\n"
                               "fovea embed -m my-encoder --rank \"a question\" --top 3 < text.txt",
                           .run = [](const EmbedVerbOptions& o) { run(o); }};

}  // namespace fovea::verbs
