// `fovea summarize`: long text to short text, with what each word was made from.
#include "cli/text_to_text.h"
#include "cli/verb.h"
#include "fovea/models/zoo.h"

namespace fovea::verbs {
namespace {

constexpr const char* shipped_model = "summary";

struct SummarizeVerbOptions : TextToTextOptions {
  explicit SummarizeVerbOptions(const CommandLine& line) : TextToTextOptions(line, shipped_model) {}
};

}  // namespace

extern const Verb summarize = {
    .name = "summarize",
    .group = "use",
    .help = "summarize texts; each line is one, and JSON's texts may have several lines",
    .examples =
        "fovea summarize -m my-model < text.txt > summaries.txt\n"
        "fovea summarize -m my-model -i dialogues.json --key dialogue --max-length 60 --no-repeat-ngram 3\n"
        "fovea summarize -m my-model --task \"summarize: \" < text.txt",
    .run = [](const SummarizeVerbOptions& o) { run_text_to_text(find_model(o.model, shipped_model), o); }};

}  // namespace fovea::verbs
