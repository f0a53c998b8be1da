// For tests: the folder of a small Whisper with drawn weights, that hears windows of a second and writes bytes.
//
//   write_listener(folder);   const Pretrained p = load_pretrained(folder);
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "fovea/base/file.h"
#include "fovea/models/pretrained.h"

namespace fovea {

inline void write_listener(const std::filesystem::path& folder, bool multilingual = true) {
  // Bytes as GPT-2 spells them.
  std::vector<std::string> spelled;
  int next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    const bool shown = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    const auto c = static_cast<unsigned>(shown ? byte : next++);
    spelled.push_back(c < 128 ? std::string(1, static_cast<char>(c))
                              : std::string{static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 63))});
  }
  nlohmann::json vocabulary, added;
  for (size_t i = 0; i < spelled.size(); ++i) vocabulary[spelled[i]] = i;
  int64_t id = 256;
  for (const char* mark : {"<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|de|>", "<|translate|>",
                           "<|transcribe|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>"})
    added.push_back({{"id", id++},
                     {"content", mark},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  const nlohmann::json level = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  const nlohmann::json tokenizer = {
      {"version", "1.0"},
      {"added_tokens", added},
      {"normalizer", nullptr},
      {"pre_tokenizer", level},
      {"post_processor", nullptr},
      {"decoder", level},
      {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", nlohmann::json::array()}}}};
  const std::unique_ptr<ModelConfig> config = find<Family>("whisper").config();
  from_json(
      fmt::format(R"({{"vocab_size": {}, "num_mel_bins": 80, "d_model": 16, "encoder_layers": 1, "decoder_layers": 2,
                            "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 24,
                            "decoder_ffn_dim": 24, "max_source_positions": 50, "max_target_positions": 40,
                            "pad_token_id": 256, "bos_token_id": 256, "eos_token_id": 256, "decoder_start_token_id": 257}})",
                  id + 51),
      *config, "config.json");
  const std::unique_ptr<Model> model = config->make();
  initialise(*model, Random(3));
  std::filesystem::create_directories(folder);
  save_model(folder, *model);
  write_text(folder / "tokenizer.json", tokenizer.dump());
  write_text(folder / "generation_config.json",
             fmt::format(R"({{"transformers_version": "5", "alignment_heads": [[0, 1], [1, 0]], "is_multilingual": {},
                             "max_initial_timestamp_index": 10}})",
                         multilingual));
}

}  // namespace fovea
