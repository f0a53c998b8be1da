// What looking costs while a model writes: one head of each layer, or all of them, against the processor's time without; the
// winner's rows are followed through the beams.
#include "bench/bench.h"
#include "fovea/base/random.h"
#include "fovea/generate/search.h"
#include "fovea/models/pretrained.h"
#include "fovea/models/zoo.h"

namespace fovea::benches {
namespace {

void look(Bencher& b, const std::string& what, const Generator& writer, const Request& request, int64_t written) {
  for (const int64_t beam : {1, 5}) {
    const GenerationConfig config = {.beam_size = beam, .min_length = written, .max_length = written};
    for (const bool all : {false, true})
      b.cost(
          all ? "looking_at_all_heads" : "looking_at_one_head",
          fmt::format("{} beam={} tokens={}", what, beam, written),
          [&] {
            Trace trace(Probe{.heads = all ? std::vector<int64_t>{} : std::vector<int64_t>{0}, .weights = true});
            generate(writer, {request}, config, {.trace = &trace});
          },
          [&] { generate(writer, {request}, config); });
  }
}

std::vector<int64_t> drawn_ids(int64_t count, int64_t vocabulary) {
  std::vector<int64_t> ids;
  const Random random(1);
  for (int64_t i = 0; i < count; ++i)
    ids.push_back(4 +
                  static_cast<int64_t>(random.below(static_cast<uint64_t>(vocabulary - 4), static_cast<uint64_t>(i))));
  return ids;
}

// A GPT-2 of 512 × 8 layers behind a prompt of 512 tokens.
void look_at_language_model(Bencher& b) {
  const auto config = find<Family>("gpt2").config();
  from_json(R"({"vocab_size": 8000, "n_positions": 1024, "n_embd": 512, "n_layer": 8, "n_head": 8, "bos_token_id": 0,
                "eos_token_id": 0})",
            *config, "looking");
  const std::unique_ptr<Model> model = config->make();
  initialise(*model, Random(1));
  look(b, "gpt2 width=512 layers=8 prompt=512", as<Generator>(*model), {.prompt = drawn_ids(512, 8000)}, 32);
}

}  // namespace

extern const Bench looking = {
    .name = "looking", .help = "what a probe costs while a model writes", .run = [](Bencher& b) {
      const Pretrained model = load_pretrained(find_model("en-de"));
      look(b, "en-de source=12", model.as<Generator>(), {.source = drawn_ids(12, model.model->vocabulary())}, 16);
      look_at_language_model(b);
    }};

}  // namespace fovea::benches
