#include "fovea/data/text/chat_template.h"

#include <nlohmann/json.hpp>

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  static const auto variables = nlohmann::ordered_json::parse(R"({
    "messages": [{"role": "system", "content": "Bê brief."}, {"role": "user", "content": " 2+2? "},
                 {"role": "assistant", "content": null, "tool_calls": [{"id": "a", "function": {"name": "add", "arguments": {"a": 2, "b": 2.5}}}]},
                 {"role": "tool", "content": "4"}, {"role": "user", "content": [{"type": "text", "text": "👋"}]}],
    "tools": [{"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {"a": {"type": "number"}}}}}],
    "add_generation_prompt": true, "bos_token": "<s>", "eos_token": "</s>"})");
  return fuzz_text({data, size}, [](std::string_view text) {
    const ChatTemplate chat(text, "template");
    chat(variables, {.steps = 200'000, .clock = [] { return std::tm{.tm_mday = 1, .tm_year = 100}; }});
  });
}
