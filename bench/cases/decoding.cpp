// The shipped English–German translator from sources to outputs of sixteen tokens, as `fovea translate` runs it: in each
// precision, greedy and with a beam of five, many sentences at once and one by one.
#include "bench/bench.h"
#include "fovea/base/random.h"
#include "fovea/base/threads.h"
#include "fovea/generate/search.h"
#include "fovea/models/pretrained.h"
#include "fovea/models/zoo.h"

namespace fovea::benches {
namespace {

constexpr int64_t source_tokens = 12, target_tokens = 16;

std::vector<Request> drawn_requests(int64_t count, int64_t vocabulary) {
  std::vector<Request> requests(static_cast<size_t>(count));
  const Random random(1);
  uint64_t number = 0;
  for (Request& r : requests)
    for (int64_t i = 0; i < source_tokens; ++i)
      r.source.push_back(4 + static_cast<int64_t>(random.below(static_cast<uint64_t>(vocabulary - 4), number++)));
  return requests;
}

void decode(Bencher& b, const Pretrained& model, Precision precision, int64_t beam, int64_t at_once) {
  const Generator& writer = model.as<Generator>();
  const GenerationConfig config = {
      .beam_size = beam, .min_length = target_tokens, .max_length = target_tokens, .batch_size = at_once};
  const std::vector<Request> requests =
      drawn_requests(at_once == 1 ? 1 : at_once * threads(), model.model->vocabulary());
  b.rate("decoding", fmt::format("en-de {} beam={} at_once={}", name(precision), beam, at_once),
         static_cast<double>(requests.size()) * target_tokens, "tokens/s", [&] { generate(writer, requests, config); });
}

}  // namespace

extern const Bench decoding = {
    .name = "decoding", .help = "the shipped translator, tokens of output a second", .run = [](Bencher& b) {
      for (Precision precision : {Precision::f32, Precision::bf16, Precision::int8}) {
        const Pretrained model = load_pretrained(find_model("en-de"), {.precision = precision});
        for (int64_t beam : {1, 5})
          for (int64_t at_once : {32, 1}) decode(b, model, precision, beam, at_once);
      }
    }};

}  // namespace fovea::benches
