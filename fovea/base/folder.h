// A folder that is only ever replaced as a whole: whenever the process or the machine stops, a complete one is left.
//
//   replace_folder("my-model/last", [&](const std::filesystem::path& fresh) { write_text(fresh / "a.json", text); });
//   if (recover_folder("my-model/last")) …                    // true: there is one, and it is complete
#pragma once

#include <filesystem>
#include <functional>

namespace fovea {

// Writes beside, as FOLDER.new, brings it to the disk and exchanges the two in one step; what was there before is removed.
void replace_folder(const std::filesystem::path& folder,
                    const std::function<void(const std::filesystem::path& fresh)>& write);

// Finishes or takes back a replacement that was interrupted. False if there never was a folder.
bool recover_folder(const std::filesystem::path& folder);

// Keeps other processes out of a folder, which is made if need be, for as long as it lives; one that was made and stayed empty goes
// with it. An Error if another one has it, or if nothing can be written there.
class FolderLock final {
 public:
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  std::filesystem::path folder_;
  bool made_ = false;
  int descriptor_;
};

}  // namespace fovea
