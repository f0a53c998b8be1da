#include "fovea/data/datasets/pictures.h"

#include <algorithm>
#include <filesystem>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/datasets/byte_stream.h"
#include "fovea/data/image/image.h"
#include "fovea/data/text/lines.h"
#include "fovea/data/text/utf8.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t largest_file = uintmax_t{1} << 28;                         // bytes of one picture
constexpr int64_t most_pictures = 100'000'000, most_bytes = int64_t{1} << 36;  // of one IDX file

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (!it->path().filename().string().starts_with('.')) found.push_back(it->path());
  if (error) throw Error(Error::io, "{}: cannot be listed: {}", folder.string(), error.message());
  std::ranges::sort(found);
  return found;
}

void add_picture(const fs::path& path, const std::string& label, Dataset& into) {
  std::error_code error;
  const uintmax_t size = fs::file_size(path, error);
  if (error || size > largest_file)
    return into.add_bad(path.string(), "found no file of at most 256 MB, expected a picture");
  std::string bytes = read_text(path);
  try {
    parse_image(bytes_of(bytes), path.filename().string());
  } catch (const Error& e) {
    return into.add_bad(path.string(), e.what());
  }
  into.add({.source = std::move(bytes), .label = label});
}

void read_label_folders(const fs::path& folder, Dataset& into) {
  Reading reading(into, folder.string());
  int64_t labels = 0;
  for (const fs::path& label : sorted_entries(folder)) {
    if (!is_folder(label)) continue;
    ++labels;
    for (const fs::path& file : sorted_entries(label)) add_picture(file, label.filename().string(), into);
  }
  require(labels > 0,
          "{}: found no folders in it, expected one with pictures for each label, train-images-idx3-ubyte, or "
          "data_batch_1.bin",
          folder.string());
  reading.finish("a folder of PNG or JPEG files for each label");
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.rfind(from);
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// train-images-idx3-ubyte.gz: train-labels-idx1-ubyte.gz, or without .gz, or with it.
std::string labels_beside(const std::string& pictures) {
  const std::string name = fs::path(pictures).filename().string();
  std::string labels = replaced(replaced(name, "images", "labels"), "idx3", "idx1");
  require(labels != name, "{}: found no 'images' or 'idx3' in its name, by which its labels would be found", pictures);
  const fs::path folder = fs::path(pictures).parent_path();
  if (labels.ends_with(".gz")) labels.resize(labels.size() - 3);
  for (const std::string& ending : {std::string(".gz"), std::string()})
    if (path_exists(folder / (labels + ending))) return (folder / (labels + ending)).string();
  throw Error(Error::not_found, "{}: found no {} beside it, expected the labels of its pictures there", pictures,
              labels);
}

uint32_t take_head(ByteStream& file, uint32_t dimensions) {
  const uint32_t mark = file.take_number();
  if (mark != 0x800 + dimensions)
    throw Error(Error::corrupt,
                "{}: found the first bytes {:08x}, expected {:08x}: an IDX file of bytes in {} dimension{}",
                file.path(), mark, 0x800 + dimensions, dimensions, dimensions == 1 ? "" : "s");
  return file.take_number();
}

void require_end(ByteStream& file, int64_t count) {
  if (!file.ended())
    throw Error(Error::corrupt, "{}: found bytes behind the last of its {} entries, expected the end", file.path(),
                count);
}

std::vector<std::string> names_beside(const std::string& batch) {
  const fs::path file = fs::path(batch).parent_path() / "batches.meta.txt";
  std::vector<std::string> names;
  if (!path_exists(file)) return names;
  Lines lines(file.string());
  for (std::string line; lines.next(line);)
    if (!trim(line).empty()) names.emplace_back(trim(line));
  return names;
}

}  // namespace

void read_idx(const std::string& pictures, const std::string& labels, Dataset& into) {
  Reading reading(into, pictures);
  ByteStream file(pictures), names(labels);
  const int64_t count = take_head(file, 3), height = file.take_number(), width = file.take_number();
  const int64_t named = take_head(names, 1);
  check_picture_size(width, height, pictures);
  require(count <= most_pictures && count <= most_bytes / (width * height),
          "{}: found {} pictures of {} × {}, expected at most {} and {} GB", pictures, count, width, height,
          most_pictures, most_bytes >> 30);
  if (named != count)
    throw Error(Error::corrupt, "{}: found {} labels, expected {} as in {}", labels, named, count, pictures);
  Image picture = {width, height, 1, {}};
  for (int64_t i = 0; i < count; ++i) {
    const std::string grey_levels = file.take(static_cast<size_t>(width * height));
    picture.pixels.assign(grey_levels.begin(), grey_levels.end());
    into.add({.source = pnm_bytes(picture), .label = std::to_string(static_cast<unsigned char>(names.take(1)[0]))});
  }
  require_end(file, count), require_end(names, count);
  reading.file.columns = fmt::format("{} × {}, labels of {}", width, height, labels);
  reading.finish("pictures");
}

void read_cifar(const std::string& path, const std::vector<std::string>& names, Dataset& into) {
  constexpr int64_t edge = 32, plane = edge * edge;
  Reading reading(into, path);
  ByteStream file(path);
  Image picture = {edge, edge, 3, std::vector<uint8_t>(3 * plane)};
  for (int64_t i = 0; !file.ended(); ++i) {
    const std::string record = file.take(1 + 3 * plane);
    const auto label = static_cast<unsigned char>(record[0]);
    if (label > 9)
      throw Error(Error::corrupt, "{}: found the label {} of picture {}, expected 0 to 9: a batch of CIFAR-10", path,
                  label, i);
    for (int64_t p = 0; p < plane; ++p)
      for (int64_t c = 0; c < 3; ++c)
        picture.pixels[static_cast<size_t>(3 * p + c)] =
            static_cast<uint8_t>(record[static_cast<size_t>(1 + c * plane + p)]);
    into.add({.source = pnm_bytes(picture), .label = label < names.size() ? names[label] : std::to_string(label)});
  }
  reading.finish("pictures of 3073 bytes each");
}

void read_pictures(const std::string& path, Dataset& into) {
  if (!is_folder(path)) {
    if (!path_exists(path)) throw Error(Error::not_found, "{}: is not there", path);
    if (path.ends_with(".bin") || path.ends_with(".bin.gz")) return read_cifar(path, names_beside(path), into);
    return read_idx(path, labels_beside(path), into);
  }
  for (const char* name : {"train-images-idx3-ubyte.gz", "train-images-idx3-ubyte", "train-images.idx3-ubyte"})
    if (const fs::path file = fs::path(path) / name; path_exists(file))
      return read_idx(file.string(), labels_beside(file.string()), into);
  std::vector<std::string> batches;
  for (const fs::path& file : sorted_entries(path))
    if (const std::string name = file.filename().string();
        name.starts_with("data_batch_") && (name.ends_with(".bin") || name.ends_with(".bin.gz")))
      batches.push_back(file.string());
  if (batches.empty()) return read_label_folders(path, into);
  for (const std::string& batch : batches) read_cifar(batch, names_beside(batch), into);
}

}  // namespace fovea
