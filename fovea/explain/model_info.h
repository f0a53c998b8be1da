// What a model's folder holds: architecture, sizes, tokenizer, defaults of generation, and what its card says.
//
//   const ModelInfo info = model_info("my-model");     // loads it, so that what is said is true
//   fmt::print("{}", to_text(info));                   // or to_json(info)
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fovea/data/text/special_ids.h"
#include "fovea/generate/config.h"

namespace fovea {

struct TokenizerInfo {
  std::string kind;
  int64_t size = 0;
  SpecialIds special;
};

struct ModelInfo {
  std::filesystem::path folder;
  std::string family, about;  // the family's name and one line about it
  std::string uses;           // what it does, and by which verbs
  std::string config;         // JSON, with what config.json leaves to the defaults
  std::vector<std::string> labels;
  int64_t weights = 0, tensors = 0, bytes = 0;
  std::map<std::string, int64_t> storage;               // weights stored as F32, F16, …
  std::vector<std::pair<std::string, int64_t>> memory;  // bytes that they take when used as f32, bf16, int8
  std::string used_as;                                  // one of these, or "blocks": where nobody says it
  std::optional<TokenizerInfo> tokenizer;               // if there is one
  std::optional<GenerationConfig> generation;           // if there is a generation_config.json
  std::string adapter;  // of a folder that holds one alone: its rank, and what it belongs to
  std::string card;     // JSON: the YAML at the head of README.md; empty if there is none
};

// An Error where a file is damaged or does not fit the others.
ModelInfo model_info(const std::filesystem::path& folder);

std::string to_text(const ModelInfo&);
std::string to_json(const ModelInfo&);

// What stands between a first line of dashes and the next one, as Hugging Face's model cards begin.
std::string front_matter(std::string_view markdown);

}  // namespace fovea
