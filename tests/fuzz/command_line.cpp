// The arguments stand between line breaks.
#include "cli/verb.h"
#include "tests/fuzz/fields.h"
#include "tests/fuzz/fuzz.h"

namespace fovea {
namespace {

struct Options : EveryField {
  static constexpr const char* positional = "list";
  static constexpr BareFlag bare = {"text", "first", "second"};
};

constexpr Verb verb = {
    .name = "fuzz", .group = "use", .help = "takes anything", .examples = "fovea fuzz", .run = [](const Options& o) {
      check_round_trip(o);
    }};

}  // namespace
}  // namespace fovea

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  return fuzz_text({data, size}, [](std::string_view text) {
    std::vector<std::string> arguments;
    for (size_t end = 0; end != text.npos; text.remove_prefix(end == text.npos ? text.size() : end + 1)) {
      end = text.find('\n');
      arguments.emplace_back(text.substr(0, end));
      if (arguments.back().find('\0') != std::string::npos) return;  // no argument of a program holds one
    }
    CommandLine line(verb, arguments);
    verb.run(line);
  });
}
