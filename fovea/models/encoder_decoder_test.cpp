// T5, Marian, BART and mBART from folders as Transformers writes them, held to the numbers that it computes.
#include "fovea/models/encoder_decoder.h"

#include "fovea/models/pretrained.h"
#include "fovea/models/seq2seq_golden.h"

namespace fovea {
namespace {

const std::vector<std::string>& cases() {
  static const std::vector<std::string> names = {"marian", "marian_two", "bart",     "bart_scaled",
                                                 "mbart",  "t5",         "t5_gated", "mt5"};
  return names;
}

// The numbers of the real tokens.
Tensor real_part(const Tensor& states, const Tensor& lengths) {
  Tensor y = states.contiguous().clone();
  for (int64_t row = 0; row < y.size(0); ++row) {
    const int64_t length = lengths.values<int64_t>()[static_cast<size_t>(row)];
    float* numbers = y.data<float>() + row * y.size(1) * y.size(2);
    std::fill(numbers + length * y.size(2), numbers + y.size(1) * y.size(2), 0.0f);
  }
  return y;
}

void expect_golden(const Model& model, const std::string& name) {
  const SafeTensors& file = seq2seq_golden_file();
  const Source source = {file["source"], file["lengths"]};
  const Tensor states = as<Encoder>(model).encode(source, {});
  gradient_check::expect_near(real_part(states, source.lengths), real_part(file[name + ".states"], source.lengths),
                              2e-4, "states");
  gradient_check::expect_near(as<Generator>(model).logits(source, file["targets"], {}), file[name + ".logits"], 2e-4,
                              "logits");
}

TEST(EncoderDecoder, StatesAndLogitsAreThoseOfTransformers) {
  for (const std::string& name : cases()) {
    SCOPED_TRACE(name);
    const Seq2SeqFolder folder(name);
    std::vector<std::string> notes;
    const auto model = load_model(folder.path, {.note = [&](const std::string& line) { notes.push_back(line); }});
    EXPECT_TRUE(notes.empty()) << notes[0];
    for_each_simd([&] { expect_golden(*model, name); });
  }
}

TEST(EncoderDecoder, WhatIsSavedHasTheNamesThatTransformersGives) {
  for (const std::string& name : cases()) {
    SCOPED_TRACE(name);
    const Seq2SeqFolder folder(name);
    const auto model = load_model(folder.path, {.learns = true});
    save_model(folder.path / "saved", *model);
    const SafeTensors saved(folder.path / "saved");
    const NamedTensors expected = golden(seq2seq_golden_file(), name + ".weight.");
    EXPECT_EQ(saved.tensors().size(), expected.size());
    for (const auto& [path, tensor] : expected) EXPECT_TRUE(saved.tensors().count(path)) << path;
    expect_golden(*load_model(folder.path / "saved"), name);
  }
}

// What one weight is called in a file that has it under other names, or several times.
TEST(EncoderDecoder, ASharedEmbeddingIsFoundUnderAnyOfItsNames) {
  struct Spelling {
    const char *name, *path;
    std::vector<const char*> stored;
  };
  for (const Spelling& s :
       {Spelling{"marian", "model.shared.weight", {"lm_head.weight"}},
        {"marian", "model.shared.weight", {"model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"}},
        {"marian_two", "model.decoder.embed_tokens.weight", {"lm_head.weight", "model.decoder.embed_tokens.weight"}},
        {"bart", "model.shared.weight", {"shared.weight", "encoder.embed_tokens.weight", "lm_head.weight"}},
        {"t5", "shared.weight", {"decoder.embed_tokens.weight"}},
        {"t5", "shared.weight", {"shared.weight", "encoder.embed_tokens.weight", "lm_head.weight"}}}) {
    SCOPED_TRACE(s.name + std::string(" as ") + s.stored[0]);
    NamedTensors weights = golden(seq2seq_golden_file(), std::string(s.name) + ".weight.");
    const Tensor shared = weights.at(s.path);
    weights.erase(s.path);
    for (const char* name : s.stored) weights[name] = shared;
    expect_golden(*load_model(Seq2SeqFolder(s.name, weights).path), s.name);
  }
}

TEST(EncoderDecoder, CopiesThatDifferAreRefused) {
  NamedTensors weights = golden(seq2seq_golden_file(), "bart.weight.");
  weights["lm_head.weight"] = zeros(weights.at("model.shared.weight").shape(), DType::f16);
  try {
    load_model(Seq2SeqFolder("bart", weights).path);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("which are one weight"), std::string::npos) << e.what();
  }
}

TEST(EncoderDecoder, StoredSinusoidsAreOfNoUseAndTheBiasOfTheOutputMayBeLeftOut) {
  NamedTensors weights = golden(seq2seq_golden_file(), "marian.weight.");
  weights["model.encoder.embed_positions.weight"] = zeros({24, 32}, DType::f16);
  expect_golden(*load_model(Seq2SeqFolder("marian", weights).path), "marian");
  const Tensor bias = weights.at("final_logits_bias").to(DType::f32).reshape({1, 1, -1});
  weights.erase("final_logits_bias");
  const Seq2SeqFolder folder("marian", weights);
  const auto model = load_model(folder.path);
  const SafeTensors& file = seq2seq_golden_file();
  const Tensor logits = as<Generator>(*model).logits({file["source"], file["lengths"]}, file["targets"], {});
  gradient_check::expect_near(logits + bias, file["marian.logits"], 2e-4, "logits");
}

// T5 1.1, which has an output of its own, as Transformers saves it once it shares the embedding: nothing is scaled.
TEST(EncoderDecoder, AnOutputThatIsLeftOutIsTheEmbeddingAsItIs) {
  NamedTensors weights = golden(seq2seq_golden_file(), "t5_gated.weight.");
  weights["lm_head.weight"] = weights.at("shared.weight");
  const SafeTensors& file = seq2seq_golden_file();
  const Source source = {file["source"], file["lengths"]};
  const Tensor copied =
      as<Generator>(*load_model(Seq2SeqFolder("t5_gated", weights).path)).logits(source, file["targets"], {});
  weights.erase("lm_head.weight");
  const Seq2SeqFolder folder("t5_gated", weights);
  const auto model = load_model(folder.path);
  EXPECT_TRUE(same_bits(as<Generator>(*model).logits(source, file["targets"], {}), copied));
  save_model(folder.path / "saved", *model);
  const auto again = load_model(folder.path / "saved");
  EXPECT_TRUE(same_bits(as<Generator>(*again).logits(source, file["targets"], {}), copied));
}

}  // namespace
}  // namespace fovea
