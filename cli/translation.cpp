#include "cli/translation.h"

#include <fmt/format.h>

#include "cli/models.h"
#include "cli/panels.h"
#include "cli/progress.h"
#include "cli/results.h"
#include "cli/terminal.h"
#include "fovea/base/catalogue.h"
#include "fovea/explain/alignment.h"
#include "fovea/explain/answer_json.h"
#include "fovea/generate/translate.h"
#include "fovea/models/checkpoint.h"

namespace fovea {
namespace {

void require_flags_that_fit(const TranslationOptions& o) {
  if (o.alignment != "" && o.alignment != "hard" && o.alignment != "soft")
    throw_unknown("--alignment", o.alignment, {"hard", "soft"});
  require(!o.json || (o.alignment.empty() && !o.show),
          "--json: found --alignment or --show beside it; the JSON holds the weights");
  check(o.generation);
}

WordWeights weights_of(const std::string& source, const Translations& t, const Translation& found) {
  if (!found.attention) return {};  // of an empty text
  return by_words({found.text, found.tokens}, {source, t.source}, found.attention);
}

std::string alignment_of(const WordWeights& weights, const std::string& how) {
  return how == "soft" ? soft_alignment(weights) : to_pharaoh(hard_alignment(weights));
}

// Everything that is said of one text.
class Printer final {
 public:
  Printer(const TranslationOptions& o) : o_(o), results_(o.output), panels_(o.svg) {}

  Panels& panels() { return panels_; }

  void print(const std::string& source, const Translations& t) {
    if (o_.json)
      results_.line(to_json(source, t));
    else if (o_.generation.n_best > 1)
      print_n_best(source, t);
    else
      results_.line(o_.alignment.empty() ? t.found[0].text
                                         : fmt::format("{}\t{}", t.found[0].text, alignment(source, t, t.found[0])));
    ++number_;
    if (!o_.show && o_.svg.empty()) return;
    const HeatMap map = to_heat_map(weights_of(source, t, t.found[0]), "");
    if (o_.show && !map.values.empty()) fmt::print("{}\n", to_terminal(map, terminal_look()));
    panels_.add(map);
  }

  void finish() {
    panels_.finish();
    results_.finish();
  }

 private:
  std::string alignment(const std::string& source, const Translations& t, const Translation& found) const {
    return alignment_of(weights_of(source, t, found), o_.alignment);
  }

  // As Moses writes them.
  void print_n_best(const std::string& source, const Translations& t) {
    for (const Translation& found : t.found) {
      std::string line = fmt::format("{} ||| {} ||| {:.6g}", number_, found.text, found.score);
      if (!o_.alignment.empty()) line += " ||| " + alignment(source, t, found);
      results_.line(line);
    }
  }

  const TranslationOptions& o_;
  Results results_;
  Panels panels_;
  int64_t number_ = 0;
};

}  // namespace

TranslationOptions::TranslationOptions(const CommandLine& line, const std::string& shipped_model) {
  if (const auto folder = peek_model(line, shipped_model)) generation = read_generation_config(*folder);
}

void TranslationOptions::fields(Fields& f) {
  texts.fields(f);
  f("model", model, "the folder of a model, or the name of one that ships");
  f("output", output, "file to write instead of stdout");
  f("json", json, "print scores, tokens, spans and weights as JSON, one object a line");
  f("alignment", alignment, "print the alignment of the words (0-0 1-2) behind a tab; soft: with the weights");
  f("show", show, "draw the attention in the terminal");
  f("svg", svg, "draw the attention into this file, for up to 16 texts");
  f("prefix", prefix, "each output begins with this");
  f("quiet", quiet, "no progress on stderr");
  generation.fields(f);
}

void run_translation(const std::filesystem::path& folder, const TranslationOptions& o) {
  require_flags_that_fit(o);
  Texts texts(o.texts);
  Printer printer(o);
  const auto model = load_model_as<Seq2SeqModel>(folder);
  const std::unique_ptr<Tokenizer> tokenizer = load_tokenizer(folder);
  const bool drawn = !o.alignment.empty() || o.show || !o.svg.empty();
  const bool attention = drawn || (o.json && !model->source_attention().empty());
  Progress progress(
      {.unit = "texts", .whole = texts.bytes(), .quiet = o.quiet || (o.output.empty() && stdout_is_terminal())});
  for (std::vector<std::string> some; texts.next(some);) {
    printer.panels().expect(some.size());
    translate(*model, *tokenizer, some, o.generation,
              {.attention = attention, .prefix = o.prefix, .on_result = [&](size_t number, const Translations& t) {
                 printer.print(some[number], t);
                 progress.add(1, static_cast<int64_t>(some[number].size()) + 1);
               }});
  }
  printer.finish();
}

}  // namespace fovea
