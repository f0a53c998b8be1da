// config.json and generation_config.json of others: any family makes a model of shapes from them, or refuses.
#include "fovea/generate/config.h"
#include "fovea/models/family.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  struct File {
    GenerationConfig config;
    void fields(Fields& f) { config.file_fields(f); }
  };
  fuzz_text({data, size}, [](std::string_view text) {
    File file;
    from_foreign_json(text, file, "generation_config.json");
    check(file.config);
  });
  for (const char* name : {"gpt2", "llama", "mistral", "qwen2", "qwen3", "gemma2", "gemma3_text", "phi3"}) {
    fuzz_text({data, size}, [&](std::string_view text) {
      const auto config = find<Family>(name).config();
      from_foreign_json(text, *config, "config.json");
      int64_t layers = 0;
      struct Layers {
        int64_t& layers;
        void fields(Fields& f) { f("num_hidden_layers", layers, ""), f("n_layer", layers, ""); }
      } count = {layers};
      from_foreign_json(text, count, "config.json");
      if (layers <= 8) config->make();  // many take time, and nothing else
    });
  }
  return 0;
}
