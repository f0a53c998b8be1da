#include "fovea/base/folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "fovea/base/error.h"
#include "fovea/base/file.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const char* action) {
  throw Error(Error::io, "{}: cannot {}: {}", path.string(), action, std::strerror(errno));
}

fs::path beside(const fs::path& folder, const char* ending) { return fs::path(folder.string() + ending); }

void sync(const fs::path& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail(path, "open");
  const int result = fsync(descriptor);
  close(descriptor);
  if (result != 0) fail(path, "write");
}

void sync_all(const fs::path& folder) {
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) sync(entry.path());
  sync(folder);
}

void rename_to(const fs::path& from, const fs::path& to) {
  if (rename(from.c_str(), to.c_str()) != 0) fail(to, "rename to");
}

// Where the file system cannot exchange two names, the folder's own is missing for a moment; recover_folder() knows.
void exchange(const fs::path& fresh, const fs::path& folder) {
  if (renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) == 0) return;
  if (errno != EINVAL && errno != ENOSYS) fail(folder, "rename to");
  const fs::path old = beside(folder, ".old");
  fs::remove_all(old);
  rename_to(folder, old);
  rename_to(fresh, folder);
  fs::remove_all(old);
}

// Where an exchange was interrupted, the old folder gets its name back.
bool restore(const fs::path& folder) {
  const fs::path old = beside(folder, ".old");
  std::error_code failure;
  if (!fs::exists(folder, failure) && fs::exists(old, failure)) rename_to(old, folder);
  return fs::exists(folder, failure);
}

}  // namespace

void replace_folder(const fs::path& folder, const std::function<void(const fs::path& fresh)>& write) {
  const fs::path fresh = beside(folder, ".new");
  try {
    fs::remove_all(fresh);
    fs::create_directories(fresh);
    write(fresh);
    sync_all(fresh);
    if (restore(folder))
      exchange(fresh, folder);
    else
      rename_to(fresh, folder);
    sync(fs::absolute(folder).parent_path());
    fs::remove_all(fresh);
  } catch (const fs::filesystem_error& e) {
    throw Error(Error::io, "{}: cannot be written: {}", folder.string(), e.code().message());
  }
}

bool recover_folder(const fs::path& folder) {
  const bool found = restore(folder);
  std::error_code failure;
  for (const char* ending : {".new", ".old"}) fs::remove_all(beside(folder, ending), failure);
  return found;
}

FolderLock::FolderLock(const fs::path& folder) : folder_(folder) {
  std::error_code failure;
  made_ = fs::create_directories(folder, failure);
  if (failure) throw Error(Error::io, "{}: cannot be made: {}", folder.string(), failure.message());
  if (access(folder.c_str(), W_OK | X_OK) != 0) fail(folder, "be written to");
  descriptor_ = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ < 0) fail(folder, "open");
  if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  close(descriptor_);
  throw Error(Error::io, "{}: another process is writing into it; wait for its end, or choose another folder",
              folder.string());
}

FolderLock::~FolderLock() {
  if (made_) rmdir(folder_.c_str());  // which leaves one that holds something
  close(descriptor_);
}

}  // namespace fovea
