// Whisper in one file: whisper.cpp's ggml files, which hold their vocabulary too, and OpenAI's .pt.
//
//   const auto file = open_whisper_file("ggml-tiny.bin");
//   file->sizes().text_layers;   file->words();   file->numbers("encoder.conv1.weight");
//
// Tensors have OpenAI's names, and shapes outermost first.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea {

struct WhisperSizes {
  int64_t vocabulary = 0, bands = 0;
  int64_t audio_states = 0, audio_width = 0, audio_heads = 0, audio_layers = 0;
  int64_t text_tokens = 0, text_width = 0, text_heads = 0, text_layers = 0;
};

class WhisperFile {
 public:
  virtual ~WhisperFile() = default;
  virtual const WhisperSizes& sizes() const = 0;
  virtual std::vector<std::string> words()
      const = 0;  // as bytes, in the order of their ids; none if it holds no vocabulary
  virtual std::vector<std::string> names() const = 0;
  virtual Shape shape(const std::string& name) const = 0;
  virtual std::string type(const std::string& name) const = 0;  // "F16", "q5_0" …
  virtual int64_t bytes(const std::string& name) const = 0;
  virtual Tensor numbers(const std::string& name) const = 0;  // as they are stored; blocks in f32
};

// By its first bytes, or of a .pt by its name.
bool is_whisper_file(const std::filesystem::path& path);
std::unique_ptr<WhisperFile> open_whisper_file(const std::filesystem::path& path);

}  // namespace fovea
