// What models of ViT's kind do with the states of a picture: nothing more, or labels.
//
//   extern const Family vit = vit_family<Vit>("the Vision Transformer …", variants);
//
// A Kin says what differs between ViT and DeiT: its `name` and `stored_name`, the `prefix` of the body's weights below a head, how many tokens
// stand before the patches, and by how many convolutions these are made if nothing else is said.
#pragma once

#include "fovea/models/encoder_heads.h"
#include "fovea/models/vit_body.h"
#include "fovea/tensor/arithmetic.h"

namespace fovea {

inline constexpr const char *picture_head = "ForImageClassification",
                            *teacher_head = "ForImageClassificationWithTeacher";

template <class Kin>
class VitModel : public Model, public PictureEncoder {
 public:
  explicit VitModel(const VitConfig& c) : config_(c), body_(c, Kin::extra) {}

  Tensor encode_pictures(const Tensor& pixels, const Context& c) const final { return body_(pixels, c); }
  PictureShape picture_shape() const final {
    const int64_t patches = config_.image_size / config_.patch_size;
    return {config_.num_channels, config_.image_size, config_.image_size, patches, patches, Kin::extra};
  }
  std::string picture_attention() const final { return fmt::format("encoder.{}.self", config_.num_hidden_layers - 1); }

  void weights(Weights& w) override { body_.weights(w); }
  std::string_view family() const final { return Kin::name; }
  std::string config() const final { return family_json(Kin::name, config_); }
  int64_t vocabulary() const final { return 0; }
  bool foreign() const final { return true; }
  // "vit.encoder.layer.0…" of a model with a head may be without the prefix, and the other way round.
  std::string weight_path(const std::string& stored) const final {
    std::string plain = stored.starts_with(Kin::prefix) ? stored.substr(Kin::prefix.size()) : stored;
    if (plain.starts_with("pooler.")) return {};
    const bool in_body =
        plain.starts_with("embeddings.") || plain.starts_with("encoder.") || plain.starts_with("layernorm.");
    return in_body && labels_something() ? std::string(Kin::prefix) + plain : plain;
  }

  Model::Part part_of(const std::string& path) const final {
    return labels_something() && !path.starts_with(Kin::prefix) ? Model::Part::head : Model::Part::body;
  }

 protected:
  void list_places(const Places& p) const final { body_.places(p); }
  virtual bool labels_something() const { return false; }
  void headed_weights(Weights& w) { w(Kin::prefix.substr(0, Kin::prefix.size() - 1), body_); }

  VitConfig config_;
  VitBody body_;
};

// logits = C x of the class token, or of the mean over patches; DeiT's with a teacher are the mean of two.
template <class Kin>
class VitLabeller final : public VitModel<Kin>, public PictureLabeller {
 public:
  explicit VitLabeller(const VitConfig& c)
      : VitModel<Kin>(c),
        with_teacher_(has_head(c.architectures, teacher_head)),
        labels_(Kin::name,
                {.names = c.id2label, .kind = c.problem_type == "multi_label_classification" ? "several" : "one"}),
        head_({c.hidden_size, labels_.size()}),
        teacher_({c.hidden_size, labels_.size()}) {
    require(!with_teacher_ || Kin::extra > 1,
            "{}: found the architecture {}, expected a family with a distillation token", Kin::name,
            c.architectures[0]);
  }

  Tensor picture_logits(const Tensor& pixels, const Context& c) const override {
    const Tensor x = this->body_(pixels, c);
    if (this->config_.use_mean_pooling) return head_(mean(x.slice(1, Kin::extra, x.size(1)), {1}));
    if (with_teacher_) return 0.5 * (head_(x.select(1, 0)) + teacher_(x.select(1, 1)));
    return head_(x.select(1, 0));
  }
  const Labels& labels() const override { return labels_; }

  void weights(Weights& w) override {
    this->headed_weights(w);
    w(with_teacher_ ? "cls_classifier" : "classifier", head_);
    if (with_teacher_) w("distillation_classifier", teacher_);
  }

 private:
  bool labels_something() const override { return true; }

  bool with_teacher_;
  Labels labels_;
  Linear head_, teacher_;
};

template <class Kin>
class VitKinConfig final : public ModelConfig {
 public:
  VitKinConfig() { config_.convolutions = Kin::convolutions; }
  void fields(Fields& f) override { config_.fields(f); }
  void fit(const DataFacts& facts) override {
    if (!facts.needs.labels_pictures) return;
    config_.architectures = {std::string(Kin::stored_name) + picture_head};
    config_.id2label = facts.labels;
    config_.problem_type = facts.labelling == "several" ? "multi_label_classification" : "single_label_classification";
  }
  std::unique_ptr<Model> make() const override {
    config_.check(Kin::name);
    const std::vector<std::string>& a = config_.architectures;
    if (has_head(a, picture_head) || has_head(a, teacher_head)) return std::make_unique<VitLabeller<Kin>>(config_);
    if (a.empty() || has_head(a, "Model")) return std::make_unique<VitModel<Kin>>(config_);
    throw Error(Error::unsupported, "{}: found the architecture {}, expected one that ends with Model, {} or {}",
                Kin::name, a[0], picture_head, teacher_head);
  }

 private:
  VitConfig config_;
};

// From nothing: small, and with patches for small pictures.
inline constexpr std::string_view vit_training =
    R"({"hidden_size": 128, "num_hidden_layers": 6, "num_attention_heads": 4, "intermediate_size": 256, "patch_size": 4,
        "image_size": 0, "num_channels": 0})";

template <class Kin>
constexpr Family vit_family(std::string_view help, std::string_view variants) {
  return {Kin::name,
          help,
          []() -> std::unique_ptr<ModelConfig> { return std::make_unique<VitKinConfig<Kin>>(); },
          {.encodes_pictures = true, .labels_pictures = true},
          variants,
          vit_training};
}

}  // namespace fovea
