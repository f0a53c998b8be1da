// `fovea answer`: the part of a text that answers a question.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/answers.h"
#include "cli/tracing.h"
#include "cli/verb.h"
#include "fovea/base/file.h"
#include "fovea/generate/answer.h"
#include "fovea/generate/framed.h"
#include "fovea/models/zoo.h"

namespace fovea::verbs {
namespace {

struct AnswerVerbOptions {
  static constexpr const char* positional = "question";
  std::string question, context, context_file, model, weights, trace;
  AnswerSearch search;
  bool json = false;

  void fields(Fields& f) {
    f("question", question, "what is asked");
    f("context", context, "the text that holds the answer");
    f("context_file", context_file, "the same from a file");
    f("model", model, "the folder of a model that was trained to find answers");
    f("weights", weights, weights_help);
    f("top", search.top, "answers to print, the most probable first");
    f("longest", search.longest, "the most tokens that an answer has");
    f("overlap", search.overlap, "tokens that two windows of a long text have in common");
    f("json", json, "print an object a line, with spans");
    f("trace", trace, trace_help);
  }
};

// Both as one text with a line break between them, as the model reads them; an Error if it has to read them in several windows.
Tokens question_and_text(const Tokenizer& tokenizer, const std::string& question, const std::string& text,
                         int64_t longest) {
  Framed f = framed(tokenizer, question, text, longest);
  require(f.unread == 0, "--trace: found a text of more tokens than the model reads at once, expected a shorter one");
  const auto offset = static_cast<int64_t>(question.size()) + 1;
  for (size_t i = f.second; i < f.tokens.spans.size(); ++i)
    if (f.tokens.spans[i].size() > 0) f.tokens.spans[i].begin += offset, f.tokens.spans[i].end += offset;
  return f.tokens;
}

void run(const AnswerVerbOptions& o) {
  require(!o.question.empty(), "fovea answer: found no question, expected one in quotes");
  require(o.context.empty() != o.context_file.empty(),
          "fovea answer: found {}, expected the text in --context or its file in --context-file",
          o.context.empty() ? "no text" : "--context and --context-file");
  require(!o.model.empty(), "fovea answer: found no --model, expected the folder of one that finds answers");
  const std::string text = o.context.empty() ? read_text(o.context_file) : o.context;
  check_utf8(text, o.context.empty() ? o.context_file : "--context");
  const Pretrained model = load_pretrained(find_model(o.model), load_as(o.weights));
  Tracing tracing(o.trace, model);
  AnswerSearch search = o.search;
  search.trace = tracing.begin({o.question + "\n" + text});
  const std::vector<FoundAnswer> found =
      fovea::answer(model.as<AnswerFinder>(), *model.tokenizer, o.question, text, search);
  if (Recorder* r = tracing.recorder()) {
    r->read(question_and_text(*model.tokenizer, o.question, text, model.as<AnswerFinder>().longest()),
            o.question + "\n" + text);
    tracing.finish(found.empty() ? "" : found[0].text);
  }
  for (const FoundAnswer& a : found) {
    if (o.json)
      fmt::print("{}\n",
                 nlohmann::ordered_json{
                     {"answer", a.text}, {"span", {a.span.begin, a.span.end}}, {"probability", a.probability}}
                     .dump());
    else
      fmt::print("{:.4f}\t{}\n", a.probability, printable(a.text));
  }
}

}  // namespace

extern const Verb answer = {
    .name = "answer",
    .group = "use",
    .help = "the part of a text that answers a question",
    .examples =
        "fovea answer -m my-finder \"Who wrote it?\" --context \"It was written by Ada Lovelace.\"\n"
        "fovea answer -m my-finder \"Who wrote it?\" --context-file text.txt --top 3 --json",
    .run = [](const AnswerVerbOptions& o) { run(o); }};

}  // namespace fovea::verbs
