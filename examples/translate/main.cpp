// Translates a sentence and shows what each word was made from.
#include <fmt/core.h>
#include <fovea/fovea.h>

int main(int count, char** arguments) {
  try {
    const fovea::Translator translate("en-de");  // a folder, or the name of a model that ships
    const auto r = translate(count > 1 ? arguments[1] : "The cat sat on the mat.");

    fmt::print("{}\n", r.text);
    for (const auto [source, target] : r.alignment)
      fmt::print("{:>12} <- {:<8} {:.2f}\n", r.attention.rows[target], r.attention.columns[source],
                 r.attention.at(target, source));
  } catch (const fovea::Error& e) {
    fmt::print(stderr, "translate: {}\n", e.what());
    return 2;
  }
}
