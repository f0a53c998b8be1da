// Adapters as PEFT writes them, and gradients as PyTorch computes them (tests/golden/make_lora.py).
#include "fovea/models/adapter_folder.h"

#include <unistd.h>

#include "fovea/base/file.h"
#include "fovea/models/pretrained.h"
#include "fovea/nn/golden.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/loss.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

fs::path golden(const std::string& name) { return fs::path(test_data) / "golden" / "lora" / name; }

const NamedTensors& expected() {
  static const NamedTensors tensors = SafeTensors(golden("expected.safetensors")).tensors();
  return tensors;
}

Source source() { return {expected().at("ids"), expected().at("lengths")}; }
Tensor first_ids() { return expected().at("ids").slice(0, 0, 1).contiguous(); }

void expect_near(const Tensor& found, const Tensor& wanted, const std::string& what, double tolerance = 2e-5) {
  const std::vector<double> x = found.values<double>(), y = wanted.values<double>();
  ASSERT_EQ(found.elements(), wanted.elements()) << what;
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_NEAR(x[i], y[i], tolerance * (1 + std::abs(y[i]))) << what << " at " << i;
}

Tensor answer_of(const Model& model) {
  if (const auto* texts = can<TextLabeller>(model)) return texts->logits(source(), {});
  return as<Generator>(model).logits({}, first_ids(), {});
}

// The loss of make_lora.py.
Tensor loss_of(const Model& model) {
  const CrossEntropyOptions summed = {.ignored = -1, .reduction = Reduction::sum};
  if (const auto* texts = can<TextLabeller>(model))
    return cross_entropy(texts->logits(source(), {}), tensor({2}, std::vector<int64_t>{2, 0}), summed);
  if (const auto* tokens = can<TokenLabeller>(model))
    return tokens->token_loss(source(), tensor({2, 6}, std::vector<int64_t>{-1, 1, 3, -1, 0, -1, -1, 2, 2, -1, -1, -1}),
                              {});
  const Tensor ids = first_ids(), logits = as<Generator>(model).logits({}, ids, {});
  return cross_entropy(logits.slice(1, 0, 5).contiguous(), ids.slice(1, 1, 6).contiguous(), summed);
}

// The base that learns, with the additions beside its weights.
std::unique_ptr<Model> beside(const std::string& name) {
  const AdapterFolder adapter(golden(name + "-adapter"));
  std::unique_ptr<Model> model = load_model(golden(name + "-adapter"), {.learns = true});
  NamedTensors base = SafeTensors(golden(name) / "model.safetensors").tensors();
  const std::map<std::string, Adapter> additions = adapter.adapters(*model);
  std::map<std::string, Tensor> stored;
  for (const auto& [key, numbers] : base) stored[model->weight_path(key)] = numbers;
  for_each_weight(*model, [&](const std::string& path, Weight& w, const Init&) {
    if (!additions.count(path)) return;
    w.learn(stored.at(path));
    w.adapt(std::make_shared<Adapter>(additions.at(path)));
  });
  return model;
}

class EveryAdapter : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Lora, EveryAdapter, testing::Values("bert", "gpt2", "phi3"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(EveryAdapter, WithItsBaseItSaysWhatPeftSays) {
  const std::string name = GetParam();
  const Tensor& wanted = expected().at(name + ".logits");
  expect_near(answer_of(*load_model(golden(name + "-adapter"))), wanted, "merged and packed");
  expect_near(answer_of(*load_model(golden(name + "-adapter"), {.learns = true})), wanted, "merged");
  expect_near(answer_of(*beside(name)), wanted, "beside the weights");
}

TEST_P(EveryAdapter, ItsGradientIsThatOfPyTorch) {
  const std::string name = GetParam();
  const std::unique_ptr<Model> model = beside(name);
  std::vector<std::pair<std::string, Tensor>> learning;
  for_each_weight(*model, [&](const std::string& path, Weight& w, const Init&) {
    if (!w.adapter()) return;
    const std::string module = path.substr(0, path.size() - 7);
    w.adapter()->a.require_gradient(), w.adapter()->b.require_gradient();
    learning.emplace_back(module + ".lora_A.weight", w.adapter()->a);
    learning.emplace_back(module + ".lora_B.weight", w.adapter()->b);
  });
  ASSERT_GE(learning.size(), 4u);
  const Tensor loss = loss_of(*model);
  expect_near(loss, expected().at(name + ".loss"), "loss");
  loss.backward();
  for (const auto& [path, tensor] : learning)
    expect_near(tensor.gradient(), expected().at(name + ".gradient." + path), path, 1e-4);
}

TEST_P(EveryAdapter, StoredAgainItIsTheSame) {
  const std::string name = GetParam();
  const fs::path folder = fs::path(testing::TempDir()) / ("fovea_adapter_" + name + std::to_string(getpid()));
  const AdapterFolder first(golden(name + "-adapter"));
  const std::unique_ptr<Model> model = beside(name);
  std::set<std::string> whole;
  for (const auto& [path, numbers] : first.whole(*model)) whole.insert(path);
  save_adapter(
      folder, *model,
      {.base = fs::absolute(golden(name)).string(), .rank = 3, .alpha = 5, .targets = {"query"}, .whole = whole});
  const NamedTensors before = SafeTensors(golden(name + "-adapter") / "adapter_model.safetensors").tensors(),
                     after = SafeTensors(folder / "adapter_model.safetensors").tensors();
  ASSERT_EQ(before.size(), after.size());
  for (const auto& [key, numbers] : before) EXPECT_TRUE(after.count(key) && same_bits(numbers, after.at(key))) << key;
  expect_near(answer_of(*load_model(folder)), expected().at(name + ".logits"), "stored");
  fs::remove_all(folder);
}

// Every weight of a model with a head, through dropped-out layers that drop nothing.
TEST(FineTuning, GradientsOfATokenLabellerAreThoseOfPyTorch) {
  const std::unique_ptr<Model> model = load_model(golden("tokens"), {.learns = true});
  expect_near(as<TokenLabeller>(*model).token_logits(source(), {}).slice(0, 0, 1).contiguous(),
              expected().at("tokens.logits").slice(0, 0, 1).contiguous(), "logits");
  require_gradients(*model);
  const Tensor loss = loss_of(*model);
  expect_near(loss, expected().at("tokens.loss"), "loss");
  loss.backward();
  int64_t compared = 0;
  for_each_weight(*model, [&](const std::string& path, Weight& w, const Init&) {
    Tensor wanted = expected().at("tokens.gradient." + path);
    expect_near((*w).gradient(), wanted, path, 1e-4), ++compared;
  });
  EXPECT_EQ(compared, 39);
}

std::string error_of(const fs::path& folder) {
  try {
    load_model(folder);
  } catch (const Error& e) {
    return e.what();
  }
  return "no Error";
}

TEST(AdapterFolderTest, WhatIsWrongIsSaid) {
  const fs::path root = fs::path(testing::TempDir()) / ("fovea_bad_adapter" + std::to_string(getpid()));
  fs::remove_all(root);
  fs::create_directories(root);
  fs::copy(golden("bert"), root / "bert", fs::copy_options::recursive);
  fs::copy(golden("phi3"), root / "phi3", fs::copy_options::recursive);
  const std::string config = read_text(golden("bert-adapter") / "adapter_config.json");
  const auto says = [&](const std::string& from, const std::string& to) {
    const fs::path folder = root / "adapter";
    fs::remove_all(folder);
    fs::copy(golden("bert-adapter"), folder, fs::copy_options::recursive);
    std::string text = config;
    if (!from.empty()) text.replace(text.find(from), from.size(), to);
    write_text(folder / "adapter_config.json", text);
    return error_of(folder);
  };
  EXPECT_EQ(says("", ""), "no Error");
  EXPECT_NE(says(R"(path": "bert")", R"(path": "no-such-model")").find("no-such-model"), std::string::npos);
  EXPECT_NE(says(R"(path": "bert")", R"(path": null)").find("base_model_name_or_path"), std::string::npos);
  EXPECT_NE(says(R"(path": "bert")", R"(path": "phi3")").find("phi3"), std::string::npos);
  EXPECT_NE(says(R"("LORA")", R"("IA3")").find("IA3"), std::string::npos);
  EXPECT_NE(says(R"("use_dora": false)", R"("use_dora": true)").find("use_dora"), std::string::npos);
  EXPECT_NE(says(R"("bias": "none")", R"("bias": "all")").find("bias"), std::string::npos);
  EXPECT_NE(says(R"("r": 3)", R"("r": 0)").find("rank"), std::string::npos);
  EXPECT_NE(says(R"("r": 3)", R"("r": "x")").find("'r'"), std::string::npos);
  EXPECT_NE(says("{", "[").find("JSON"), std::string::npos);
  const auto with_tensors = [&](const NamedTensors& tensors) {
    says("", "");
    write_safetensors(root / "adapter" / "adapter_model.safetensors", tensors);
    return error_of(root / "adapter");
  };
  NamedTensors good = SafeTensors(golden("bert-adapter") / "adapter_model.safetensors").tensors();
  const std::string query = "base_model.model.bert.encoder.layer.0.attention.self.query.lora_";
  NamedTensors bad = good;
  bad.erase(query + "B.weight");
  EXPECT_NE(with_tensors(bad).find("lora_A and lora_B"), std::string::npos);
  bad = good, bad[query + "A.weight"] = zeros({3, 5});
  EXPECT_NE(with_tensors(bad).find("expected one to [16, 16]"), std::string::npos) << with_tensors(bad);
  bad = good, bad["base_model.model.bert.encoder.layer.9.output.dense.lora_A.weight"] = zeros({3, 24}),
  bad["base_model.model.bert.encoder.layer.9.output.dense.lora_B.weight"] = zeros({16, 3});
  EXPECT_NE(with_tensors(bad).find("no matrix of the model"), std::string::npos);
  bad = good, bad["something"] = zeros({1});
  EXPECT_NE(with_tensors(bad).find("something"), std::string::npos);
  bad = good, bad["base_model.model.classifier.weight"] = zeros({3, 15});
  EXPECT_NE(with_tensors(bad).find("expected [3, 16]"), std::string::npos) << with_tensors(bad);
  fs::remove(root / "adapter" / "adapter_model.safetensors");
  EXPECT_NE(error_of(root / "adapter").find("adapter_model.safetensors"), std::string::npos);
  fs::remove_all(root);
}

}  // namespace
}  // namespace fovea
