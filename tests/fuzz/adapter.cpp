// adapter_config.json of others, beside tensors that are as they should be and a base that is there.
#include "fovea/base/file.h"
#include "fovea/models/adapter_folder.h"
#include "tests/fuzz/fuzz.h"

namespace {

struct Folders {
  Folders() {
    using namespace fovea;
    std::string made = (std::filesystem::temp_directory_path() / "fuzz_adapter_XXXXXX").string();
    if (!mkdtemp(made.data())) std::abort();
    root = made;
    std::filesystem::create_directories(root / "base");
    std::filesystem::create_directories(root / "adapter");
    write_text(root / "base/config.json", "{}");
    const std::string module = "base_model.model.layer.query.lora_";
    write_safetensors(root / "adapter/adapter_model.safetensors",
                      {{module + "A.weight", zeros({2, 3})}, {module + "B.weight", zeros({4, 2})}});
  }
  ~Folders() { std::filesystem::remove_all(root); }
  std::filesystem::path root;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  static const Folders folders;
  return fuzz_text({data, size}, [](std::string_view text) {
    write_text(folders.root / "adapter/adapter_config.json", text);
    AdapterFolder(folders.root / "adapter").facts();
  });
}
