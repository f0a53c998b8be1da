// What one head of a model looks at: its exact weights, from the fused kernel that runs anyway.
#include <fmt/core.h>
#include <fovea/models/pretrained.h>
#include <fovea/models/zoo.h>

int main() {
  using namespace fovea;
  const Pretrained en_de = load_pretrained(find_model("en-de"));

  const std::string text = "The cat sat on the mat.";
  const Tokens tokens = en_de.tokenizer->encode(text);
  const auto length = static_cast<int64_t>(tokens.ids.size());
  const Source source = {.ids = tensor({1, length}, tokens.ids)};

  Trace trace({.heads = {0}, .weights = true});  // only this head …
  trace.places = {"encoder.0.self"};             // … of this layer
  en_de.as<Encoder>().encode(source, {.trace = &trace});

  const Tensor weights = trace["encoder.0.self"].weights.select(0, 0).select(0, 0);  // [tokens, tokens]
  for (int64_t i = 0; i < length; ++i) {
    fmt::print("{:>8}", piece_of(text, tokens.spans[static_cast<size_t>(i)]));
    for (float weight : weights.select(0, i).values<float>()) fmt::print(" {:.2f}", weight);
    fmt::print("\n");
  }
}
