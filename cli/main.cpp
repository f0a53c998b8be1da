#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>

#include "cli/verb.h"
#include "fovea/base/text.h"
#include "fovea/models/zoo.h"
#include "fovea/version.h"

namespace fovea {
namespace {

constexpr std::string_view groups[] = {"use", "train", "look inside", "measure"};

void welcome() {
  fmt::print(
      "Fovea {}: attention models on ordinary CPUs, and what they attended to.\n\n  fovea VERB [flags]     (fovea help "
      "VERB tells more)\n",
      FOVEA_VERSION);
  for (std::string_view group : groups) {
    fmt::print("\n{}\n", group);
    for (const Verb* verb : catalogue<Verb>()) {
      if (verb->group == group) fmt::print("  {:<12} {}\n", verb->name, verb->help);
    }
  }
  const std::vector<ShippedModel> models = shipped_models();
  if (!models.empty()) fmt::print("\nmodels at hand\n");
  for (const ShippedModel& model : models) fmt::print("  {:<16} {}\n", model.name, model.title);
  fmt::print("\nTo begin with:\n");
  if (!models.empty())
    fmt::print(
        "  fovea translate --show \"The cat sat on the mat.\"\n"
        "  fovea classify --show \"The food was cold, but the staff were wonderful.\"\n");
  fmt::print(
      "  fovea attend --form dot --tokens \"I,love,NLP\" --query 2 --keys 1,2,3 --values 2,4,6\n"
      "  fovea train translation --data pairs.tsv -o my-model\n");
}

int run(std::vector<std::string> arguments) {
  if (arguments.size() > 1 && arguments[0] == "help") arguments = {arguments[1], "--help"};
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "help") {
    welcome();
    return 0;
  }
  if (arguments[0] == "--version" || arguments[0] == "version") {
    fmt::print("fovea {}\n", FOVEA_VERSION);
    return 0;
  }
  const Verb& verb = find<Verb>(arguments[0]);
  CommandLine line(verb, {arguments.begin() + 1, arguments.end()});
  verb.run(line);
  if (std::fflush(stdout) != 0) throw Error(Error::io, "stdout: cannot be written to");
  return 0;
}

}  // namespace
}  // namespace fovea

int main(int argc, char** argv) {
  try {
    return fovea::run({argv + 1, argv + argc});
  } catch (const fovea::Error& e) {
    fmt::print(stderr, "fovea: {}\n", fovea::printable(e.what()));
    return 2;
  } catch (const std::filesystem::filesystem_error& e) {
    fmt::print(stderr, "fovea: {}: {}\n", fovea::printable(e.path1().string()), e.code().message());
    return 2;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "fovea: out of memory\n");
  } catch (const std::exception& e) {
    fmt::print(stderr, "fovea: internal error: {}\n", fovea::printable(e.what()));
  }
  return 1;
}
