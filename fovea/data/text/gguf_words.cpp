#include "fovea/data/text/gguf_words.h"

namespace fovea {
namespace {

constexpr std::string_view llama3_pattern =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"
    "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
constexpr std::string_view qwen2_pattern =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"
    "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
constexpr std::string_view gpt4o_pattern =
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|"
    "'d)?|"
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|"
    "'d)?|"
    "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
constexpr std::string_view tekken_pattern =
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+|"
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*|"
    "\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

constexpr GgufWords all_words[] = {{"gpt-2", ""},
                                   {"phi-2", ""},
                                   {"olmo", ""},
                                   {"roberta-bpe", ""},
                                   {"smollm", "", true},
                                   {"starcoder", "", true},
                                   {"refact", "", true},
                                   {"command-r", "", true},
                                   {"llama-bpe", llama3_pattern, false, true},
                                   {"llama3", llama3_pattern, false, true},
                                   {"llama-v3", llama3_pattern, false, true},
                                   {"dbrx", llama3_pattern},
                                   {"smaug-bpe", llama3_pattern},
                                   {"qwen2", qwen2_pattern, false, false, true},
                                   {"deepseek-r1-qwen", qwen2_pattern, false, false, true},
                                   {"stablelm2", qwen2_pattern},
                                   {"gpt-4o", gpt4o_pattern},
                                   {"llama4", gpt4o_pattern},
                                   {"tekken", tekken_pattern, false, true}};

}  // namespace

std::span<const GgufWords> gguf_words() { return all_words; }

}  // namespace fovea
