// From pieces back to a text. Each kind is one of tokenizer.json's decoders, under its name there.
//
//   std::vector<std::string> pieces = {"ĠHello", "Ġworld"};
//   byte_level_decoder()->apply(pieces);               // their concatenation is the text
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/text/pretrained/regex.h"

namespace fovea {

class Decoder {
 public:
  virtual ~Decoder() = default;
  virtual void apply(std::vector<std::string>& pieces) const = 0;
};
using DecoderPointer = std::shared_ptr<const Decoder>;

DecoderPointer sequence_of(std::vector<DecoderPointer> decoders);
DecoderPointer byte_level_decoder();
DecoderPointer wordpiece_decoder(std::string_view prefix, bool cleanup);
DecoderPointer metaspace_decoder(char32_t replacement, bool prepended);
DecoderPointer bpe_decoder(std::string_view suffix);
DecoderPointer byte_fallback_decoder();
DecoderPointer fuse_decoder();
DecoderPointer strip_decoder(char32_t content, int64_t start, int64_t stop);
DecoderPointer replace_decoder(Regex pattern, std::string_view content);
DecoderPointer ctc_decoder(std::string_view pad, std::string_view delimiter, bool cleanup);

}  // namespace fovea
