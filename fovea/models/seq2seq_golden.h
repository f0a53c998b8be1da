// For tests: models with an encoder and a decoder as Transformers stores and computes them (tests/golden/make_seq2seq_models.py).
//
//   const Seq2SeqFolder folder("marian");   const auto model = load_model(folder.path);
#pragma once

#include <filesystem>

#include "fovea/base/file.h"
#include "fovea/nn/golden.h"

namespace fovea {

inline const SafeTensors& seq2seq_golden_file() {
  static const SafeTensors file(std::filesystem::path(test_data) / "golden" / "seq2seq_models.safetensors");
  return file;
}

// The folder of a case, with these weights instead of its own if they are given.
struct Seq2SeqFolder {
  std::filesystem::path path;

  explicit Seq2SeqFolder(const std::string& name, NamedTensors weights = {})
      : path(std::filesystem::path(testing::TempDir()) / ("fovea_seq2seq_" + name)) {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
    const SafeTensors& file = seq2seq_golden_file();
    write_safetensors(path / "model.safetensors", weights.empty() ? golden(file, name + ".weight.") : weights, {});
    write_text(path / "config.json", file.metadata().at(name + ".config"));
  }
  ~Seq2SeqFolder() { std::filesystem::remove_all(path); }
};

}  // namespace fovea
