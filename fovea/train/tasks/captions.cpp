// Captions of pictures, learned from pictures and what people, or a program, said about them.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

#include "fovea/data/image/pictures.h"
#include "fovea/generate/caption.h"
#include "fovea/tensor/index.h"
#include "fovea/train/metrics/captions.h"
#include "fovea/train/next_tokens.h"
#include "fovea/train/task.h"

namespace fovea {
namespace {

// The folder in which a file of examples lies: names of pictures count from there.
std::filesystem::path folder_of(const Dataset& data, int64_t number) {
  for (const FileRead& file : data.files()) {
    if (number < file.good) return std::filesystem::path(file.path).parent_path();
    number -= file.good;
  }
  return {};
}

// The captions of a batch, one a row, and the row of the batch in which each stood with its picture.
struct CaptionRows {
  Column captions;
  std::vector<int64_t> pictures;
};

// What stands between one start, which is the first id of every row, and the next is a caption.
CaptionRows caption_rows(const Batch& batch) {
  const Column& column = batch.columns[1];
  const int64_t start = column.ids.data<int64_t>()[0], tokens = column.ids.size(1);
  std::vector<Sequence> captions;
  CaptionRows rows;
  for (int64_t row = 0; row < column.ids.size(0); ++row) {
    const int64_t* ids = column.ids.data<int64_t>() + row * tokens;
    for (int64_t i = 0; i < column.lengths.data<int64_t>()[row]; ++i) {
      if (ids[i] == start) captions.emplace_back(), rows.pictures.push_back(row);
      captions.back().ids.push_back(ids[i]);
    }
  }
  rows.captions = collate(captions);
  return rows;
}

class CaptionsTask final : public Task {
 public:
  CaptionsTask() { generation_.beam_size = usual_beams, generation_.max_length = 40; }

  bool suits(const Abilities& a) const override { return a.encodes_pictures && a.generates; }
  std::string_view first_family() const override { return "captioner"; }
  VocabularyConfig vocabulary() const override { return {.kind = "words"}; }
  std::string_view training() const override {
    return R"({"validate_every": -1, "checkpoint_every": -1, "patience": 10, "average": 0.99, "beta2": 0.98})";
  }

  void fields(Fields& f) override {
    f("image_column", image_column_,
      "the picture's file, from the folder of the data on: a column's name, its number from 1, or a key of JSON");
    f("caption_column", caption_column_, "the caption, likewise; several captions of a picture are several examples");
    f("boxes_column", boxes_column_, "a key of JSON, which may be missing: [left, top, right, bottom] or null a word");
    f("batch_tokens", batch_tokens_, "tokens of a batch of captions, padding included; a picture counts as one");
    f("max_tokens", max_tokens_,
      "leave out captions of more tokens; those of one picture stand together up to so many; 0: any number");
    f("label_smoothing", label_smoothing_, "share of the target's probability that is spread over all tokens");
    f("beam_size", generation_.beam_size, "generation_config.json: open hypotheses of beam search");
    f("length_penalty", generation_.length_penalty,
      "generation_config.json: scores are divided by length to this power");
    f("max_length", generation_.max_length, "generation_config.json: the most tokens");
  }

  ExampleFormat format() const override {
    return {.kind = ExampleKind::pairs,
            .columns = {.source = image_column_, .target = caption_column_, .label = boxes_column_}};
  }
  std::unique_ptr<Tokenizer> learn(const VocabularyConfig& config, const Examples& examples) const override {
    return learn_vocabulary(config, [&, i = size_t{0}](std::string& text) mutable {
      if (i == examples.training.size()) return false;
      text = examples.data[examples.training[i++]].target;
      return true;
    });
  }
  DataFacts facts(const Examples&, const Tokenizer& tokenizer) override {
    const SpecialIds& ids = tokenizer.special();
    require(ids.pad >= 0 && ids.bos >= 0 && ids.eos >= 0,
            "--tokenizer: found one whose padding, start and end have the ids {}, {} and {}, expected all of them; "
            "fovea tokenize --train makes one",
            ids.pad, ids.bos, ids.eos);
    return {.needs = {.generates = true, .encodes_pictures = true}, .vocabulary = tokenizer.size(), .special = ids};
  }

  // The number of the picture, and the caption between start and end.
  std::vector<Sequence> columns(const Pretrained& p, const Example& e) const override {
    const SpecialIds& special = p.tokenizer->special();
    std::vector<int64_t> ids = p.tokenizer->encode(e.target).ids;
    ids.insert(ids.begin(), special.bos);
    ids.push_back(special.eos);
    return {{.ids = {0}}, {.ids = std::move(ids)}};
  }
  // The captions of a picture share a row, so that it is looked at once for all of them.
  void add_samples(const Pretrained& p, const Dataset& data, const std::vector<int64_t>& numbers,
                   Samples& into) override {
    if (!pictures_) pictures_.emplace(input_for(p));
    std::vector<std::vector<Sequence>> all;
    std::unordered_map<int64_t, size_t> open;  // the row that a picture's next caption may join
    for (int64_t number : numbers) {
      const Example e = data[number];
      const int64_t picture = pictures_->add(folder_of(data, number) / e.source);
      std::vector<Sequence> both = columns(p, e);
      const std::vector<int64_t>& caption = both[1].ids;
      const auto [at, fresh] = open.try_emplace(picture, all.size());
      if (!fresh) {
        std::vector<int64_t>& row = all[at->second][1].ids;
        if (max_tokens_ == 0 || static_cast<int64_t>(row.size() + caption.size()) <= max_tokens_) {
          row.insert(row.end(), caption.begin(), caption.end());
          continue;
        }
        at->second = all.size();
      }
      both[0].ids = {picture};
      all.push_back(std::move(both));
    }
    for (const std::vector<Sequence>& row : all) into.add(row);
  }
  int64_t batch_tokens() const override { return batch_tokens_; }
  int64_t max_tokens() const override { return max_tokens_; }

  int64_t losses(const Batch& batch) const override { return count_next_tokens(caption_rows(batch).captions); }
  Tensor loss(const Pretrained& p, const Batch& batch, const Context& context) const override {
    const CaptionRows rows = caption_rows(batch);
    const NextTokens captions = next_tokens(rows.captions);
    const CrossEntropyOptions options = {
        .smoothing = context.training ? label_smoothing_ : 0, .ignored = no_target, .reduction = Reduction::sum};
    const Tensor pixels = pictures_->batch(batch.columns[0].ids.values<int64_t>());
    const Tensor seen = p.as<PictureEncoder>().encode_pictures(pixels, context);
    const int64_t count = std::ssize(rows.pictures), parts = seen.size(1), width = seen.size(2);
    const Tensor states = fovea::rows(seen.reshape({seen.size(0), parts * width}), tensor({count}, rows.pictures));
    return p.as<Generator>().loss({.states = states.reshape({count, parts, width})}, captions.read, captions.wanted,
                                  options, context);
  }

  Predictions predict(const Pretrained& p, const Dataset& data, const std::vector<int64_t>& numbers,
                      const PredictOptions& options) const override;
  std::vector<Score> score(const Predictions& p) const override {
    std::vector<WantedCaption> wanted;
    std::vector<GivenCaption> given;
    for (const std::string& line : p.references) wanted.push_back(parse_wanted_caption(line, "data"));
    for (const std::string& line : p.hypotheses) given.push_back(parse_given_caption(line, "captions"));
    const CaptionScores scores = score_captions(wanted, given);
    std::vector<Score> all = {{"exact", scores.exact(), Score::higher}};
    if (const auto pointing = scores.pointing()) all.push_back({"pointing", *pointing, Score::higher});
    return all;
  }
  void save(const std::filesystem::path& folder, const Predictions& validated) const override {
    GenerationConfig config = generation_;
    config.unsure_below = validated.unsure_below();
    write_generation_config(folder, config);
    if (pictures_) write_picture_input(folder, pictures_->input());
  }

 private:
  static constexpr int64_t usual_beams = 3;
  static constexpr size_t pictures_at_once = 512;

  // Of a model that has no folder yet: the whole picture, in the size that it reads.
  static PictureInput input_for(const Pretrained& p) {
    if (!p.folder.empty()) return caption_input(p);
    const PictureShape shape = p.as<PictureEncoder>().picture_shape();
    PictureInput input;
    input.height = input.crop_height = shape.height, input.width = input.crop_width = shape.width;
    input.image_mean.resize(static_cast<size_t>(shape.channels)), input.image_std.resize(input.image_mean.size());
    return input;
  }

  std::string image_column_, caption_column_, boxes_column_ = "boxes";
  int64_t batch_tokens_ = 1024, max_tokens_ = 60;
  double label_smoothing_ = 0;
  GenerationConfig generation_;
  std::optional<Pictures> pictures_;
};

// Each picture once, with all its captions, and the boxes of the first.
Predictions CaptionsTask::predict(const Pretrained& p, const Dataset& data, const std::vector<int64_t>& numbers,
                                  const PredictOptions& options) const {
  Predictions predictions;
  std::vector<std::filesystem::path> paths;
  std::vector<nlohmann::ordered_json> wanted;
  std::unordered_map<std::string, size_t> known;
  for (int64_t number : numbers) {
    const Example e = data[number];
    const std::filesystem::path path = folder_of(data, number) / e.source;
    const auto [at, fresh] = known.emplace(path.string(), paths.size());
    if (fresh) {
      paths.push_back(path);
      wanted.push_back({{"captions", nlohmann::ordered_json::array()}});
      if (!e.label.empty()) parse_boxes(e.label, path.string());
      if (!e.label.empty()) wanted.back()["boxes"] = nlohmann::ordered_json::parse(e.label);
    }
    wanted[at->second]["captions"].push_back(e.target);
  }
  for (const auto& object : wanted) predictions.references.push_back(object.dump());

  const Generator& writer = p.as<Generator>();
  const PictureShape shape = p.as<PictureEncoder>().picture_shape();
  const PictureInput input = pictures_ ? pictures_->input() : input_for(p);
  GenerationConfig config = options.draft ? generation_ : read_generation_config(p.folder);
  if (options.draft) config.beam_size = 1;
  for (size_t begin = 0; begin < paths.size(); begin += pictures_at_once) {
    std::vector<Tensor> pixels;
    std::vector<CaptionJson> sizes;
    for (size_t i = begin; i < std::min(paths.size(), begin + pictures_at_once); ++i) {
      const Image picture = read_image(paths[i]);
      pixels.push_back(input(picture));
      sizes.push_back({picture.width, picture.height});
    }
    const std::vector<Captions> found = caption(writer, *p.tokenizer, pixels, config,
                                                {.attention = !writer.source_attention().empty(),
                                                 .on_result = [&](size_t, const Captions&) { options.done(1); }});
    for (size_t i = 0; i < found.size(); ++i) {
      predictions.hypotheses.push_back(to_json(found[i][0], shape, sizes[i]));
      predictions.confidences.push_back(confidence(found[i][0]));
    }
  }
  return predictions;
}

}  // namespace

extern const TaskKind captions = {
    .name = "captions",
    .help = "a caption of a picture, looking at a part of it for each word",
    .make = []() -> std::unique_ptr<Task> { return std::make_unique<CaptionsTask>(); },
};

}  // namespace fovea
