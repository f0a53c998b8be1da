// `fovea quantize`: a model with weights of fewer bits, as the products read them; or as a GGUF file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/answers.h"
#include "cli/verb.h"
#include "fovea/base/file.h"
#include "fovea/base/folder.h"
#include "fovea/models/adapter_folder.h"
#include "fovea/models/gguf_export.h"
#include "fovea/models/stored_weights.h"
#include "fovea/models/zoo.h"
#include "fovea/train/load_to_learn.h"

namespace fovea::verbs {
namespace {

namespace fs = std::filesystem;

struct QuantizeOptions {
  static constexpr const char* positional = "model";
  std::string model, output, weights;

  void fields(Fields& f) {
    f("model", model,
      "the folder of a model, or of an adapter, which becomes one model with its base; the name of one that ships; or "
      "a "
      "GGUF file");
    f("output", output, "the folder to write, or a file that ends with .gguf");
    f("weights", weights,
      "what the weights become: of a folder int8 (if not given), bf16 or f32; of a GGUF file q8_0 (if not given), "
      "q4_0, "
      "q4_K, q6_K, f16, bf16 or f32");
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

double megabytes(int64_t bytes) { return static_cast<double>(bytes) / 1e6; }

void run_gguf(const QuantizeOptions& o, const fs::path& model) {
  std::error_code error;
  require(!fs::equivalent(model, o.output, error), "--output: found the model itself, expected another file");
  require(!is_folder(o.output), "--output: found {}, which is a folder, expected a file", o.output);
  const GgufWritten written = export_gguf(model, o.output,
                                          {.weights = o.weights.empty() ? "q8_0" : o.weights,
                                           .note = [](const auto& line) { fmt::print(stderr, "{}\n", line); }});
  std::vector<std::string> types;
  for (const auto& [type, count] : written.types) types.push_back(fmt::format("{} {}", count, type));
  fmt::print("{}: {:.1f} MB, {:.1f} MB as f32; tensors: {}\n", o.output, megabytes(written.bytes),
             megabytes(4 * written.numbers), fmt::join(types, ", "));
}

void run_folder(const QuantizeOptions& o, const fs::path& folder) {
  const std::string weights = o.weights.empty() ? "int8" : o.weights;
  const fs::path output = o.output;
  std::error_code error;
  require(is_folder(folder), "{}: found a GGUF file, expected an --output that ends with .gguf", folder.string());
  require(!fs::equivalent(folder, output, error), "--output: found the model's own folder, expected another one");
  require(!fs::exists(output, error) || fs::exists(output / "config.json", error) || fs::is_empty(output, error),
          "--output: found {}, which holds no model; expected a new folder, or one to replace", o.output);
  const std::unique_ptr<Model> model = load_model(folder, load_as(weights));
  // What an adapter and its base make together can be read by everybody, unless it is rounded as nobody else does.
  const bool adapter = is_adapter(folder), packed = !adapter || weights == "int8";
  const SaveOptions how = {.storage = weights == "bf16" ? DType::bf16 : DType::f32, .packed = packed};
  replace_folder(output, [&](const fs::path& fresh) {
    copy_others(folder, fresh);
    if (adapter) keep_files(base_of(folder), fresh);
    save_model(fresh, *model, how);
  });
  fmt::print("{}: {} weights in {:.1f} MB, {:.1f} MB as f32\n", o.output, weights,
             megabytes(memory_of(*model, parse_precision(weights))), megabytes(memory_of(*model, Precision::f32)));
}

void run(const QuantizeOptions& o) {
  require(!o.model.empty(), "--model: found none, expected the folder of a model, or the name of one that ships");
  require(!o.output.empty(), "--output: found none, expected the folder to write");
  const fs::path model = find_model(o.model);
  is_gguf(o.output) ? run_gguf(o, model) : run_folder(o, model);
}

}  // namespace

extern const Verb quantize = {.name = "quantize",
                              .group = "use",
                              .help = "a model with weights of fewer bits: smaller, faster, ready to be read",
                              .examples =
                                  "fovea quantize my-model -o my-model-int8\n"
                                  "fovea quantize my-model -o my-model-bf16 --weights bf16\n"
                                  "fovea quantize my-lora -o my-merged --weights f32\n"
                                  "fovea quantize my-language-model -o my-language-model.gguf --weights q4_K",
                              .run = [](const QuantizeOptions& o) { run(o); }};

}  // namespace fovea::verbs
