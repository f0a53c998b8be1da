// `fovea explain`: what every attention head of a model looks at, in a text, a picture or a sound.
#include <fmt/format.h>

#include <algorithm>

#include "cli/answers.h"
#include "cli/attributing.h"
#include "cli/heads.h"
#include "cli/terminal.h"
#include "cli/tracing.h"
#include "cli/verb.h"
#include "fovea/base/file.h"
#include "fovea/explain/answer_json.h"
#include "fovea/explain/picture_looks.h"
#include "fovea/explain/record_file.h"
#include "fovea/explain/report.h"
#include "fovea/explain/sound_map.h"
#include "fovea/explain/trace_file.h"
#include "fovea/formats/matrix_text.h"
#include "fovea/models/pretrained.h"
#include "fovea/models/zoo.h"
#include "fovea/serve/page.h"

namespace fovea::verbs {
namespace {

struct ExplainVerbOptions : AnswerOptions {
  std::string places, html;
  std::vector<std::string> data;
  int64_t head = -1;
  HeadOptions heads;
  AttributeOptions words;

  void fields(Fields& f) {
    AnswerOptions::fields(f);
    f("places", places,
      "only these attentions, or those below them, with commas: encoder,decoder.2.cross; all if not given");
    f("html", html, "write a page into this file that shows it all in a browser, without a program or a network");
    f("head", head, "only the head of this number; -1: all");
    heads.fields(f);
    words.fields(f);
    f("data", data,
      "the texts: with --method or --check data sets in any format that `train` reads; with --heads, "
      "--find-alignment-heads or --word a file with a text a line, its translation behind a tab if there is one");
  }
};

bool is_long(const Recording& seen) {
  return std::any_of(seen.sequences.begin(), seen.sequences.end(),
                     [](const auto& s) { return s.second.size() > most_explained_tokens; });
}

class Explaining {
 public:
  explicit Explaining(const ExplainVerbOptions& o)
      : o_(o),
        texts_(o.texts),
        answers_(o, texts_.bytes()),
        model_(load_pretrained(find_model(o.model, "en-de"), o.load())),
        reads_(what_is_read(*model_.model)) {
    require_trace_file(o.trace);
    require(o.head >= -1, "--head: found {}, expected the number of a head, or -1 for all", o.head);
    require(reads_ != Reads::sounds || (!o.show && !o.json),
            "--show, --json: found them for a model of sounds, expected --html or --svg; fovea transcribe has both");
    if (!o.places.empty()) options_.places = split_text(o.places, ',');
    if (o.head >= 0) options_.heads = {o.head};
    if (can<Generator>(*model_.model)) options_.generation = read_generation_config(model_.folder);
  }

  void run() {
    for (std::vector<std::string> some; texts_.next(some);) {
      answers_.expect(some.size());
      for (size_t i = 0; i < some.size(); ++i) one(some, i);
    }
    if (!o_.html.empty()) {
      require(pages_.size() <= Answers::most_panels, "--html: found {} texts, expected at most {}", pages_.size(),
              Answers::most_panels);
      write_text(o_.html, page({.recordings = pages_}));
    }
    answers_.finish(looked_.empty() ? sound_ : to_small_svg(looked_, in_a_row_));
  }

 private:
  void one(const std::vector<std::string>& some, size_t i) {
    Recording seen = record(model_, some[i], options_);
    if (!o_.trace.empty()) {
      require(some.size() == 1 && traced_++ == 0, "--trace: found several texts, expected one; give it in quotes");
      write_trace(o_.trace, seen);
    }
    // Of a long text a table and pictures would have too many lines: a file or a page was asked for.
    const bool kept = !o_.trace.empty() || !o_.html.empty();
    if (is_long(seen) && (kept || (reads_ != Reads::texts && !o_.json)))
      answers_.line(seen.answer);
    else
      tell(report_of(seen), i);
    if (seen.picture) look(seen);
    if (seen.sound && o_.drawing.wanted()) {
      require(sound_.empty(), "--svg, --png, --pdf: found several recordings, expected one");
      sound_ = to_svg(*seen.sound, seen.answer);
    }
    answers_.done(some[i]);
    if (!o_.html.empty()) pages_.push_back(std::move(seen));
  }

  void tell(const Report& report, size_t i) {
    if (o_.json)
      answers_.json(to_json(report), texts_.objects(), i);
    else
      answers_.write(to_text(report));
    if (reads_ != Reads::texts) return;
    for (const HeatMap& map : report.maps()) answers_.draw(map);
  }

  void look(const Recording& seen) {
    PictureLooks looks = looks_at_picture(seen);
    if (o_.show) answers_.show(to_terminal(looks.maps, terminal_look()));
    if (!o_.drawing.wanted()) return;
    in_a_row_ = looks.in_a_row;
    std::move(looks.maps.begin(), looks.maps.end(), std::back_inserter(looked_));
    require(
        looked_.size() <= most_pictures,
        "--svg, --png, --pdf: found {} heads and words to draw, expected at most {}; --places and --head choose some",
        looked_.size(), most_pictures);
  }

  static constexpr size_t most_pictures = 256;
  const ExplainVerbOptions& o_;
  Texts texts_;
  Answers answers_;
  Pretrained model_;
  Reads reads_;
  ExplainOptions options_;
  std::vector<Recording> pages_;
  std::vector<PictureMap> looked_;
  std::string sound_;
  size_t traced_ = 0, in_a_row_ = 1;
};

void run(const ExplainVerbOptions& o) {
  if (o.heads.asked()) {
    require(o.data.size() < 2, "--data: found {} files, expected one with --heads, --find-alignment-heads or --word",
            o.data.size());
    require(o.html.empty(), "--html: found --heads, --find-alignment-heads or --word beside it, which write no page");
    return run_heads(o.heads, o, o.data.empty() ? "" : o.data[0]);
  }
  if (o.words.wanted()) return attribute_texts(o, o.words, o.data, o.html);
  require(o.data.empty(),
          "--data: found it alone, expected --heads, --find-alignment-heads, --word, --method or --check beside it");
  Explaining(o).run();
}

}  // namespace

extern const Verb explain = {
    .name = "explain",
    .group = "look inside",
    .help =
        "what every attention head of a model looks at, and which words an answer comes from, as a table, pictures or "
        "JSON",
    .examples =
        "fovea explain -m my-model \"Where is the station?\"\n"
        "fovea explain -m my-model \"Where is the station?\" --places decoder --svg heads.svg\n"
        "fovea explain -m my-model --places encoder,decoder.0.cross --head 1 --show \"Where is the station?\"\n"
        "fovea explain -m my-model \"Where is the station?\" --html station.html\n"
        "fovea explain -m my-model \"Where is the station?\" --trace station.safetensors\n"
        "fovea explain -m my-classifier \"A wonderful film.\" --json\n"
        "fovea explain -m my-captioner picture.png --html picture.html\n"
        "fovea explain -m my-looker photo.png --svg looked.svg --png looked.png\n"
        "fovea explain -m my-listener speech.wav --html speech.html\n"
        "fovea explain -m my-model --heads --svg map.svg\n"
        "fovea explain -m my-model --find-alignment-heads --data pairs.tsv --save\n"
        "fovea explain -m my-classifier \"A wonderful film.\" --method all\n"
        "fovea explain -m my-classifier --check \"A wonderful film.\"",
    .run = [](const ExplainVerbOptions& o) { run(o); }};

}  // namespace fovea::verbs
