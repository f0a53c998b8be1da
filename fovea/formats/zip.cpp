#include "fovea/formats/zip.h"

#include <zip.h>

#include "fovea/base/error.h"
#include "fovea/base/file.h"

namespace fovea {
namespace {

// Deflate turns at best 258 bytes into two bits.
constexpr uint64_t most_ratio = 1032;

[[noreturn]] void fail(std::string_view where, Error::Kind kind, zip_error_t* error) {
  std::string text = zip_error_strerror(error);
  zip_error_fini(error);
  throw Error(kind, "{}: {}", where, text);
}

}  // namespace

ZipArchive::ZipArchive(const std::filesystem::path& path) : where_(path.string()), archive_(nullptr) {
  int code = 0;
  archive_ = zip_open(path.c_str(), ZIP_RDONLY, &code);
  if (archive_) return;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  fail(where_, code == ZIP_ER_NOENT ? Error::not_found : Error::corrupt, &error);
}

ZipArchive::~ZipArchive() { zip_discard(archive_); }

std::vector<std::string> ZipArchive::names() const {
  std::vector<std::string> result;
  for (zip_int64_t i = 0; i < zip_get_num_entries(archive_, 0); ++i) {
    const char* name = zip_get_name(archive_, static_cast<zip_uint64_t>(i), 0);
    if (name) result.emplace_back(name);
  }
  return result;
}

std::string ZipArchive::read(const std::string& name) const {
  zip_stat_t status;
  if (zip_stat(archive_, name.c_str(), 0, &status) != 0)
    throw Error(Error::not_found, "{}: holds no '{}'", where_, name);
  std::error_code failure;
  const uint64_t archive_bytes = std::filesystem::file_size(where_, failure);
  if (failure || status.comp_size > archive_bytes || status.size / most_ratio > status.comp_size) {
    throw Error(Error::corrupt, "{}: '{}' claims {} bytes in {}", where_, name, status.size, status.comp_size);
  }
  zip_file_t* file = zip_fopen(archive_, name.c_str(), 0);
  if (!file) throw Error(Error::corrupt, "{}: '{}': {}", where_, name, zip_strerror(archive_));
  std::string bytes(status.size, '\0');
  zip_int64_t count = zip_fread(file, bytes.data(), bytes.size());
  zip_fclose(file);
  if (count != static_cast<zip_int64_t>(bytes.size())) {
    throw Error(Error::corrupt, "{}: '{}' is damaged: found {} bytes, expected {}", where_, name, count, bytes.size());
  }
  return bytes;
}

ZipStream::ZipStream(const ZipArchive& archive, const std::string& name)
    : where_(archive.where_ + ":" + name), file_(zip_fopen(archive.archive_, name.c_str(), 0)) {
  if (file_) return;
  const bool missing = zip_name_locate(archive.archive_, name.c_str(), 0) < 0;
  throw Error(missing ? Error::not_found : Error::corrupt, "{}: {}", where_, zip_strerror(archive.archive_));
}

ZipStream::~ZipStream() { zip_fclose(file_); }

size_t ZipStream::read(char* into, size_t size) {
  const zip_int64_t count = zip_fread(file_, into, size);
  if (count < 0) throw Error(Error::corrupt, "{}: damaged or cut zip: {}", where_, zip_file_strerror(file_));
  return static_cast<size_t>(count);
}

// Built in memory, so that the file on disk appears at once or not at all.
void write_zip(const std::filesystem::path& path, const std::vector<std::pair<std::string, std::string>>& entries) {
  const std::string where = path.string();
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* target = zip_source_buffer_create(nullptr, 0, 0, &error);
  if (!target) fail(where, Error::io, &error);
  zip_t* archive = zip_open_from_source(target, ZIP_TRUNCATE, &error);
  if (!archive) {
    zip_source_free(target);
    fail(where, Error::io, &error);
  }
  zip_source_keep(target);
  bool good = true;
  for (const auto& [name, bytes] : entries) {
    zip_source_t* source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
    zip_int64_t index = source ? zip_file_add(archive, name.c_str(), source, ZIP_FL_ENC_UTF_8) : -1;
    if (source && index < 0) zip_source_free(source);
    good =
        good && index >= 0 && zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0) == 0;
  }
  if (!good || zip_close(archive) != 0) {
    zip_discard(archive);
    zip_source_free(target);
    throw Error(Error::io, "{}: cannot be made into a zip", where);
  }
  zip_stat_t status;
  zip_stat_init(&status);
  zip_source_stat(target, &status);
  std::string bytes(status.size, '\0');
  zip_source_open(target);
  zip_source_read(target, bytes.data(), bytes.size());
  zip_source_close(target);
  zip_source_free(target);
  write_text(path, bytes);
}

}  // namespace fovea
