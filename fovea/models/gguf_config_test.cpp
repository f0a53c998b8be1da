// Against names that the gguf package gives and configs as Hugging Face has them (tests/golden/make_gguf.py).
#include "fovea/models/gguf_config.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "test_paths.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;
const fs::path golden = fs::path(test_data) / "golden" / "gguf";

nlohmann::json expected() { return parse_json(read_text(golden / "expected.json"), "expected.json"); }

TEST(GgufConfig, SaysWhatHuggingFaceWouldSay) {
  const nlohmann::json golden_file = expected();
  for (const auto& [architecture, all] : golden_file.items()) {
    const Gguf file(golden / (architecture + ".gguf"));
    const nlohmann::json config = parse_json(gguf_config(file), "config");
    for (const auto& [key, value] : all["config"].items()) {
      ASSERT_TRUE(config.contains(key)) << architecture << " " << key;
      EXPECT_EQ(config[key], value) << architecture << " " << key;
    }
  }
}

TEST(GgufConfig, NamesAreThoseThatTheGgufPackageWasGiven) {
  const nlohmann::json golden_file = expected();
  for (const auto& [architecture, all] : golden_file.items()) {
    const Gguf file(golden / (architecture + ".gguf"));
    const auto names = hugging_face_names(file);
    EXPECT_EQ(names.size(), all["names"].size()) << architecture;
    for (const auto& [gguf, name] : all["names"].items()) {
      ASSERT_TRUE(names.count(name.get<std::string>())) << architecture << " " << name;
      EXPECT_EQ(names.at(name.get<std::string>()), gguf) << architecture;
    }
  }
}

class OtherGguf : public testing::Test {
 protected:
  void TearDown() override { fs::remove(path_); }
  fs::path path_ = fs::path(testing::TempDir()) / ("fovea_config_" + std::to_string(getpid()) + ".gguf");

  // The tiny llama with other metadata and tensors.
  Gguf changed(const GgufMetadata& more, const NamedTensors& tensors = {}) {
    const Gguf given(golden / "llama.gguf");
    GgufMetadata metadata = given.metadata();
    for (const auto& [key, value] : more) metadata[key] = value;
    NamedTensors all = given.tensors();
    for (const auto& [name, tensor] : tensors) all[name] = tensor;
    write_gguf(path_, metadata, all);
    return Gguf(path_);
  }
  static std::string error_of(auto&& action) {
    try {
      action();
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  }
};

// The factors that Llama 3.1's own formula gives for its base of 500,000 and heads of 128 numbers.
TEST_F(OtherGguf, FactorsOfRotaryPositionsAreLlama3sScaling) {
  std::vector<float> factors;
  for (int i = 0; i < 64; ++i) {
    const double length = 2 * M_PI * std::pow(500000.0, i / 64.0), smooth = (8192 / length - 1) / 3;
    factors.push_back(static_cast<float>(length < 2048 ? 1 : length > 8192 ? 8 : 1 / ((1 - smooth) / 8 + smooth)));
  }
  const GgufMetadata base = {{"llama.rope.freq_base", GgufValue::of(500000.0f)}};
  const auto config = parse_json(gguf_config(changed(base, {{"rope_freqs.weight", tensor({64}, factors)}})), "config");
  EXPECT_EQ(config["rope_scaling"]["rope_type"], "llama3");
  EXPECT_EQ(config["rope_scaling"]["factor"], 8.0);
  EXPECT_EQ(config["rope_scaling"]["original_max_position_embeddings"], 8192);
  EXPECT_EQ(config["rope_theta"], 500000.0);
  factors[40] = 3;
  const Gguf other = changed(base, {{"rope_freqs.weight", tensor({64}, factors)}});
  EXPECT_NE(error_of([&] { gguf_config(other); }).find("factor 3 of rotary positions 40"), std::string::npos);
}

TEST_F(OtherGguf, WhatIsNotKnownIsAnError) {
  const Gguf experts = changed({{"llama.expert_count", GgufValue::of(uint32_t{8})}});
  EXPECT_NE(error_of([&] { gguf_config(experts); }).find("8 experts"), std::string::npos);
  const Gguf scaled = changed({{"llama.rope.scaling.type", GgufValue::of("su")}}, {});
  EXPECT_EQ(error_of([&] { gguf_config(scaled); }), "no error") << "factors of 1 stand for no scaling";
  const Gguf mamba = changed({{"general.architecture", GgufValue::of("mamba")}});
  EXPECT_NE(error_of([&] { gguf_config(mamba); }).find("'mamba', expected one of llama"), std::string::npos);
  EXPECT_NE(error_of([&] { hugging_face_names(mamba); }).find("'mamba'"), std::string::npos);
  for (const char* name : {"blk.0.attn_z.weight", "blk.x.attn_q.weight", "blk.0.attn_q", "blk.-1.attn_q.weight"}) {
    const Gguf odd = changed({}, {{name, zeros({2})}});
    EXPECT_NE(error_of([&] { hugging_face_names(odd); }).find(name), std::string::npos) << name;
  }
  const Gguf headless = changed({{"llama.attention.head_count", GgufValue::of(uint32_t{0})}});
  EXPECT_NE(error_of([&] { gguf_config(headless); }).find("0 heads"), std::string::npos);
}

}  // namespace
}  // namespace fovea
