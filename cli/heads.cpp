#include "cli/heads.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "fovea/base/file.h"
#include "fovea/explain/alignment_heads.h"
#include "fovea/explain/dictionary.h"
#include "fovea/explain/head_map.h"
#include "fovea/explain/record_file.h"
#include "fovea/explain/survey.h"
#include "fovea/explain/word_states.h"
#include "fovea/generate/config.h"
#include "fovea/models/zoo.h"

namespace fovea {
namespace {

using Json = nlohmann::ordered_json;

std::vector<GoldAlignment> read_gold(const std::string& path) {
  std::vector<GoldAlignment> gold;
  Lines lines(path);
  for (std::string line; lines.next(line);) gold.push_back(parse_gold_alignment(line, lines.where()));
  return gold;
}

std::vector<TextPair> texts_of(const HeadOptions& o, const AnswerOptions& a, const std::string& data,
                               const GenerationConfig& generation) {
  const bool given = a.texts.given || a.texts.input != "-" || (!o.word.empty() && data.empty());
  require(data.empty() || !given, "--data: found a text or --input beside it, expected one of them");
  if (!data.empty()) return read_text_pairs(data);
  if (!given) return sample_texts(generation.source_language);
  std::vector<TextPair> pairs;
  Texts texts(a.texts);
  for (std::vector<std::string> some; texts.next(some);)
    for (std::string& text : some) pairs.push_back({std::move(text)});
  return pairs;
}

// Of each text's line, or those of a dictionary.
HeadMeasures::KnownLinks known_links(const HeadOptions& o, const std::vector<TextPair>& texts) {
  require(o.gold.empty() || o.dictionary.empty(), "--gold: found --dictionary beside it, expected one of them");
  if (!o.gold.empty()) {
    const std::vector<GoldAlignment> gold = read_gold(o.gold);
    require(gold.size() == texts.size(), "--gold: found {} lines, expected {} as there are texts", gold.size(),
            texts.size());
    std::map<std::string, Alignment> links;
    for (size_t i = 0; i < texts.size(); ++i) links[texts[i].source] = gold[i].sure;
    return [links = std::move(links)](const Recording& seen) { return links.at(seen.text); };
  }
  if (o.dictionary.empty()) return {};
  return [words = Dictionary::read(o.dictionary)](const Recording& seen) {
    if (!seen.sequences.contains("target")) return Alignment();
    return words.links(seen.sequences.at("source").text, seen.sequences.at("target").text);
  };
}

std::string listed(const std::vector<AlignmentHead>& heads) {
  std::string text;
  for (const AlignmentHead& h : heads) text += fmt::format("{}[{}, {}]", text.empty() ? "" : ", ", h.layer, h.head);
  return "[" + text + "]";
}

// What the folder names now, with its error rate.
struct StoredHeads {
  std::vector<AlignmentHead> heads = {};
  std::optional<AlignmentScores> scores = {};
};

std::string to_text(const FoundAlignmentHeads& found, const StoredHeads& stored) {
  std::string text =
      fmt::format("{:<24} layer  head  monotonicity  agreement{}\n", "place", found.last_layer ? "     AER" : "");
  for (const auto& c : found.candidates)
    text += fmt::format("{:<24} {:>5} {:>5}  {:>12.3f}  {:>9.3f}{}\n", c.place, c.head.layer, c.head.head,
                        c.monotonicity, c.agreement, c.scores ? fmt::format("  {:.4f}", c.scores->error_rate()) : "");
  text += fmt::format("\nalignment heads  {}\n", listed(found.heads));
  if (found.scores) text += fmt::format("their mean       {}\n", found.scores->text());
  if (found.last_layer) text += fmt::format("last layer       {}\n", found.last_layer->text());
  if (stored.scores) text += fmt::format("stored {}  {}\n", listed(stored.heads), stored.scores->text());
  return text;
}

std::string to_json(const FoundAlignmentHeads& found, const StoredHeads& stored) {
  Json json = {{"alignment_heads", Json::array()}, {"candidates", Json::array()}};
  for (const AlignmentHead& h : found.heads) json["alignment_heads"].push_back({h.layer, h.head});
  for (const auto& c : found.candidates) {
    json["candidates"].push_back({{"place", c.place},
                                  {"layer", c.head.layer},
                                  {"head", c.head.head},
                                  {"monotonicity", c.monotonicity},
                                  {"agreement", c.agreement}});
    if (c.scores) json["candidates"].back()["AER"] = c.scores->error_rate();
  }
  if (found.scores) json["AER"] = found.scores->error_rate();
  if (found.last_layer) json["AER_of_last_layer"] = found.last_layer->error_rate();
  if (stored.scores) json["AER_of_stored"] = stored.scores->error_rate();
  return json.dump();
}

void find_alignment_heads(const HeadOptions& o, const AnswerOptions& a, const Pretrained& model,
                          const std::vector<TextPair>& texts, const GenerationConfig& generation) {
  std::vector<GoldAlignment> gold;
  if (!o.gold.empty()) gold = read_gold(o.gold);
  require(o.gold.empty() || gold.size() == texts.size(), "--gold: found {} alignments, expected {} as there are pairs",
          gold.size(), texts.size());
  AlignmentHeadSearch search;
  for (size_t i = 0; i < texts.size(); ++i) {
    require(o.gold.empty() || !texts[i].target.empty(),
            "--gold: found text {} without a translation, expected pairs with a tab between in --data", i + 1);
    search.add(record_text_pair(model, texts[i], {.generation = generation}),
               o.gold.empty() ? std::optional<GoldAlignment>() : gold[i]);
  }
  const FoundAlignmentHeads found = search.find();
  StoredHeads stored;
  for (const auto& head : generation.alignment_heads) stored.heads.push_back({head[0], head[1]});
  if (!stored.heads.empty() && !o.gold.empty()) stored.scores = search.score(stored.heads);
  Results results(a.output);
  results.write(a.json ? to_json(found, stored) + "\n" : to_text(found, stored));
  results.finish();
  if (!o.save) return;
  require(!found.heads.empty(), "--save: found no head that goes along with the words, so nothing was stored");
  GenerationConfig config = read_generation_config(model.folder);
  config.alignment_heads.clear();
  for (const AlignmentHead& h : found.heads) config.alignment_heads.push_back({h.layer, h.head});
  write_generation_config(model.folder, config);
}

void compare_word(const HeadOptions& o, const AnswerOptions& a, const Pretrained& model,
                  const std::vector<TextPair>& texts) {
  require(texts.size() >= 2 && texts.size() <= Answers::most_panels,
          "--word: found {} texts, expected 2 to {}, a line each, in --data or --input", texts.size(),
          Answers::most_panels);
  std::vector<WordInText> words;
  for (const TextPair& text : texts) words.push_back(look_at_word(model, text.source, o.word));
  const std::vector<WordInText>& looked = words;
  Results results(a.output);
  Drawings drawings(a.drawing);
  const bool table = std::filesystem::path(a.output).extension() == ".tsv";
  results.write(a.json ? to_json(looked) + "\n" : table ? to_tsv(looked) : to_text(looked));
  results.finish();
  if (!a.drawing.wanted()) return;
  std::vector<HeatMap> maps;
  for (const WordInText& w : looked) maps.push_back(w.map());
  drawings.write(to_svg(maps));
}

}  // namespace

void HeadOptions::fields(Fields& f) {
  f("heads", heads, "what each head does, in numbers over many texts, and its name; --svg draws a map of them");
  f("find_alignment_heads", find_alignment_heads,
    "which heads of a translator say what each word was made from, by themselves or by --gold");
  f("gold", gold,
    "alignments by hand of --data's pairs, a line each: 0-0 1-2 for sure ones, 1p2 for possible ones; with --heads "
    "also "
    "links inside of texts, 1-3 if word 3 belongs to word 1, to measure which heads find them");
  f("dictionary", dictionary, "with --heads: a word, a tab and its translation a line, to measure agreement with");
  f("word", word,
    "of two texts or more, a line each: what this word attends to in each, and how far apart its states are; an "
    "--output of .tsv is for fovea plot");
  f("save", save, "store the alignment heads in the model's generation_config.json, for --alignment");
}

void run_heads(const HeadOptions& o, const AnswerOptions& a, const std::string& data) {
  require(!o.heads || !o.find_alignment_heads, "--heads: found --find-alignment-heads beside it, expected one of them");
  require(o.word.empty() || (!o.heads && !o.find_alignment_heads),
          "--word: found --heads or --find-alignment-heads beside it, expected one of them");
  require(o.find_alignment_heads || !o.save, "--save: found without --find-alignment-heads");
  require(o.asked_for_many() || (o.gold.empty() && o.dictionary.empty()),
          "--gold, --dictionary: found without --heads or --find-alignment-heads");
  require(a.trace.empty() && !a.show, "--heads: found --trace or --show beside it, which are of one text");
  require(!o.find_alignment_heads || !a.drawing.wanted(),
          "--find-alignment-heads: found --svg, --png or --pdf beside it, which --heads and --word draw");
  const std::filesystem::path folder = find_model(a.model, "en-de");
  const Pretrained model = load_pretrained(folder, a.load());
  require_texts(model, "--heads, --find-alignment-heads, --word");
  require(model.tokenizer != nullptr, "{}: found a model that reads no text, expected one that does", folder.string());
  GenerationConfig generation;
  if (can<Generator>(*model.model)) generation = read_generation_config(folder);
  const std::vector<TextPair> texts = texts_of(o, a, data, generation);
  if (!o.word.empty()) return compare_word(o, a, model, texts);
  if (o.find_alignment_heads) return find_alignment_heads(o, a, model, texts, generation);
  Drawings drawings(a.drawing);
  const std::vector<HeadMeasure> heads = measure_heads(model, texts, known_links(o, texts), {.generation = generation});
  require(!heads.empty(), "{}: found no attention in a model of family '{}'", folder.string(), model.model->family());
  Results results(a.output);
  results.write(a.json ? to_json(heads) + "\n" : to_text(heads));
  results.finish();
  if (a.drawing.wanted()) drawings.write(head_map((folder / "").parent_path().filename().string(), heads));
}

}  // namespace fovea
