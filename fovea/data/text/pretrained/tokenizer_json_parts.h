// The parts of a tokenizer.json, one reader each; null gives nothing.
//
//   NormalizerPointer n = read_normalizer(json["normalizer"], "tokenizer.json: normalizer");
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "fovea/data/text/pretrained/pipeline.h"

namespace fovea {

class JsonObject;  // json_object.h
using MergePairs = std::vector<std::pair<std::string, std::string>>;

NormalizerPointer read_normalizer(const nlohmann::json& json, const std::string& where);
PreTokenizerPointer read_pre_tokenizer(const nlohmann::json& json, const std::string& where);
PostProcessor read_post_processor(const nlohmann::json& json, const std::string& where);
DecoderPointer read_decoder(const nlohmann::json& json, const std::string& where);
std::vector<AddedToken> read_added_tokens(const nlohmann::json& json, const std::string& where);
// `added` fill what holes the ids of the model's own pieces have.
std::shared_ptr<const SubwordModel> read_model(const nlohmann::json& json, const std::vector<AddedToken>& added,
                                               const std::string& where);

MergePairs read_merges(const JsonObject& model);
MergePairs read_merges_txt(std::string_view text, const std::string& where);  // the lines of merges.txt

// From an object of pieces and ids: an Error unless these are 0 … n − 1, each once.
Vocabulary read_vocabulary(const nlohmann::json& json, const std::vector<AddedToken>& added, const std::string& where);

std::string decode_base64(std::string_view text, std::string_view where);

}  // namespace fovea
