#include "fovea/formats/disk_tensors.h"

#include <gtest/gtest.h>

#include "fovea/base/random.h"

namespace fovea {
namespace {

TEST(DiskTensors, PartsInAnyOrderMakeTheWhole) {
  const Tensor x = uniform({3, 5}, Random(1)), ids = arange(4);
  const std::map<std::string, DiskTensors::Entry> entries = {{"x", {DType::f32, {3, 5}}},
                                                             {"ids", {DType::i64, {4}}},
                                                             {"none", {DType::f32, {0, 2}}},
                                                             {"left", {DType::f32, {3}}}};
  for (const std::filesystem::path& folder :
       {std::filesystem::path(testing::TempDir()), std::filesystem::path("/proc")}) {
    NamedTensors all;
    {
      DiskTensors disk(folder, entries);
      for (const int64_t row : {2, 0, 1}) disk.write("x", row * 5, x.select(0, row));
      disk.write("ids", 2, ids.slice(0, 2, 4)), disk.write("ids", 0, ids.slice(0, 0, 2));
      EXPECT_THROW(disk.write("y", 0, x), Error);
      EXPECT_THROW(disk.write("x", 11, x.select(0, 0)), Error);
      EXPECT_THROW(disk.write("ids", 0, x.select(0, 0)), Error);
      all = disk.tensors();
    }
    EXPECT_EQ(all.at("x").values<float>(), x.values<float>());
    EXPECT_EQ(all.at("x").shape(), x.shape());
    EXPECT_EQ(all.at("ids").values<int64_t>(), ids.values<int64_t>());
    EXPECT_EQ(all.at("none").elements(), 0);
    EXPECT_EQ(all.at("left").values<float>(), (std::vector<float>{0, 0, 0}));
  }
}

}  // namespace
}  // namespace fovea
