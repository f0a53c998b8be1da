#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "emulated_units.h"
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
  std::optional<fovea::EmulatedUnits> emulated;
  if (const char* wanted = std::getenv("FOVEA_SIMD")) {
    const fovea::Simd set = fovea::parse_simd(wanted);
    if (set == fovea::Simd::amx) emulated.emplace(fovea::kernels::Units{.tiles = true});
    fovea::use_simd(set);
  }
  const OwnFolder folder;
  return RUN_ALL_TESTS();
}
