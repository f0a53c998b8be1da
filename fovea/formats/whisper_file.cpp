#include "fovea/formats/whisper_file.h"

#include <cstring>
#include <fstream>
#include <limits>
#include <map>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/formats/block_matrix.h"
#include "fovea/formats/gguf_types.h"
#include "fovea/formats/torch_file.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;
constexpr uint32_t ggml_magic = 0x67676d6c;

// ggml: magic; eleven sizes; the filters of pitch; words; then tensors up to the end, each with its axes, name and type before it.
class GgmlWhisper final : public WhisperFile {
 public:
  explicit GgmlWhisper(const fs::path& path) : file_(path), where_(path.string()) {
    if (read<uint32_t>() != ggml_magic) fail("found another beginning than ggml's");
    read_sizes();
    skip_filters();
    read_words();
    while (at_ < file_.bytes().size()) read_tensor();
  }

  const WhisperSizes& sizes() const override { return sizes_; }
  std::vector<std::string> words() const override { return words_; }
  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const auto& [name, entry] : tensors_) names.push_back(name);
    return names;
  }
  Shape shape(const std::string& name) const override { return entry(name).shape; }
  std::string type(const std::string& name) const override { return name_of_stored(entry(name).type); }
  int64_t bytes(const std::string& name) const override { return static_cast<int64_t>(entry(name).bytes); }
  // Behind a name of any length nothing is aligned: the numbers are copied.
  Tensor numbers(const std::string& name) const override {
    const Entry& e = entry(name);
    const std::byte* from = file_.bytes().data() + e.begin;
    if (const auto blocks = blocks_of_stored(e.type)) {
      Tensor memory({static_cast<int64_t>(e.bytes)}, DType::i8);
      std::memcpy(memory.bytes(), from, e.bytes);
      return BlockMatrix{*blocks, e.shape, std::shared_ptr<const std::byte>(std::shared_ptr<void>(), memory.bytes())}
          .numbers();
    }
    Tensor numbers(e.shape, *dtype_of_stored(e.type));
    std::memcpy(numbers.bytes(), from, e.bytes);
    return numbers;
  }

 private:
  struct Entry {
    Shape shape;
    uint32_t type = 0;
    size_t begin = 0, bytes = 0;
  };

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(Error::corrupt, "{}: at byte {}: {}; the download was probably cut short", where_, at_, what);
  }
  const std::byte* take(uint64_t count) {
    if (count > file_.bytes().size() - at_) fail(fmt::format("expected {} more bytes", count));
    const std::byte* begin = file_.bytes().data() + at_;
    at_ += count;
    return begin;
  }
  template <class T>
  T read() {
    T value;
    std::memcpy(&value, take(sizeof(T)), sizeof(T));
    return value;
  }
  int64_t count(int64_t most) {
    const auto found = read<int32_t>();
    if (found < 0 || found > most) fail(fmt::format("found a count of {}, expected 0 to {}", found, most));
    return found;
  }

  void read_sizes() {
    constexpr int64_t most = 1 << 24;
    for (int64_t* size :
         {&sizes_.vocabulary, &sizes_.audio_states, &sizes_.audio_width, &sizes_.audio_heads, &sizes_.audio_layers,
          &sizes_.text_tokens, &sizes_.text_width, &sizes_.text_heads, &sizes_.text_layers, &sizes_.bands})
      *size = count(most);
    read<int32_t>();  // what most tensors are stored as: each says it itself
  }
  void skip_filters() {
    const int64_t bands = count(1 << 16), frequencies = count(1 << 20);
    take(static_cast<uint64_t>(bands * frequencies) * sizeof(float));
  }
  void read_words() {
    const int64_t words = count(1 << 24);
    for (int64_t i = 0; i < words; ++i) {
      const auto length = static_cast<size_t>(count(1 << 20));
      words_.emplace_back(reinterpret_cast<const char*>(take(length)), length);
    }
  }

  void read_tensor() {
    const int64_t axes = count(4), length = count(1 << 10);
    const uint32_t type = read<uint32_t>();
    const std::optional<Block> block = block_of_stored(type);
    if (!block || (!dtype_of_stored(type) && !blocks_of_stored(type)))
      throw Error(Error::unsupported, "{}: found a tensor of type {}, expected floats or blocks of whole numbers",
                  where_, name_of_stored(type));
    std::vector<int64_t> sizes(static_cast<size_t>(axes));
    int64_t elements = 1;
    for (size_t i = sizes.size(); i-- > 0;) {
      sizes[i] = count(std::numeric_limits<int32_t>::max());
      if (sizes[i] > 0 && elements > std::numeric_limits<int64_t>::max() / 64 / sizes[i]) fail("found a huge tensor");
      elements *= sizes[i];
    }
    const std::string name(reinterpret_cast<const char*>(take(static_cast<uint64_t>(length))),
                           static_cast<size_t>(length));
    Shape shape;
    for (int64_t size : sizes) shape.push_back(size);
    if (elements == 0 || (shape.rank() > 0 && shape[-1] % block->numbers != 0))
      fail(fmt::format("tensor '{}': found the shape {}", name, shape));
    const auto bytes = static_cast<size_t>(elements / block->numbers * block->bytes);
    const auto* begin = take(bytes);
    const Entry entry = {shape, type, static_cast<size_t>(begin - file_.bytes().data()), bytes};
    if (!tensors_.emplace(name, entry).second) fail(fmt::format("found the tensor '{}' twice", name));
  }

  const Entry& entry(const std::string& name) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) throw Error(Error::not_found, "{}: holds no tensor '{}'", where_, name);
    return found->second;
  }

  MappedFile file_;
  std::string where_;
  size_t at_ = 0;
  WhisperSizes sizes_;
  std::vector<std::string> words_;
  std::map<std::string, Entry> tensors_;
};

class TorchWhisper final : public WhisperFile {
 public:
  explicit TorchWhisper(const fs::path& path) : file_(path) {
    const auto size = [&](const char* name) {
      const auto found = file_.integers().find(std::string("dims.") + name);
      if (found == file_.integers().end())
        throw Error(Error::corrupt, "{}: found no dims.{}, expected a Whisper of OpenAI's", path.string(), name);
      return found->second;
    };
    sizes_ = {size("n_vocab"),      size("n_mels"),        size("n_audio_ctx"), size("n_audio_state"),
              size("n_audio_head"), size("n_audio_layer"), size("n_text_ctx"),  size("n_text_state"),
              size("n_text_head"),  size("n_text_layer")};
  }

  const WhisperSizes& sizes() const override { return sizes_; }
  std::vector<std::string> words() const override { return {}; }
  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const auto& [name, entry] : file_.tensors())
      if (name.starts_with(prefix)) names.push_back(name.substr(prefix.size()));
    return names;
  }
  Shape shape(const std::string& name) const override { return entry(name).shape; }
  std::string type(const std::string& name) const override { return std::string(fovea::name(entry(name).type)); }
  int64_t bytes(const std::string& name) const override {
    return entry(name).shape.elements() * static_cast<int64_t>(size_of(entry(name).type));
  }
  Tensor numbers(const std::string& name) const override { return file_.numbers(std::string(prefix) + name); }

 private:
  static constexpr std::string_view prefix = "model_state_dict.";
  const TorchFile::Entry& entry(const std::string& name) const {
    const auto found = file_.tensors().find(std::string(prefix) + name);
    require(found != file_.tensors().end(), "whisper: found no tensor '{}'", name);
    return found->second;
  }

  TorchFile file_;
  WhisperSizes sizes_;
};

}  // namespace

bool is_whisper_file(const fs::path& path) {
  if (!path_exists(path) || is_folder(path)) return false;
  if (path.extension() == ".pt") return true;
  uint32_t magic = 0;
  std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(&magic), sizeof(magic));
  return magic == ggml_magic;
}

std::unique_ptr<WhisperFile> open_whisper_file(const fs::path& path) {
  if (path.extension() == ".pt") return std::make_unique<TorchWhisper>(path);
  return std::make_unique<GgmlWhisper>(path);
}

}  // namespace fovea
