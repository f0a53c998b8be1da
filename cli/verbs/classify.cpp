// `fovea classify`: a label for each text or picture, with its probability and what decided.
#include <fmt/format.h>

#include "cli/answers.h"
#include "cli/terminal.h"
#include "cli/tracing.h"
#include "cli/verb.h"
#include "fovea/explain/alignment.h"
#include "fovea/explain/answer_json.h"
#include "fovea/explain/highlight.h"
#include "fovea/explain/picture_map.h"
#include "fovea/formats/matrix_text.h"
#include "fovea/generate/classify_pictures.h"
#include "fovea/models/pretrained.h"
#include "fovea/models/zoo.h"

namespace fovea::verbs {
namespace {

struct ClassifyVerbOptions : AnswerOptions {
  bool all = false;
  std::string look = "last";

  void fields(Fields& f) {
    AnswerOptions::fields(f);
    f("all", all, "print every label and its probability in the line, the most probable first");
    f("look", look,
      "pictures: what is drawn, last (where the class token looked in the last layer), heads (each of its heads), or "
      "rollout (through all layers)");
  }
};

void draw(const std::string& text, const Classified& c, const std::string& title, Answers& answers) {
  if (c.weights.empty())
    throw Error(Error::unsupported, "--show, --svg: the model does not know how much each word counted");
  const Highlight highlight = {text, words_of(text), by_words({text, c.tokens}, c.weights)};
  answers.show(to_terminal(highlight, terminal_look()));
  answers.add_panel(to_heat_map(highlight, title));
}

// "positive 0.5317, negative 0.4683": the most probable labels, for a person.
std::string likeliest(const Classified& c, const Labels& labels) {
  constexpr size_t most = 3;
  const std::vector<std::string> cells = split_text(to_text(c, labels, true), '\t');
  std::string text;
  for (size_t i = 0; i + 1 < std::min(cells.size(), 2 * most); i += 2)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", cells[i], cells[i + 1]);
  return text;
}

void note(const Classified& c, const Labels& labels, const Answers& answers) {
  if (c.unread > 0)
    answers.note(fmt::format("read the first {} tokens and not the last {}: the model takes no more", c.tokens.size(),
                             c.unread));
  if (is_unsure(c, labels)) answers.note("unsure: " + likeliest(c, labels));
}

void check_for_pictures(const ClassifyVerbOptions& o) {
  require(!o.json || !o.show, "--json: found --show beside it, expected one of them; the JSON holds the weights");
}

std::vector<PictureMap> maps_of(const SeenPicture& seen, const Image& picture, const PictureShape& shape) {
  std::vector<PictureMap> maps;
  for (const std::vector<double>& look : seen.looks) {
    const std::string head = seen.looks.size() > 1 ? fmt::format("head {}", maps.size()) : "";
    maps.push_back({picture, shape.patches_down, shape.patches_across, look, head});
  }
  return maps;
}

// Each text is the path of a picture.
void run_on_pictures(const ClassifyVerbOptions& o, const Pretrained& model) {
  check_for_pictures(o);
  const Labels& labels = model.as<PictureLabeller>().labels();
  const bool drawn = o.drawn();
  const Look look = look_named(o.look);
  const PictureShape shape = model.as<PictureEncoder>().picture_shape();
  const PictureInput input = read_picture_input(model.folder);
  Texts paths(o.texts);
  Results results(o.output);
  Drawings drawings(o.drawing);
  ProgressLine progress(
      {.unit = "pictures", .whole = {}, .quiet = o.quiet || (o.output.empty() && stdout_is_terminal())});
  std::vector<PictureMap> maps;
  Tracing tracing(o.trace, model);
  for (std::vector<std::string> some; paths.next(some);) {
    const int64_t tokens = shape.extra + shape.patches_down * shape.patches_across;
    Trace* const trace = tracing.begin(some, static_cast<size_t>(tokens));
    for (const std::string& path : some) {
      const Image picture = read_image(path);
      const SeenPicture seen =
          classify_picture(model, input, picture, {.look = drawn || o.json ? look : Look::none, .trace = trace});
      const std::string line = to_text(seen.label, labels, o.all);
      if (Recorder* r = tracing.recorder()) r->saw(shape), tracing.finish(line);
      results.write((o.json ? to_json(path, seen, labels, shape) : line) + "\n");
      progress.add(1, 1);
      if (!drawn) continue;
      for (PictureMap& map : maps_of(seen, input.fitted(picture), shape)) {
        if (o.show) fmt::print("{}", to_terminal(map, terminal_look()));
        map.title += (map.title.empty() ? "" : ", ") + line;
        if (drawings.wanted()) maps.push_back(std::move(map));
      }
      require(maps.size() <= Answers::most_panels,
              "--svg, --png, --pdf: found {} pictures to draw, expected at most {}", maps.size(), Answers::most_panels);
    }
  }
  if (drawings.wanted()) drawings.write(to_svg(maps));
  results.finish();
}

void run(const ClassifyVerbOptions& o) {
  require(!o.json || !o.all, "--json: found --all beside it, expected one of them; the JSON holds all labels");
  const Pretrained model = load_pretrained(find_model(o.model, "sentiment"), o.load());
  if (can<PictureLabeller>(*model.model)) return run_on_pictures(o, model);
  require(o.look == "last", "--look: found it for a model of texts, expected one of pictures");
  Texts texts(o.texts);
  Answers answers(o, texts.bytes());
  const TextLabeller& labeller = model.as<TextLabeller>();
  const Labels& labels = labeller.labels();
  Tracing tracing(o.trace, model);
  for (std::vector<std::string> some; texts.next(some);) {
    answers.expect(some.size());
    const std::vector<Classified> found =
        classify(labeller, *model.tokenizer, some, {.weights = o.json || o.drawn(), .trace = tracing.begin(some)});
    if (Recorder* r = tracing.recorder()) r->classified(found[0]), tracing.finish(to_text(found[0], labels));
    for (size_t i = 0; i < some.size(); ++i) {
      const std::string line = to_text(found[i], labels, o.all);
      if (o.json)
        answers.json(to_json(some[i], found[i], labels), texts.objects(), i);
      else
        answers.line(line);
      note(found[i], labels, answers);
      if (o.drawn()) draw(some[i], found[i], line, answers);
      answers.done(some[i]);
    }
  }
  answers.finish();
}

}  // namespace

extern const Verb classify = {.name = "classify",
                              .group = "use",
                              .help = "the label of a text or of a picture, and the words or places that decided",
                              .examples =
                                  "fovea classify -m my-classifier \"A wonderful film.\" --show\n"
                                  "fovea classify -m my-classifier < text.txt > labels.tsv\n"
                                  "fovea classify -m my-classifier --all -i text.txt.gz\n"
                                  "fovea classify -m my-classifier \"A wonderful film.\" --json --svg words.svg\n"
                                  "fovea classify -m my-looker photo.png --show\n"
                                  "fovea classify -m my-looker photo.png --look rollout --png looked.png",
                              .run = [](const ClassifyVerbOptions& o) { run(o); }};

}  // namespace fovea::verbs
