// `fovea quantize`: a model with weights of fewer bits, as the products read them.
#include <fmt/format.h>

#include "cli/answers.h"
#include "cli/verb.h"
#include "fovea/base/folder.h"
#include "fovea/models/adapter_folder.h"
#include "fovea/models/zoo.h"
#include "fovea/train/load_to_learn.h"

namespace fovea::verbs {
namespace {

namespace fs = std::filesystem;

struct QuantizeOptions {
  static constexpr const char* positional = "model";
  std::string model, output, weights = "int8";

  void fields(Fields& f) {
    f("model", model,
      "the folder of a model, or of an adapter, which becomes one model with its base; or the name of one that ships");
    f("output", output, "the folder to write");
    f("weights", weights, "what the weights become: int8, bf16 or f32");
  }
};

// The tokenizer, the card, how output is searched for: whatever stands beside the weights.
void copy_others(const fs::path& from, const fs::path& to) {
  for (const fs::directory_entry& entry : fs::directory_iterator(from)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && name != "config.json" && name != "adapter_config.json" &&
        name != model_config_name && !name.starts_with("model.safetensors") && !name.ends_with(".safetensors") &&
        !path_exists(to / name))
      fs::copy_file(entry.path(), to / name);
  }
}

void run(const QuantizeOptions& o) {
  require(!o.model.empty(), "--model: found none, expected the folder of a model, or the name of one that ships");
  require(!o.output.empty(), "--output: found none, expected the folder to write");
  const fs::path folder = find_model(o.model), output = o.output;
  std::error_code error;
  require(!fs::equivalent(folder, output, error), "--output: found the model's own folder, expected another one");
  require(!fs::exists(output, error) || fs::exists(output / "config.json", error) || fs::is_empty(output, error),
          "--output: found {}, which holds no model; expected a new folder, or one to replace", o.output);
  const std::unique_ptr<Model> model = load_model(folder, load_as(o.weights));
  // What an adapter and its base make together can be read by everybody, unless it is rounded as nobody else does.
  const bool adapter = is_adapter(folder), packed = !adapter || o.weights == "int8";
  const SaveOptions how = {.storage = o.weights == "bf16" ? DType::bf16 : DType::f32, .packed = packed};
  replace_folder(output, [&](const fs::path& fresh) {
    copy_others(folder, fresh);
    if (adapter) keep_files(base_of(folder), fresh);
    save_model(fresh, *model, how);
  });
  const auto megabytes = [](int64_t bytes) { return static_cast<double>(bytes) / 1e6; };
  fmt::print("{}: {} weights in {:.1f} MB, {:.1f} MB as f32\n", o.output, o.weights,
             megabytes(memory_of(*model, parse_precision(o.weights))), megabytes(memory_of(*model, Precision::f32)));
}

}  // namespace

extern const Verb quantize = {.name = "quantize",
                              .group = "use",
                              .help = "a model with weights of fewer bits: smaller, faster, ready to be read",
                              .examples =
                                  "fovea quantize my-model -o my-model-int8\n"
                                  "fovea quantize my-model -o my-model-bf16 --weights bf16\n"
                                  "fovea quantize my-lora -o my-merged --weights f32",
                              .run = [](const QuantizeOptions& o) { run(o); }};

}  // namespace fovea::verbs
