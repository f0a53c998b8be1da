#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

#include "fovea/data/datasets/pictures.h"
#include "fovea/generate/classify_pictures.h"
#include "fovea/models/vit_body.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/reduce.h"
#include "fovea/train/metrics/accuracy.h"
#include "fovea/train/picture_changes.h"
#include "fovea/train/task.h"

namespace fovea {
namespace {

constexpr int64_t looked_at = 200;  // pictures whose sizes say what a model is to read

// Fills in the sizes that a config leaves to the data: the shortest edge of some pictures, as far as whole patches go and up to what a small model
// can take in, and one channel if all of these are grey.
class SizesOfPictures final : public Fields {
 public:
  explicit SizesOfPictures(const Examples& examples) {
    const auto size = static_cast<int64_t>(examples.training.size()), some = std::min(size, looked_at);
    for (int64_t i = 0; i < some; ++i) {
      const Example e = examples.data[examples.training[static_cast<size_t>(i * size / some)]];
      const Image picture = parse_image(bytes_of(e.source), "picture");
      edge_ = std::min({edge_, picture.width, picture.height});
      for (size_t k = 0; k + 2 < picture.pixels.size() && channels_ == 1; k += 3)
        if (picture.pixels[k] != picture.pixels[k + 1] || picture.pixels[k] != picture.pixels[k + 2]) channels_ = 3;
    }
  }

  void operator()(const char* name, int64_t& value, const char*) override {
    if (std::string_view(name) == "image_size" && value == 0) open_ = &value;
    if (std::string_view(name) == "patch_size" && open_ && value > 0)
      *open_ = std::max<int64_t>(edge_ / value, 1) * value;
    if (std::string_view(name) == "num_channels" && value == 0) value = channels_;
  }
  void operator()(const char*, bool&, const char*) override {}
  void operator()(const char*, double&, const char*) override {}
  void operator()(const char*, std::string&, const char*) override {}
  void operator()(const char*, std::vector<std::string>&, const char*) override {}

 private:
  int64_t edge_ = 64, channels_ = 1;
  int64_t* open_ = nullptr;
};

class Images final : public Task {
 public:
  bool suits(const Abilities& a) const override { return a.labels_pictures; }
  std::string_view first_family() const override { return "vit"; }
  bool reads_text() const override { return false; }
  VocabularyConfig vocabulary() const override { return {}; }
  std::string_view training() const override {
    return R"({"validate_every": -1, "checkpoint_every": -1, "average": 0.999, "schedule": "cosine", "warmup": 200,
               "learning_rate": 1e-3, "weight_decay": 0.05})";
  }
  std::string_view tuning() const override {
    return R"({"learning_rate": 1e-4, "schedule": "cosine", "warmup": -1, "weight_decay": 0.05, "average": 0,
               "validate_every": -1, "checkpoint_every": -1, "batch_pictures": 32})";
  }
  void fields(Fields& f) override {
    f("names", names_, "other names for labels, as 0=shirt 1=trouser");
    f("batch_pictures", batch_pictures_, "pictures of a batch");
    changes_.fields(f);
    f("label_smoothing", label_smoothing_, "share of the target's probability that is spread over all labels");
  }
  ExampleFormat format() const override {
    return {.kind = ExampleKind::pictures, .names = names_, .learns_labels = true};
  }
  std::unique_ptr<Tokenizer> learn(const VocabularyConfig&, const Examples&) const override { return nullptr; }

  DataFacts facts(const Examples& examples, const Tokenizer&) override {
    changes_.check();
    require(batch_pictures_ > 0, "--batch-pictures: found {}, expected at least 1", batch_pictures_);
    check_share("images", "label_smoothing", label_smoothing_);
    std::map<std::string, int64_t> counts;
    for (int64_t i : examples.training) ++counts[examples.data[i].label];
    require(counts.size() > 1, "training: found the label '{}' alone, expected at least two different ones",
            counts.empty() ? "" : counts.begin()->first);
    require(counts.size() <= 10000, "training: found {} different labels, expected at most 10,000", counts.size());
    DataFacts facts = {.needs = {.labels_pictures = true}};
    for (const auto& [label, count] : counts) facts.labels.push_back(label);
    return facts;
  }
  void fit(ModelConfig& config, const Examples& examples) const override {
    SizesOfPictures sizes(examples);
    config.fields(sizes);
  }
  void begin(Model& model) const override { relate_new_weights(model); }

  // A sample is the number of a picture that is kept here as the model reads it.
  void add_samples(const Pretrained& p, const Dataset& data, const std::vector<int64_t>& numbers,
                   Samples& into) override {
    const PictureShape shape = p.as<PictureEncoder>().picture_shape();
    if (!input_) input_ = input_of(shape);
    const std::vector<std::string>& known = p.as<PictureLabeller>().labels().names();
    for (int64_t i : numbers) {
      const Example e = data[i];
      const auto label = std::find(known.begin(), known.end(), e.label);
      if (label == known.end()) throw_unknown("label", e.label, known);
      const Image fitted = input_->fitted(parse_image(bytes_of(e.source), "picture"));
      require(fitted.width == shape.width && fitted.height == shape.height && fitted.channels == shape.channels,
              "training: found pictures of {} × {} in {} channels, expected {} × {} in {} as the model reads them",
              fitted.width, fitted.height, fitted.channels, shape.width, shape.height, shape.channels);
      pictures_.add({reinterpret_cast<const char*>(fitted.pixels.data()), fitted.pixels.size()});
      labels_.push_back(label - known.begin());
      into.add({{.ids = {pictures_.size() - 1}}});
    }
  }
  std::vector<Sequence> columns(const Pretrained&, const Example&) const override { return {}; }
  int64_t batch_tokens() const override { return batch_pictures_; }
  int64_t max_tokens() const override { return 0; }
  int64_t losses(const Batch& batch) const override { return static_cast<int64_t>(batch.examples.size()); }

  Tensor loss(const Pretrained& p, const Batch& batch, const Context& context) const override {
    const PictureLabeller& model = p.as<PictureLabeller>();
    std::vector<Image> pictures;
    std::vector<int64_t> wanted;
    for (int64_t number : batch.columns[0].ids.values<int64_t>()) {
      const std::string_view bytes = pictures_[number];
      const PictureShape shape = p.as<PictureEncoder>().picture_shape();
      pictures.push_back({shape.width, shape.height, shape.channels, {bytes.begin(), bytes.end()}});
      wanted.push_back(labels_[static_cast<size_t>(number)]);
    }
    const auto size = static_cast<int64_t>(pictures.size());
    if (!context.training) {
      const Tensor logits = model.picture_logits(pixels_of(pictures, *input_), context);
      return sum(model.labels().losses(logits, {.labels = tensor({size}, wanted)}));
    }
    const ChangedPictures changed = changes_(pictures, *input_, context.random.fork("pictures"));
    std::vector<int64_t> partners;
    for (int64_t other : changed.partners) partners.push_back(wanted[static_cast<size_t>(other)]);
    const Tensor logits = model.picture_logits(changed.pixels, context);
    const auto losses = [&](const std::vector<int64_t>& labels) {
      return model.labels().losses(logits, {.labels = tensor({size}, labels)}, label_smoothing_);
    };
    if (!changed.mixes()) return sum(losses(wanted));
    return sum(losses(wanted) * changed.own + losses(partners) * (1 - changed.own));
  }

  Predictions predict(const Pretrained& p, const Dataset& data, const std::vector<int64_t>& numbers,
                      const PredictOptions& options) const override {
    const PictureInput input = input_ ? *input_ : read_picture_input(p.folder);
    const std::vector<std::string>& names = p.as<PictureLabeller>().labels().names();
    Predictions predictions;
    std::vector<Image> pictures;
    for (size_t i = 0; i < numbers.size(); ++i) {
      const Example e = data[numbers[i]];
      predictions.references.push_back(e.label);
      pictures.push_back(parse_image(bytes_of(e.source), "picture"));
      if (static_cast<int64_t>(pictures.size()) < batch_pictures_ && i + 1 < numbers.size()) continue;
      for (const Classified& c : classify_pictures(p, input, pictures)) predictions.hypotheses.push_back(names[c.best]);
      options.done(pictures.size());
      pictures.clear();
    }
    return predictions;
  }

  std::vector<Score> score(const Predictions& p) const override {
    const LabelScores scores = score_labels(p.references, p.hypotheses);
    return {{"accuracy", scores.accuracy, Score::higher}, {"macro_f1", scores.macro.f1, Score::higher}};
  }

  void go_on_from(const Pretrained& p) override { input_ = read_picture_input(p.folder); }
  void save(const std::filesystem::path& folder, const Predictions&) const override {
    write_picture_input(folder, *input_);
  }

 private:
  static PictureInput input_of(const PictureShape& shape) {
    const std::vector<double> halves(static_cast<size_t>(shape.channels), 0.5);
    return {.height = shape.height,
            .width = shape.width,
            .crop_height = shape.height,
            .crop_width = shape.width,
            .image_mean = halves,
            .image_std = halves};
  }

  std::vector<std::string> names_;
  int64_t batch_pictures_ = 128;
  double label_smoothing_ = 0.1;
  PictureChanges changes_;
  std::optional<PictureInput> input_;  // once there is a model
  Records pictures_;
  std::vector<int64_t> labels_;  // of the pictures
};

}  // namespace

extern const TaskKind images = {
    .name = "images",
    .help = "labels for pictures, learned from a folder of pictures for each label, IDX or CIFAR files",
    .make = []() -> std::unique_ptr<Task> { return std::make_unique<Images>(); },
};

}  // namespace fovea
