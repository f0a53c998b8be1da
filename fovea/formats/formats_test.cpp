// Files made by NumPy and safetensors themselves (tests/golden/make_formats.py), damaged files, and what we write read
// back.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "fovea/base/file.h"
#include "fovea/formats/npy.h"
#include "fovea/formats/tensors.h"
#include "test_paths.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;
const fs::path golden = fs::path(test_data) / "golden" / "formats";
const std::vector<float> grid = {-2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f};

class Formats : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_ = fs::path(testing::TempDir()) / ("fovea_formats_" + std::to_string(getpid()));

  // A safetensors file with this header and so many bytes of numbers behind it.
  fs::path with_header(const std::string& header, size_t bytes, uint64_t claimed = 0) {
    fs::path path = folder_ / "bad.safetensors";
    uint64_t length = claimed ? claimed : header.size();
    std::string text(reinterpret_cast<const char*>(&length), 8);
    write_text(path, text + header + std::string(bytes, '\0'));
    return path;
  }
};

std::string error_of(auto&& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST_F(Formats, ReadsWhatSafetensorsWrote) {
  SafeTensors file(golden / "plain.safetensors");
  EXPECT_EQ(file["grid"].values<float>(), grid);
  EXPECT_EQ(file["grid"].shape(), (Shape{2, 3}));
  EXPECT_EQ(file["half"].dtype(), DType::f16);
  EXPECT_EQ(file["half"].values<float>(), grid);
  EXPECT_EQ(file["ids"].values<int64_t>(), (std::vector<int64_t>{1, -2, 3}));
  EXPECT_EQ(file["scalar"].item(), 7.25);
  EXPECT_EQ(file.metadata().at("made_by"), "numpy");
  EXPECT_NE(error_of([&] { file["grit"]; }).find("did you mean 'grid'?"), std::string::npos);
}

TEST_F(Formats, ReadsShardsThroughTheIndexAndTheFolder) {
  for (const fs::path& path : {golden / "model.safetensors.index.json", golden}) {
    SafeTensors file(path);
    EXPECT_EQ(file["a"].values<float>(), (std::vector<float>{1, 2}));
    EXPECT_EQ(file["b"].values<float>(), (std::vector<float>{3, 4}));
  }
}

TEST_F(Formats, ReadsWhatNumPyWrote) {
  EXPECT_EQ(read_npy(golden / "grid.npy").values<float>(), grid);
  EXPECT_EQ(read_npy(golden / "fortran.npy").values<float>(), grid);
  EXPECT_EQ(read_npy(golden / "fortran.npy").shape(), (Shape{2, 3}));
  EXPECT_EQ(read_npy(golden / "bytes.npy").values<int64_t>(), (std::vector<int64_t>{0, 200, 255}));
  EXPECT_NE(error_of([&] { read_npy(golden / "big_endian.npy"); }).find("expected little-endian"), std::string::npos);
  NamedTensors stored = read_npz(golden / "stored.npz"), compressed = read_npz(golden / "compressed.npz");
  EXPECT_EQ(stored.at("grid").values<float>(), grid);
  EXPECT_EQ(stored.at("ids").values<int64_t>(), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(compressed.at("half").values<float>(), grid);
  EXPECT_EQ(compressed.at("mask").values<int8_t>(), (std::vector<int8_t>{1, 0}));
}

TEST_F(Formats, EveryFormatReadsBackWhatItWrote) {
  NamedTensors tensors = {{"x", tensor({2, 3}, grid).transpose(0, 1)},
                          {"ids", tensor({2}, std::vector<int64_t>{7, -1})},
                          {"half", tensor({2, 3}, grid).to(DType::bf16)},
                          {"none", zeros({0, 4})},
                          {"ä \"quoted\"", tensor({}, std::vector<double>{0.1})}};
  for (const char* name : {"t.safetensors", "t.npz"}) {
    write_tensors(folder_ / name, tensors);
    NamedTensors read = read_tensors(folder_ / name);
    ASSERT_EQ(read.size(), tensors.size());
    for (const auto& [key, value] : tensors) {
      EXPECT_EQ(read.at(key).shape(), value.shape()) << key;
      EXPECT_EQ(read.at(key).values<double>(), value.values<double>()) << key;
    }
  }
  write_tensors(folder_ / "x.npy", {{"x", tensors.at("x")}});
  EXPECT_EQ(read_tensors(folder_ / "x.npy").at("x").values<float>(), tensors.at("x").values<float>());
  EXPECT_THROW(write_tensors(folder_ / "x.npy", tensors), Error);
  EXPECT_THROW(write_tensors(folder_ / "x.pt", tensors), Error);
}

TEST_F(Formats, DamagedSafetensorsAreErrorsThatSayWhat) {
  auto error = [&](const std::string& header, size_t bytes, uint64_t claimed = 0) {
    return error_of([&] { SafeTensors(with_header(header, bytes, claimed)); });
  };
  auto entry = [](const std::string& shape, const std::string& offsets, const std::string& type = "F32") {
    return R"({"x":{"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
  };
  EXPECT_EQ(error(entry("[2]", "[0,8]"), 8), "no error");
  EXPECT_NE(error(entry("[2]", "[0,8]"), 7).find("was probably cut short"), std::string::npos);
  EXPECT_NE(error(entry("[3]", "[0,8]"), 12).find("expected 12 for F32 [3]"), std::string::npos);
  EXPECT_NE(error(entry("[4294967296,4294967296]", "[0,8]"), 8).find("no more bytes than the file has"),
            std::string::npos);
  EXPECT_NE(error(entry("[-1]", "[0,8]"), 8).find("expected counts for shape"), std::string::npos);
  EXPECT_NE(error(entry("[2]", "[8,0]"), 8).find("a begin and an end"), std::string::npos);
  EXPECT_NE(error("{}", 0, ~uint64_t{0}).find("not safetensors or was cut short"), std::string::npos);
  EXPECT_NE(error("{]", 0).find("not valid JSON"), std::string::npos);
  EXPECT_NE(error(R"({"x":3})", 0), "no error");
  EXPECT_NE(
      error(
          R"({"x":{"dtype":"I8","shape":[2],"data_offsets":[0,2]},"y":{"dtype":"I8","shape":[2],"data_offsets":[1,3]}})",
          3)
          .find("overlap"),
      std::string::npos);
  EXPECT_NE(error_of([&] { SafeTensors(folder_ / "missing.safetensors"); }).find("cannot open"), std::string::npos);
}

// What the format itself demands: the tensors cover the bytes behind the header, once.
TEST_F(Formats, EveryByteOfSafetensorsBelongsToOneTensor) {
  auto error = [&](const std::string& x, const std::string& y, size_t bytes) {
    const auto entry = [](const std::string& name, const std::string& offsets) {
      return "\"" + name + R"(":{"dtype":"I8","shape":[2],"data_offsets":)" + offsets + "}";
    };
    return error_of([&] { SafeTensors(with_header("{" + entry("x", x) + "," + entry("y", y) + "}", bytes)); });
  };
  EXPECT_EQ(error("[0,2]", "[2,4]", 4), "no error");
  EXPECT_EQ(error("[2,4]", "[0,2]", 4), "no error");
  EXPECT_NE(error("[1,3]", "[3,5]", 5).find("bytes 0 to 1 belong to no tensor"), std::string::npos);
  EXPECT_NE(error("[0,2]", "[3,5]", 5).find("bytes 2 to 3 belong to no tensor"), std::string::npos);
  EXPECT_NE(error("[0,2]", "[2,4]", 5).find("bytes 4 to 5 belong to no tensor"), std::string::npos);
  EXPECT_NE(error("[0,2]", "[1,3]", 3).find("overlap at byte 1"), std::string::npos);
  EXPECT_NE(error("[0,2]", "[0,2]", 2).find("overlap at byte 0"), std::string::npos);
  EXPECT_NE(error_of([&] { SafeTensors(with_header("{}", 1)); }).find("belong to no tensor"), std::string::npos);
}

TEST_F(Formats, OtherTypesAreSkippedUntilAskedFor) {
  for (const char* type : {"U8", "BOOL", "I16", "I32", "U16", "U32", "U64", "F8_E4M3", "F8_E5M2", "F4", "new"}) {
    const SafeTensors file(with_header(fmt::format(R"({{"x":{{"dtype":"F32","shape":[1],"data_offsets":[0,4]}},)"
                                                   R"("mask":{{"dtype":"{}","shape":[2],"data_offsets":[4,6]}}}})",
                                                   type),
                                       6));
    EXPECT_EQ(file["x"].item(), 0.0);
    EXPECT_EQ(file.tensors().size(), 1u);
    EXPECT_EQ(file.skipped(), (std::map<std::string, std::string>{{"mask", type}}));
    EXPECT_NE(error_of([&] { file["mask"]; }).find(fmt::format("tensor 'mask' has type {}", type)), std::string::npos);
  }
}

TEST_F(Formats, HeadersThatOverflowOrHide) {
  const auto error = [&](const std::string& header) { return error_of([&] { SafeTensors(with_header(header, 0)); }); };
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_NE(error(R"({"__metadata__":)" + deep + "}").find("nested more than 100 deep"), std::string::npos);
  EXPECT_NE(error(std::string("{}\0", 3)).find("NUL"), std::string::npos);
  EXPECT_NE(error("{} {}").find("not valid JSON"), std::string::npos);
  EXPECT_EQ(error("{}      "), "no error");
  const std::string entry = R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})";
  EXPECT_NE(error("{\"\xff" + entry).find("not valid JSON"), std::string::npos);
  EXPECT_NE(error("{\"a\\u0000b" + entry).find("NUL in the name of tensor 'a\\x00b'"), std::string::npos);
  EXPECT_EQ(error("{\"ä" + entry), "no error");
}

TEST_F(Formats, EveryTruncationAndEveryFlippedByteIsAnErrorOrATensor) {
  for (const char* name : {"plain.safetensors", "grid.npy", "fortran.npy", "compressed.npz", "stored.npz"}) {
    std::string bytes = read_text(golden / name);
    fs::path copy = folder_ / (std::string("copy") + fs::path(name).extension().string());
    for (size_t i = 0; i < bytes.size(); ++i) {
      std::ofstream(copy, std::ios::binary) << bytes.substr(0, i);
      EXPECT_NE(error_of([&] { read_tensors(copy); }), "no error") << name << " cut to " << i;
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << (i % 8)));
      std::ofstream(copy, std::ios::binary) << flipped;
      error_of([&] {
        for (const auto& [key, value] : read_tensors(copy)) value.values<double>();
      });
    }
  }
}

}  // namespace
}  // namespace fovea
