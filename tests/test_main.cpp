#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "fovea/kernels/simd.h"

namespace {

// testing::TempDir() is a folder of this process and those it starts, gone when it ends: tests that run at the same time may use the
// same names.
class OwnFolder final {
 public:
  OwnFolder() {
    if (std::getenv("TEST_TMPDIR")) return;
    path_ = (std::filesystem::temp_directory_path() / "fovea_tests_XXXXXX").string();
    if (!mkdtemp(path_.data()))
      throw std::filesystem::filesystem_error("mkdtemp", path_, {errno, std::generic_category()});
    setenv("TEST_TMPDIR", path_.c_str(), 1);
  }
  ~OwnFolder() {
    if (!path_.empty()) std::filesystem::remove_all(path_);
  }
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;

 private:
  std::string path_;
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (const char* wanted = std::getenv("FOVEA_SIMD")) fovea::use_simd(fovea::parse_simd(wanted));
  const OwnFolder folder;
  return RUN_ALL_TESTS();
}
