// BERT and its kin against what Transformers computes (tests/golden/make_encoders.py), from folders as others write them.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "fovea/base/file.h"
#include "fovea/models/pretrained.h"
#include "fovea/nn/golden.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

const Json& golden_encoders() {
  static const Json file = Json::parse(read_text(fs::path(test_data) / "golden" / "encoders.json"));
  return file;
}

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const auto& [name, value] : golden_encoders()["cases"].items()) names.push_back(name);
  return names;
}

Tensor ids_of(const Json& rows) {
  std::vector<int64_t> all;
  for (const Json& row : rows) all.insert(all.end(), row.begin(), row.end());
  const auto count = static_cast<int64_t>(rows.size());
  return tensor({count, static_cast<int64_t>(all.size()) / count}, all);
}

Source source_of(bool typed) {
  const Json& g = golden_encoders();
  return {ids_of(g["ids"]), tensor({3}, g["lengths"].get<std::vector<int64_t>>()),
          typed ? ids_of(g["types"]) : Tensor()};
}

bool is_scale(const std::string& name) {
  return name.ends_with("weight") && (name.find("Norm") != std::string::npos || name.find("norm") != std::string::npos);
}

NamedTensors tensors_of(const Json& c) {
  NamedTensors tensors;
  int64_t seed = 0;
  for (const auto& [name, sizes] : c["tensors"].items()) {
    Shape shape;
    for (const Json& size : sizes) shape.push_back(size.get<int64_t>());
    const Tensor numbers = golden_numbers(shape, seed++, golden_encoders()["scale"].get<double>());
    tensors[name] = (is_scale(name) ? numbers + 1 : numbers).to(DType::f32);
  }
  return tensors;
}

class Folder final {
 public:
  Folder(const std::string& name, const Json& config, const NamedTensors& tensors)
      : path(fs::path(testing::TempDir()) / ("fovea_encoder_" + name)) {
    fs::remove_all(path);
    fs::create_directories(path);
    write_safetensors(path / "model.safetensors", tensors, {{"format", "pt"}});
    write_text(path / "config.json", config.dump());
  }
  ~Folder() { fs::remove_all(path); }

  const fs::path path;
};

Tensor output_of(const Model& model, const Source& source) {
  if (const auto* labeller = can<TextLabeller>(model)) return labeller->logits(source, {});
  if (const auto* labeller = can<TokenLabeller>(model)) return labeller->token_logits(source, {});
  if (const auto* finder = can<AnswerFinder>(model)) return finder->edge_logits(source, {});
  if (!can<GapFiller>(model)) return as<Encoder>(model).encode(source, {});
  std::vector<int64_t> places;
  for (int64_t row = 0; row < 3; ++row)
    for (int64_t t = 0; t < source.lengths.values<int64_t>()[static_cast<size_t>(row)]; ++t)
      places.push_back(7 * row + t);
  const Tensor found = as<GapFiller>(model).gap_logits(source, tensor({11}, places), {});
  Tensor all = zeros({21, found.size(1)});
  for (size_t i = 0; i < places.size(); ++i)
    all.select(0, places[i]).copy_from(found.select(0, static_cast<int64_t>(i)));
  return all.reshape({3, 7, found.size(1)});
}

void expect_output(const Model& model, const Json& c) {
  const Source source = source_of(c["config"]["model_type"] == "bert");
  for_each_simd([&] {
    const std::vector<double> found = output_of(model, source).values<double>(), wanted = c["output"];
    ASSERT_EQ(found.size(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(found[i], wanted[i], 2e-5) << i;
  });
}

class Encoders : public testing::TestWithParam<std::string> {
 protected:
  const Json& case_ = golden_encoders()["cases"][GetParam()];
};
INSTANTIATE_TEST_SUITE_P(Golden, Encoders, testing::ValuesIn(case_names()),
                         [](const auto& info) { return info.param; });

TEST_P(Encoders, AreWhatTransformersComputes) {
  const Folder folder(GetParam(), case_["config"], tensors_of(case_));
  std::vector<std::string> notes;
  const auto model = load_model(folder.path, {.note = [&](const std::string& line) { notes.push_back(line); }});
  expect_output(*model, case_);
  EXPECT_TRUE(notes.empty()) << notes.front();
}

TEST_P(Encoders, AreSavedUnderTheNamesThatTheyHad) {
  const Folder folder(GetParam(), case_["config"], tensors_of(case_));
  const auto model = load_model(folder.path);
  const NamedTensors saved = save(*model), stored = tensors_of(case_);
  for (const auto& [name, tensor] : saved) {
    ASSERT_TRUE(stored.count(name)) << name;
    EXPECT_TRUE(same_bits(tensor, stored.at(name))) << name;
  }
  for (const auto& [name, tensor] : stored)
    if (!saved.count(name)) EXPECT_TRUE(model->weight_path(name).empty()) << name;
}

// As the first BERT was stored, and as some files are: gamma and beta, with or without the prefix, f16, with what nobody uses.
TEST(EncoderFiles, OldNamesAndOtherPrefixesAreTheSameModel) {
  const Json& c = golden_encoders()["cases"]["bertForMaskedLM"];
  NamedTensors old;
  for (const auto& [stored, tensor] : tensors_of(c)) {
    std::string name = stored;
    if (name.starts_with("bert.")) name.erase(0, 5);
    if (const size_t at = name.find("LayerNorm.weight"); at != std::string::npos)
      name.replace(at, 16, "LayerNorm.gamma");
    if (const size_t at = name.find("LayerNorm.bias"); at != std::string::npos) name.replace(at, 14, "LayerNorm.beta");
    old[name] = tensor;
  }
  old["cls.seq_relationship.weight"] = zeros({2, 12});
  old["something.else"] = zeros({3});
  Json config = c["config"];
  config["unheard_of"] = 7;
  const Folder folder("old", config, old);
  std::vector<std::string> notes;
  const auto model = load_model(folder.path, {.note = [&](const std::string& line) { notes.push_back(line); }});
  expect_output(*model, c);
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_TRUE(notes[0].ends_with("passed over: unheard_of")) << notes[0];
  EXPECT_TRUE(notes[1].ends_with("does not use: something.else")) << notes[1];
}

TEST(EncoderFiles, WhatCannotBeHonouredIsRefused) {
  const Json& c = golden_encoders()["cases"]["bertModel"];
  auto error_with = [&](const char* key, const Json& value) {
    Json config = c["config"];
    config[key] = value;
    const Folder folder("refused", config, tensors_of(c));
    try {
      load_model(folder.path);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(error_with("position_embedding_type", "relative_key").find("position_embedding_type"), std::string::npos);
  EXPECT_NE(error_with("hidden_act", "quick_gelu").find("activation"), std::string::npos);
  EXPECT_NE(error_with("architectures", Json::array({"BertForNextSentencePrediction"})).find("architecture"),
            std::string::npos);
  EXPECT_NE(error_with("hidden_size", 1 << 30).find("hidden_size"), std::string::npos);
  EXPECT_NE(error_with("vocab_size", int64_t{1} << 30).find("word_embeddings"), std::string::npos);
}

}  // namespace
}  // namespace fovea
