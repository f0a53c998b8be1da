// Tokenizers over the lines of one text, on one thread: MB/s. FOVEA_TOKENIZERS names a folder that holds the folder of each of them,
// FOVEA_TEXT the text; bench/peers/tokens.py sets both and compares. Without them: the tokenizer of a model that ships, on words
// in no order.
#include <time.h>

#include <algorithm>
#include <cstdlib>

#include "bench/bench.h"
#include "fovea/base/file.h"
#include "fovea/data/text/tokenizer.h"
#include "fovea/models/zoo.h"

namespace fovea::benches {
namespace {

namespace fs = std::filesystem;

std::string made_text() {
  constexpr const char* parts[] = {"the ", "harbour", "ing ", "of ", "a ", "quick", ".\n", "ness, "};
  std::string text;
  for (uint64_t state = 1; text.size() < 1'000'000;) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    text += parts[state >> 61];
  }
  return text;
}

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// By the processor's time, as the peers are timed: one thread, whatever else runs beside it.
void measure(Bencher& b, const std::string& name, const Tokenizer& tokenizer, const std::string& text) {
  const std::vector<std::string> lines = lines_in(text);
  std::vector<double> times;
  for (double begin = processor_seconds(); times.size() < 5 || processor_seconds() - begin < 1;) {
    const double start = processor_seconds();
    for (const std::string& line : lines) tokenizer.encode(line);
    times.push_back(processor_seconds() - start);
  }
  std::sort(times.begin(), times.end());
  const double best = times[times.size() / 10];
  b.emit({.bench = "tokenizer",
          .configuration = name,
          .value = 1e-6 * static_cast<double>(text.size()) / best,
          .unit = "MB/s"});
}

}  // namespace

extern const Bench tokenizers = {
    .name = "tokenizers", .help = "texts to ids, over 1 MB of lines", .run = [](Bencher& b) {
      const char *folder = std::getenv("FOVEA_TOKENIZERS"), *file = std::getenv("FOVEA_TEXT");
      const std::string text = file ? read_text(file) : made_text();
      if (!folder) return measure(b, "en-de", *load_tokenizer(find_model("en-de")), text);
      for (const auto& entry : fs::directory_iterator(folder))
        measure(b, entry.path().filename().string(), *load_tokenizer(entry.path()), text);
    }};

}  // namespace fovea::benches
