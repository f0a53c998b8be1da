// A language model goes on with a text, word by word as they come.
#include <fmt/core.h>
#include <fovea/fovea.h>

int main(int count, char** arguments) {
  if (count < 3) {
    fmt::print(stderr, "usage: generate MODEL TEXT\n");  // a folder in Hugging Face's layout, or a GGUF file
    return 2;
  }
  try {
    const fovea::TextGenerator write(arguments[1]);
    const auto print = [](std::string_view more) { fmt::print("{}", more); };
    const auto r = write(arguments[2], {.max_length = 60, .on_text = print});
    fmt::print("\n{} tokens, log-probability {:.3f} each\n", r.log_probabilities.size(), r.score);
  } catch (const fovea::Error& e) {
    fmt::print(stderr, "generate: {}\n", e.what());
    return 2;
  }
}
