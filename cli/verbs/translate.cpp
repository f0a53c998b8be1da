// `fovea translate`: text to text, with what each word was made from.
#include "cli/text_to_text.h"
#include "cli/verb.h"
#include "fovea/models/zoo.h"

namespace fovea::verbs {
namespace {

// The model that ships for a pair of languages; en and de where nothing is said.
std::string shipped_model(std::string from, std::string to) {
  if (from.empty()) from = to == "en" ? "de" : "en";
  if (to.empty()) to = from == "en" ? "de" : "en";
  return from + "-" + to;
}

struct TranslateVerbOptions : TextToTextOptions {
  std::string from, to;

  explicit TranslateVerbOptions(const CommandLine& line)
      : TextToTextOptions(line, shipped_model(line.peek("from").value_or(""), line.peek("to").value_or(""))) {}

  void fields(Fields& f) {
    TextToTextOptions::fields(f);
    f("from", from, "language of the texts, without --model: en (the default) or de");
    f("to", to, "language to translate into, without --model: de (the default) or en");
  }
};

void run(const TranslateVerbOptions& o) {
  require(o.model.empty() || (o.from.empty() && o.to.empty()),
          "--model: found --from or --to beside it, expected one of them");
  run_text_to_text(find_model(o.model, shipped_model(o.from, o.to)), o);
}

}  // namespace

extern const Verb translate = {
    .name = "translate",
    .group = "use",
    .help = "translate text, with the alignment of its words",
    .examples =
        "fovea translate -m my-model \"Where is the station?\" --show\n"
        "fovea translate -m my-model -b 5 < text.txt > output.txt\n"
        "fovea translate -m my-model --alignment -i text.txt.gz -o output.tsv\n"
        "fovea translate -m my-model -b 5 --n-best 3 --prefix \"Wo ist\" \"Where is the station?\"\n"
        "fovea translate -m my-model --task \"translate English to German: \" \"Where is the station?\"\n"
        "fovea translate -m my-model \"Where is the station?\" --json --svg attention.svg",
    .run = [](const TranslateVerbOptions& o) { run(o); }};

}  // namespace fovea::verbs
