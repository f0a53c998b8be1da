// `fovea caption`: what is in a picture, and where the model looked for each word.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/answers.h"
#include "cli/drawings.h"
#include "cli/terminal.h"
#include "cli/tracing.h"
#include "cli/verb.h"
#include "fovea/base/text.h"
#include "fovea/explain/picture_map.h"
#include "fovea/generate/caption.h"
#include "fovea/models/zoo.h"

namespace fovea::verbs {
namespace {

struct CaptionVerbOptions {
  static constexpr const char* positional = "image";
  std::string image, input = "-", model, weights, output, trace;
  bool json = false, show = false, quiet = false, given = false;
  int64_t beam_size = 0;
  DrawingOptions drawing;

  void fields(Fields& f) {
    f("image", image, "a PNG or JPEG file; without it each line of --input is the path of one");
    f("input", input, "a file with a path a line, plain, .gz or .zip; - is stdin");
    f("model", model, "the folder of a captioner, or the name of one that ships");
    f("weights", weights, weights_help);
    f("beam_size", beam_size, "open hypotheses of beam search; 0: as the model has it");
    f("output", output, "file to write instead of stdout");
    f("json", json, "print each word with its probability and where it was looked for as JSON, one object a line");
    f("show", show, "draw where the model looked for each word in the terminal");
    drawing.fields(f, "where the model looked for each word of one picture");
    f("trace", trace, "write what the model saw into this file, of one picture: safetensors with all weights");
    f("quiet", quiet, "no progress on stderr");
  }
  void complete(const CommandLine& line) { given = line.has("image"); }
  bool drawn() const { return show || drawing.wanted(); }
};

std::vector<PictureMap> maps_of(const Image& picture, const Translation& t, const PictureShape& shape) {
  std::vector<PictureMap> maps;
  for (const SeenWord& word : seen_words(t, shape)) {
    if (word.looked.empty())
      throw Error(Error::unsupported, "--show, --svg: the model looks at the whole picture for every word");
    maps.push_back({picture, shape.patches_down, shape.patches_across, word.looked, word.text});
  }
  return maps;
}

class CaptionVerb {
 public:
  explicit CaptionVerb(const CaptionVerbOptions& o)
      : options_(o),
        model_(load_pretrained(find_model(o.model, "scenes"), load_as(o.weights))),
        writer_(model_.as<Generator>()),
        shape_(model_.as<PictureEncoder>().picture_shape()),
        input_(caption_input(model_)),
        config_(read_generation_config(model_.folder)),
        results_(o.output),
        drawings_(o.drawing),
        tracing_(o.trace, model_),
        progress_({.unit = "pictures", .whole = {}, .quiet = o.quiet || (o.output.empty() && stdout_is_terminal())}) {
    if (o.beam_size != 0) config_.beam_size = o.beam_size;
    config_.n_best = 1;
  }

  void run() {
    Texts paths(TextOptions{options_.image, options_.input, "", options_.given});
    for (std::vector<std::string> some; paths.next(some);) answer(some);
    results_.finish();
  }

 private:
  void answer(const std::vector<std::string>& paths) {
    const bool alone = options_.drawing.wanted() || !options_.trace.empty();
    require(!alone || (paths.size() == 1 && answered_ == 0),
            "--svg, --png, --pdf, --trace: found several pictures, expected one; give its path");
    std::vector<Image> pictures;
    std::vector<Tensor> pixels;
    for (const std::string& path : paths)
      pictures.push_back(read_image(path)), pixels.push_back(input_(pictures.back()));
    Trace* const trace = tracing_.begin(paths);
    const bool attention = (options_.json || options_.drawn()) && !writer_.source_attention().empty();
    const std::vector<Captions> found =
        caption(writer_, *model_.tokenizer, pixels, config_, {.attention = attention, .trace = trace});
    for (size_t i = 0; i < paths.size(); ++i) write(paths[i], pictures[i], found[i][0]);
    if (Recorder* r = tracing_.recorder()) r->captioned(found[0][0], shape_), tracing_.finish(found[0][0].text);
    answered_ += paths.size();
  }

  void write(const std::string& path, const Image& picture, const Translation& found) {
    if (options_.json) {
      nlohmann::ordered_json json = {{"image", path}};
      const CaptionJson size = {picture.width, picture.height, true};
      json.update(nlohmann::ordered_json::parse(to_json(found, shape_, size)));
      results_.write(json.dump() + "\n");
    } else {
      results_.write(found.text + "\n");
    }
    progress_.add(1, 1);
    if (!options_.drawn()) return;
    const std::vector<PictureMap> maps = maps_of(input_.fitted(picture), found, shape_);
    if (options_.show) fmt::print("{}", to_terminal(maps, terminal_look()));
    if (options_.drawing.wanted()) drawings_.write(to_small_svg(maps));
  }

  const CaptionVerbOptions& options_;
  Pretrained model_;
  const Generator& writer_;
  PictureShape shape_;
  PictureInput input_;
  GenerationConfig config_;
  Results results_;
  Drawings drawings_;
  Tracing tracing_;
  ProgressLine progress_;
  size_t answered_ = 0;
};

}  // namespace

extern const Verb caption = {
    .name = "caption",
    .group = "use",
    .help = "what is in a picture, and where the model looked for each word",
    .examples =
        "fovea caption picture.png --show\n"
        "fovea caption -m my-captioner picture.png --json\n"
        "fovea caption picture.png --svg looked.svg --trace seen.safetensors\n"
        "fovea caption -i paths.txt > captions.txt",
    .run = [](const CaptionVerbOptions& o) {
      require(!o.json || !o.show, "--json: found --show beside it, expected one of them; the JSON holds the weights");
      CaptionVerb(o).run();
    }};

}  // namespace fovea::verbs
