#include "cli/text_to_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/tracing.h"
#include "fovea/base/catalogue.h"
#include "fovea/explain/alignment.h"
#include "fovea/explain/answer_json.h"
#include "fovea/generate/translate.h"
#include "fovea/models/pretrained.h"
#include "fovea/models/zoo.h"

namespace fovea {
namespace {

void require_flags_that_fit(const TextToTextOptions& o) {
  if (o.alignment != "" && o.alignment != "hard" && o.alignment != "soft")
    throw_unknown("--alignment", o.alignment, {"hard", "soft"});
  require(!o.json || o.alignment.empty(),
          "--json: found --alignment beside it, expected one of them; the JSON holds the weights");
  check(o.generation);
}

WordWeights weights_of(const std::string& source, const Translations& t, const Translation& found) {
  if (!found.attention) return {};  // of an empty text
  return by_words({found.text, found.tokens}, {source, t.source}, found.attention);
}

std::string alignment_of(const std::string& source, const Translations& t, const Translation& found,
                         const std::string& how) {
  const WordWeights weights = weights_of(source, t, found);
  return how == "soft" ? soft_alignment(weights) : to_pharaoh(hard_alignment(weights));
}

// Each hypothesis as Moses writes it.
void print_n_best(int64_t number, const std::string& source, const Translations& t, const TextToTextOptions& o,
                  Answers& answers) {
  for (const Translation& found : t.found) {
    std::string line = fmt::format("{} ||| {} ||| {:.6g}", number, found.text, found.score);
    if (!o.alignment.empty()) line += " ||| " + alignment_of(source, t, found, o.alignment);
    answers.line(line);
  }
}

// The first of the parts, shortened.
std::string note_of(const std::string& source, const std::vector<Span>& unsure) {
  constexpr size_t most = 60;
  std::string part(piece_of(source, unsure[0]));
  if (part.size() > most) {
    size_t end = most;
    while ((part[end] & 0xC0) == 0x80) --end;
    part = part.substr(0, end) + "…";
  }
  return fmt::format("unsure of: {}{}", part,
                     unsure.size() == 1 ? "" : fmt::format(" (and {} more)", unsure.size() - 1));
}

// Each run of words that a model with a pointer took from the source.
std::string copied_line(const Translation& t) {
  std::vector<std::string_view> parts;
  for (Span span : *t.copied) parts.push_back(piece_of(t.text, span));
  return fmt::format("copied: {}\n", fmt::join(parts, " | "));
}

void print(int64_t number, const std::string& source, const Translations& t, const TextToTextOptions& o,
           Answers& answers) {
  const Translation& best = t.found[0];
  if (o.generation.n_best > 1)
    print_n_best(number, source, t, o, answers);
  else if (!o.alignment.empty())
    answers.line(fmt::format("{}\t{}", best.text, alignment_of(source, t, best, o.alignment)));
  else
    answers.line(best.text);
  if (best.copied && !best.copied->empty()) answers.show(copied_line(best));
  if (!best.unsure.empty()) answers.note(note_of(source, best.unsure));
}

// The token of a language, which a text in it begins with.
int64_t language_id(const Tokenizer& tokenizer, const std::string& language) {
  for (const std::string& name : {language, "__" + language + "__"}) {
    const int64_t id = tokenizer.id_of(name);
    if (id >= 0 && id != tokenizer.special().unk && tokenizer.piece(id) == name) return id;
  }
  throw Error(Error::invalid, "--target-language: found '{}', which the model's tokenizer has no token for", language);
}

}  // namespace

TextToTextOptions::TextToTextOptions(const CommandLine& line, const std::string& shipped_model) {
  std::filesystem::path folder;
  try {
    folder = find_model(line.peek("model").value_or(""), shipped_model);
  } catch (const Error&) {
    // It is not found again, and that is told, when the model is loaded; --help works without one.
  }
  if (!folder.empty()) generation = read_generation_config(folder);
  models_beam_ = generation.beam_size;
}

void TextToTextOptions::complete(const CommandLine& line) {
  AnswerOptions::complete(line);
  if (generation.sample && generation.beam_size == models_beam_) generation.beam_size = 1;
}

void TextToTextOptions::fields(Fields& f) {
  AnswerOptions::fields(f);
  f("alignment", alignment, "print the alignment of the words (0-0 1-2) behind a tab; soft: with the weights");
  f("prefix", prefix, "each output begins with this");
  f("task", task,
    "put before each text: what a model of several tasks is to do, as T5's \"translate English to German: \"");
  f("target_language", target_language,
    "of a model of many languages the one to write, as its tokenizer has it: de_DE (mBART), deu_Latn (NLLB), de (M2M)");
  generation.fields(f);
}

void run_text_to_text(const std::filesystem::path& folder, const TextToTextOptions& o) {
  read_generation_config(folder);
  require_flags_that_fit(o);
  Texts texts(o.texts);
  Answers answers(o, texts.bytes());
  const Pretrained model = load_pretrained(folder, o.load());
  const Generator& writer = model.as<Generator>();
  GenerationConfig generation = o.generation;
  if (!o.target_language.empty()) generation.first_id = language_id(*model.tokenizer, o.target_language);
  const bool attention = !o.alignment.empty() || o.drawn() || (o.json && !writer.source_attention().empty());
  Tracing tracing(o.trace, model);
  int64_t number = 0;
  for (std::vector<std::string> some; texts.next(some);) {
    answers.expect(some.size());
    std::string last;
    translate(writer, *model.tokenizer, some, generation,
              {.attention = attention,
               .trace = tracing.begin(some),
               .prefix = o.prefix,
               .task = o.task,
               .on_result = [&](size_t i, const Translations& t) {
                 if (Recorder* r = tracing.recorder()) r->translated(t, o.task), last = t.found[0].text;
                 if (o.json)
                   answers.json(to_json(some[i], t), texts.objects(), i);
                 else
                   print(number++, some[i], t, o, answers);
                 if (o.drawn()) answers.draw(to_heat_map(weights_of(some[i], t, t.found[0]), ""));
                 answers.done(some[i]);
               }});
    tracing.finish(last);
  }
  answers.finish();
}

}  // namespace fovea
