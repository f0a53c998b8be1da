#include "fovea/data/text/lines.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "fovea/base/error.h"
#include "fovea/data/text/utf8.h"
#include "fovea/formats/zip.h"

namespace fovea {
namespace {

constexpr size_t chunk = size_t{1} << 16;
constexpr std::string_view gzip_mark("\x1f\x8b", 2), zip_mark("PK\x03\x04", 4), empty_zip_mark("PK\x05\x06", 4);

bool passed_over(const std::string& name) {
  const std::string last = name.substr(name.rfind('/', name.size() - 2) + 1);
  return name.ends_with('/') || last.starts_with('_') || last.starts_with('.') || name.starts_with("__MACOSX/");
}

std::string chosen_member(const std::string& path) {
  std::vector<std::string> names = ZipArchive(path).names(), left;
  for (const std::string& name : names) {
    if (!passed_over(name)) left.push_back(name);
  }
  if (left.size() == 1) return left[0];
  std::string list;
  for (const std::string& name : left) list += (list.empty() ? "" : ", ") + name;
  if (left.empty()) throw Error(Error::invalid, "{}: found no file inside, expected one", path);
  throw Error(Error::invalid, "{}: found {}; say which, as in {}:{}", path, list, path, left[0]);
}

}  // namespace

class Lines::Source {
 public:
  virtual ~Source() = default;
  virtual size_t read(char* into, size_t size) = 0;  // 0 at the end
  virtual bool ready() const { return true; }        // whether read() would not wait
};

namespace {

class Descriptor final : public Lines::Source {
 public:
  Descriptor(std::string name, int number, bool owned) : name_(std::move(name)), number_(number), owned_(owned) {}
  ~Descriptor() override {
    if (owned_) close(number_);
  }
  bool ready() const override {
    pollfd wanted = {number_, POLLIN, 0};
    return poll(&wanted, 1, 0) != 0;
  }
  size_t read(char* into, size_t size) override {
    for (;;) {
      const ssize_t count = ::read(number_, into, size);
      if (count >= 0) return static_cast<size_t>(count);
      if (errno != EINTR) throw Error(Error::io, "{}: cannot read: {}", name_, std::strerror(errno));
    }
  }

 private:
  std::string name_;
  int number_;
  bool owned_;
};

class Gzip final : public Lines::Source {
 public:
  Gzip(std::string name, int number) : name_(std::move(name)), file_(gzdopen(number, "rb")) {
    if (!file_) {
      close(number);
      throw Error(Error::io, "{}: cannot read", name_);
    }
  }
  ~Gzip() override { gzclose_r(file_); }
  size_t read(char* into, size_t size) override {
    const int count = gzread(file_, into, static_cast<unsigned>(size));
    int code = Z_OK;
    const char* text = gzerror(file_, &code);
    // A file that was cut gives its bytes first and only then, at what looks like the end, the error.
    if (count < 0 || (count == 0 && code != Z_OK && code != Z_STREAM_END)) {
      throw Error(Error::corrupt, "{}: damaged or cut gzip: {}", name_,
                  code == Z_BUF_ERROR ? "it ends too early" : text);
    }
    return static_cast<size_t>(count);
  }

 private:
  std::string name_;
  gzFile file_;
};

class Member final : public Lines::Source {
 public:
  Member(const std::string& path, const std::string& name) : archive_(path), stream_(archive_, name) {}
  size_t read(char* into, size_t size) override { return stream_.read(into, size); }

 private:
  ZipArchive archive_;
  ZipStream stream_;
};

std::unique_ptr<Lines::Source> open_source(const std::string& name) {
  if (name == "-") return std::make_unique<Descriptor>("stdin", STDIN_FILENO, false);
  std::error_code error;
  const size_t colon = name.rfind(".zip:");
  if (colon != std::string::npos && !std::filesystem::exists(name, error)) {
    return std::make_unique<Member>(name.substr(0, colon + 4), name.substr(colon + 5));
  }
  const int number = open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (number < 0) {
    throw Error(errno == ENOENT ? Error::not_found : Error::io, "{}: cannot open: {}", name, std::strerror(errno));
  }
  auto plain = std::make_unique<Descriptor>(name, number, true);
  require(!std::filesystem::is_directory(name, error), "{}: found a folder, expected a file", name);
  char bytes[4] = {};
  const ssize_t count = pread(number, bytes, sizeof bytes, 0);  // a pipe cannot be looked into and is taken as it is
  const std::string_view mark(bytes, count > 0 ? static_cast<size_t>(count) : 0);
  if (mark.starts_with(zip_mark) || mark == empty_zip_mark) {
    return std::make_unique<Member>(name, chosen_member(name));
  }
  if (mark.starts_with(gzip_mark)) return std::make_unique<Gzip>(name, dup(number));
  for (const char* ending : {".gz", ".zip"}) {
    if (count >= 0 && name.ends_with(ending)) throw Error(Error::corrupt, "{}: not a {} file", name, ending);
  }
  return plain;
}

}  // namespace

Lines::Lines(const std::string& path) : name_(path == "-" ? "stdin" : path), source_(open_source(path)) {}
Lines::~Lines() = default;
Lines::Lines(Lines&&) noexcept = default;
Lines& Lines::operator=(Lines&&) noexcept = default;

std::string Lines::where() const { return fmt::format("{}:{}", name_, number_); }

bool Lines::fill() {
  if (ended_) return false;  // a terminal would be asked again
  buffer_.erase(0, at_);
  at_ = 0;
  const size_t size = buffer_.size();
  buffer_.resize(size + chunk);
  const size_t count = source_->read(buffer_.data() + size, chunk);
  buffer_.resize(size + count);
  ended_ = count == 0;
  return !ended_;
}

bool Lines::ready() {
  while (buffer_.find('\n', at_) == std::string::npos) {
    if (!source_->ready()) return false;
    if (buffer_.size() - at_ > longest || !fill()) return true;
  }
  return true;
}

bool Lines::next(std::string& line) {
  size_t searched = 0, end;
  bool more = true;
  while ((end = buffer_.find('\n', at_ + searched)) == std::string::npos && more) {
    searched = buffer_.size() - at_;
    if (searched > longest) {
      throw Error(Error::invalid, "{}:{}: found a line of more than {} MB", name_, number_ + 1, longest >> 20);
    }
    more = fill();
  }
  if (end == std::string::npos && at_ == buffer_.size()) return false;
  const bool last = end == std::string::npos;
  if (last) end = buffer_.size();
  line.assign(buffer_, at_, end - at_);
  at_ = last ? end : end + 1;
  ++number_;
  if (line.ends_with('\r')) line.pop_back();
  if (number_ == 1 && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);  // the mark that Windows puts before UTF-8
  if (invalid_utf8(line) != std::string_view::npos) check_utf8(line, where());
  return true;
}

}  // namespace fovea
