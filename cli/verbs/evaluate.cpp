// `fovea evaluate`: the scores of any system's output, as the packages that people compare with compute them.
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/models.h"
#include "cli/progress_line.h"
#include "cli/verb.h"
#include "fovea/data/datasets/conll.h"
#include "fovea/data/text/lines.h"
#include "fovea/formats/matrix_text.h"
#include "fovea/models/checkpoint.h"
#include "fovea/train/metrics/accuracy.h"
#include "fovea/train/metrics/alignment.h"
#include "fovea/train/metrics/bleu.h"
#include "fovea/train/metrics/chrf.h"
#include "fovea/train/metrics/entities.h"
#include "fovea/train/metrics/perplexity.h"
#include "fovea/train/metrics/python_text.h"
#include "fovea/train/metrics/rouge.h"
#include "fovea/train/recipe.h"

namespace fovea::verbs {
namespace {

using Json = nlohmann::ordered_json;

struct EvaluateOptions {
  static constexpr const char* positional = "hypotheses";
  std::string task, references, hypotheses = "-", tokenizer = "13a", smoothing = "exp", sentence_break;
  std::string model, part = "test";
  std::vector<std::string> data;
  double smoothing_value = 0;
  int64_t column = 0;
  bool lowercase = false, stemmer = false, json = false;

  void fields(Fields& f) {
    f("task", task, "translation, summarization, tagging, classification, alignment or language-model");
    f("references", references, "what is right, in the lines of a file, plain, .gz or .zip; several files with commas");
    f("hypotheses", hypotheses, "what the system said, in as many lines of a file; - is stdin");
    f("model", model, "instead of files: score this trained model on a part of the data of its recipe.yaml");
    f("data", data, "with --model: these files instead of those that the recipe names");
    f("part", part, "with --model: test, validation or all");
    f("tokenizer", tokenizer, "translation: how BLEU cuts words: 13a, none (at white space) or char");
    f("smoothing", smoothing, "translation: BLEU's answer to no matches: exp, floor, add-k or none");
    f("smoothing_value", smoothing_value, "translation: of floor (0.1 if not given) and add-k (1)");
    f("lowercase", lowercase, "translation: upper and lower case are alike");
    f("stemmer", stemmer, "summarization: compare Porter's stems instead of words");
    f("sentence_break", sentence_break,
      "summarization: what stands between sentences of a line, for rougeLsum (\"<n>\")");
    f("column", column, "tagging: the column with the tags, from 1; 0: the last");
    f("json", json, "print the numbers as JSON");
  }
};

struct File {
  std::string name;
  std::vector<std::string> lines;

  std::string line(size_t i) const { return fmt::format("{}:{}", name, i + 1); }
};

File read_lines(const std::string& path) {
  File file = {path == "-" ? "stdin" : path, {}};
  Lines lines(path);
  for (std::string line; lines.next(line);) file.lines.push_back(line);
  require(!file.lines.empty(), "{}: found no lines, expected some", file.name);
  return file;
}

struct Inputs {
  std::vector<File> references;
  File hypotheses;

  std::vector<std::vector<std::string>> reference_lines() const {
    std::vector<std::vector<std::string>> lines;
    for (const File& file : references) lines.push_back(file.lines);
    return lines;
  }
  void require_same_lines() const {
    for (const File& file : references) {
      require(file.lines.size() == hypotheses.lines.size(), "{}: found {} lines, expected {} as in {}", hypotheses.name,
              hypotheses.lines.size(), file.lines.size(), file.name);
    }
  }
};

struct Outcome {
  std::string text;
  Json json;
};

// Under each other with their = in one column, as sacreBLEU prints several scores.
std::string aligned(const std::vector<std::string>& lines) {
  size_t width = 0;
  for (const std::string& line : lines) width = std::max(width, line.find(" = "));
  std::string text;
  for (const std::string& line : lines) text += std::string(width - line.find(" = "), ' ') + line + "\n";
  return text;
}

size_t find_name(const char* flag, const std::string& name, const std::vector<std::string>& known) {
  for (size_t i = 0; i < known.size(); ++i) {
    if (known[i] == name) return i;
  }
  throw_unknown(flag, name, known);
}

Outcome translation(const Inputs& in, const EvaluateOptions& o) {
  in.require_same_lines();
  BleuOptions bleu = {.lowercase = o.lowercase};
  bleu.tokenizer = static_cast<BleuOptions::Tokenizer>(find_name("--tokenizer", o.tokenizer, {"13a", "none", "char"}));
  bleu.smoothing =
      static_cast<BleuOptions::Smoothing>(find_name("--smoothing", o.smoothing, {"exp", "floor", "add-k", "none"}));
  require(o.smoothing_value >= 0, "--smoothing-value: found {}, expected at least 0", o.smoothing_value);
  require(o.smoothing_value == 0 || o.smoothing == "floor" || o.smoothing == "add-k",
          "--smoothing-value: found it beside --smoothing {}, expected --smoothing floor or add-k", o.smoothing);
  if (o.smoothing_value > 0) bleu.smoothing_value = o.smoothing_value;
  const std::vector<std::vector<std::string>> references = in.reference_lines();
  const Bleu score = corpus_bleu(in.hypotheses.lines, references, bleu);
  const std::string signature = bleu_signature(bleu, references.size());
  std::vector<std::string> lines = {score.text(signature)};
  Json json = {{"BLEU",
                {{"score", score.score},
                 {"signature", signature},
                 {"precisions", score.precisions},
                 {"brevity_penalty", score.brevity_penalty},
                 {"hypothesis_length", score.hypothesis_length},
                 {"reference_length", score.reference_length}}}};
  for (int words : {0, 2}) {
    const ChrfOptions options = {.word_order = words, .lowercase = o.lowercase};
    const Chrf chrf = corpus_chrf(in.hypotheses.lines, references, options);
    lines.push_back(chrf.text(chrf_signature(options, references.size())));
    json[chrf.name] = {{"score", chrf.score}, {"signature", chrf_signature(options, references.size())}};
  }
  return {aligned(lines), json};
}

Outcome summarization(const Inputs& in, const EvaluateOptions& o) {
  in.require_same_lines();
  auto with_breaks = [&](std::vector<std::string> lines) {
    for (std::string& line : lines) {
      if (!o.sentence_break.empty()) line = python::replace(line, o.sentence_break, "\n");
    }
    return lines;
  };
  std::vector<std::vector<std::string>> references;
  for (const File& file : in.references) references.push_back(with_breaks(file.lines));
  const RougeScores scores = corpus_rouge(with_breaks(in.hypotheses.lines), references, {.stemmer = o.stemmer});
  const std::string signature =
      fmt::format("nrefs:{}|stemmer:{}|version:0.1.2", references.size(), o.stemmer ? "yes" : "no");
  std::vector<std::string> lines;
  Json json;
  for (auto [name, s] : scores.named()) {
    lines.push_back(fmt::format("{}|{} = {:.2f} (precision = {:.2f} recall = {:.2f})", name, signature, 100 * s.f1,
                                100 * s.precision, 100 * s.recall));
    json[std::string(name)] = {
        {"f1", s.f1}, {"precision", s.precision}, {"recall", s.recall}, {"signature", signature}};
  }
  return {aligned(lines), json};
}

Json class_json(const ClassScores& scores, double accuracy, const char* classes) {
  auto one = [](const ClassScore& s) {
    return Json{{"precision", s.precision}, {"recall", s.recall}, {"f1", s.f1}, {"support", s.support}};
  };
  Json json = {{"accuracy", accuracy}};
  json["micro"] = one(scores.micro);
  json["macro"] = one(scores.macro);
  json["weighted"] = one(scores.weighted);
  json[classes] = Json::object();
  for (const auto& [name, score] : scores.classes) json[classes][name] = one(score);
  return json;
}

const File& single_reference(const Inputs& in, const EvaluateOptions& o) {
  require(in.references.size() == 1, "--references: found {} files, expected one for --task {}", in.references.size(),
          o.task);
  return in.references[0];
}

Outcome tagging(const Inputs& in, const EvaluateOptions& o) {
  require(o.column >= 0, "--column: found {}, expected 0 or more", o.column);
  auto parse = [&](const File& file) {
    return parse_tag_columns(fmt::format("{}", fmt::join(file.lines, "\n")),
                             {.where = file.name, .column = static_cast<size_t>(o.column)});
  };
  const TagColumns references = parse(single_reference(in, o)), hypotheses = parse(in.hypotheses);
  require_same_words(references, hypotheses, in.hypotheses.name);
  const EntityScores scores = score_entities(references.tags, hypotheses.tags);
  Json json = class_json(scores, scores.accuracy, "types");
  json["sentences"] = references.tags.size();
  return {
      fmt::format("{}\naccuracy of tags = {:.4f}\nF1|seqeval:1.2.2|mode:default = {:.2f} (precision = {:.2f} recall = "
                  "{:.2f})\n",
                  scores.report(4), scores.accuracy, 100 * scores.micro.f1, 100 * scores.micro.precision,
                  100 * scores.micro.recall),
      json};
}

// A line may hold more than its label: `sentence<TAB>label` in a data set, `label<TAB>probability` from a classifier.
std::vector<std::string> labels(const File& file, bool last) {
  std::vector<std::string> found;
  for (const std::string& line : file.lines) {
    const size_t tab = last ? line.rfind('\t') : line.find('\t');
    found.push_back(tab == std::string::npos ? line : last ? line.substr(tab + 1) : line.substr(0, tab));
    require(!found.back().empty(), "{}: found no label, expected one", file.line(found.size() - 1));
  }
  return found;
}

Outcome classification(const Inputs& in, const EvaluateOptions& o) {
  const std::vector<std::string> references = labels(single_reference(in, o), true);
  in.require_same_lines();
  const LabelScores scores = score_labels(references, labels(in.hypotheses, false));
  return {fmt::format("{}\naccuracy = {:.4f}\nmacro F1|scikit-learn:1.9.1 = {:.4f}\n", scores.report(4),
                      scores.accuracy, scores.macro.f1),
          class_json(scores, scores.accuracy, "labels")};
}

Outcome alignment(const Inputs& in, const EvaluateOptions& o) {
  const File& gold = single_reference(in, o);
  in.require_same_lines();
  std::vector<GoldAlignment> references;
  std::vector<Alignment> hypotheses;
  for (size_t i = 0; i < gold.lines.size(); ++i) {
    references.push_back(parse_gold_alignment(gold.lines[i], gold.line(i)));
    hypotheses.push_back(parse_alignment(in.hypotheses.lines[i], in.hypotheses.line(i)));
  }
  const AlignmentScores scores = score_alignments(references, hypotheses);
  return {scores.text() + "\n",
          {{"error_rate", scores.error_rate()},
           {"precision", scores.precision()},
           {"recall", scores.recall()},
           {"links", scores.links},
           {"sure", scores.sure}}};
}

Outcome language_model(const Inputs& in, const EvaluateOptions& o) {
  std::vector<double> logs;
  for (size_t i = 0; i < in.hypotheses.lines.size(); ++i) {
    const std::vector<double> line = parse_log_probabilities(in.hypotheses.lines[i], in.hypotheses.line(i));
    logs.insert(logs.end(), line.begin(), line.end());
  }
  require(!logs.empty(), "{}: found no numbers, expected the log-probability of each token", in.hypotheses.name);
  if (in.references.empty()) {
    const Perplexity score = perplexity(logs);
    return {score.text() + "\n",
            {{"perplexity", score.of_tokens()}, {"tokens", score.tokens}, {"log_probability", score.log_probability}}};
  }
  const File& text = single_reference(in, o);
  in.require_same_lines();
  const Perplexity score = perplexity(logs, text.lines);
  return {score.text() + "\n",
          {{"perplexity", score.of_tokens()},
           {"tokens", score.tokens},
           {"log_probability", score.log_probability},
           {"word_perplexity", score.of_words()},
           {"words", score.words},
           {"bits_per_byte", score.bits_per_byte()},
           {"bytes", score.bytes}}};
}

struct Evaluation {
  const char* task;
  Outcome (*run)(const Inputs&, const EvaluateOptions&);
};
constexpr Evaluation evaluations[] = {{"translation", translation}, {"summarization", summarization},
                                      {"tagging", tagging},         {"classification", classification},
                                      {"alignment", alignment},     {"language-model", language_model}};

// A flag that the task has no use for is a mistake rather than something to pass over.
void require_flags_of_task(const EvaluateOptions& o) {
  const EvaluateOptions defaults;
  struct Flag {
    const char *name, *task;
    bool given;
  };
  const Flag flags[] = {{"--tokenizer", "translation", o.tokenizer != defaults.tokenizer},
                        {"--smoothing", "translation", o.smoothing != defaults.smoothing},
                        {"--smoothing-value", "translation", o.smoothing_value != 0},
                        {"--lowercase", "translation", o.lowercase},
                        {"--stemmer", "summarization", o.stemmer},
                        {"--sentence-break", "summarization", !o.sentence_break.empty()},
                        {"--column", "tagging", o.column != 0}};
  for (const Flag& flag : flags) {
    require(!flag.given || o.task == flag.task, "{}: found it beside --task {}, expected --task {}", flag.name, o.task,
            flag.task);
  }
}

File file_of(const std::string& name, const std::vector<std::string>& lines, const std::string& task) {
  if (task != "tagging") return {name, lines};
  File file = {name, {}};
  for (const std::string& line : lines) {
    for (const std::string& tag : split_text(line, ' ')) file.lines.push_back("_ " + tag);
    file.lines.emplace_back();
  }
  return file;
}

// What the model says, and what was expected, of a part of its data. The task is the recipe's.
Inputs inputs_of_model(EvaluateOptions& o) {
  require(o.task.empty() && o.references.empty() && o.hypotheses == "-",
          "--model: found --task, --references or hypotheses beside it, which the model's recipe stands for");
  const std::filesystem::path folder = find_model(o.model), file = model_folder(folder) / "recipe.yaml";
  const std::string text = read_text(file);
  detail::Reader(detail::Reader::yaml, text, file.string())("task", o.task, "");
  const std::unique_ptr<Recipe> recipe = find<Task>(o.task).recipe();
  from_yaml(text, *recipe, file.string());
  if (!o.data.empty()) recipe->examples.data = o.data, recipe->examples.validation.clear();
  recipe->examples.validate_on = 0;
  const Examples examples = recipe->read();
  const size_t part = find_name("part of the data", o.part, {"test", "validation", "all"});
  std::vector<int64_t> numbers = part == 0 ? examples.test : examples.validation;
  if (part == 2) {
    numbers.resize(static_cast<size_t>(examples.data.size()));
    std::iota(numbers.begin(), numbers.end(), int64_t{0});
  }
  require(!numbers.empty(), "{}: found no examples for {}; --part all takes all of --data", o.model, o.part);
  ProgressLine progress({.unit = "examples", .whole = static_cast<int64_t>(numbers.size())});
  const Predictions p = recipe->predict(folder, examples.data, numbers, [&](size_t ready) {
    progress.add(static_cast<int64_t>(ready), static_cast<int64_t>(ready));
  });
  return {{file_of("references", p.references, o.task)}, file_of("hypotheses", p.hypotheses, o.task)};
}

Inputs inputs_of_files(const EvaluateOptions& o) {
  Inputs in;
  for (const std::string& path : split_text(o.references, ',')) {
    if (!o.references.empty()) in.references.push_back(read_lines(path));
  }
  in.hypotheses = read_lines(o.hypotheses);
  return in;
}

void run(EvaluateOptions o) {
  require(!o.model.empty() || (o.data.empty() && o.part == "test"), "--data, --part: found without --model");
  Inputs in;
  if (!o.model.empty()) in = inputs_of_model(o);
  std::vector<std::string> tasks;
  for (const Evaluation& evaluation : evaluations) tasks.emplace_back(evaluation.task);
  require(!o.task.empty(), "fovea evaluate: found no --task, expected one of {}", fmt::join(tasks, ", "));
  const Evaluation& evaluation = evaluations[find_name("task", o.task, tasks)];
  require_flags_of_task(o);
  require(!o.references.empty() || !o.model.empty() || o.task == "language-model",
          "fovea evaluate: found no --references, expected a file, or several with commas");
  if (o.model.empty()) in = inputs_of_files(o);
  Outcome outcome = evaluation.run(in, o);
  if (!o.json) return fmt::print("{}", outcome.text);
  Json json = {{"task", o.task}, {"lines", in.hypotheses.lines.size()}};
  json.update(outcome.json);
  fmt::print("{}\n", json.dump());
}

}  // namespace

extern const Verb evaluate = {
    .name = "evaluate",
    .group = "measure",
    .help = "scores of a system's output: BLEU, chrF, ROUGE, F1, accuracy, AER, perplexity",
    .examples =
        "fovea evaluate --task translation --references test.en output.en\n"
        "fovea evaluate -m my-model --data pairs.tsv --part all\n"
        "fovea evaluate --task translation --references a.en,b.en --lowercase --json - < output.en\n"
        "fovea evaluate --task summarization --references test.txt --stemmer output.txt\n"
        "fovea evaluate --task tagging --references test.conll output.conll\n"
        "fovea evaluate --task classification --references test.tsv output.tsv\n"
        "fovea evaluate --task alignment --references gold.pharaoh output.pharaoh\n"
        "fovea evaluate --task language-model --references text.txt log_probabilities.txt",
    .run = [](const EvaluateOptions& o) { run(o); }};

}  // namespace fovea::verbs
