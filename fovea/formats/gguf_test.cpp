// Files made by the gguf package itself (tests/golden/make_gguf.py), damaged ones, and what we write read back.
#include "fovea/formats/gguf.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "fovea/base/file.h"
#include "test_paths.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;
const fs::path golden = fs::path(test_data) / "golden" / "gguf";

std::string error_of(auto&& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

bool same_bytes(const void* a, const void* b, int64_t bytes) {
  return std::memcmp(a, b, static_cast<size_t>(bytes)) == 0;
}

class GgufFile : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_ = fs::path(testing::TempDir()) / ("fovea_gguf_" + std::to_string(getpid()));

  std::string error_for(const std::string& bytes) {
    const fs::path path = folder_ / "bad.gguf";
    write_text(path, bytes);
    const std::string error = error_of([&] { Gguf{path}; });
    if (error != "no error") EXPECT_EQ(error.find(path.string()), 0u) << error;
    return error;
  }
};

// The parts of a file, for damaged ones.
template <class T>
std::string raw(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}
std::string raw_text(const std::string& text) { return raw(uint64_t{text.size()}) + text; }
std::string head(uint64_t tensors, uint64_t keys, uint32_t version = 3) {
  return "GGUF" + raw(version) + raw(tensors) + raw(keys);
}
std::string entry(const std::string& name, std::vector<uint64_t> sizes, uint32_t type, uint64_t offset) {
  std::string text = raw_text(name) + raw(static_cast<uint32_t>(sizes.size()));
  for (uint64_t size : sizes) text += raw(size);
  return text + raw(type) + raw(offset);
}
std::string with_numbers(std::string text, size_t bytes) {
  text.resize((text.size() + 31) / 32 * 32);
  return text + std::string(bytes, '\0');
}

TEST_F(GgufFile, GivesMetadataOfEveryType) {
  const Gguf file(golden / "blocks.gguf");
  EXPECT_EQ(file.integer("a.u8"), 200);
  EXPECT_EQ(file.integer("a.i8"), -3);
  EXPECT_EQ(file.integer("a.u16"), 60000);
  EXPECT_EQ(file.integer("a.i16"), -300);
  EXPECT_EQ(file.integer("a.u32"), 4000000000);
  EXPECT_EQ(file.integer("a.i32"), -70000);
  EXPECT_EQ(file.integer("a.u64"), int64_t{1} << 40);
  EXPECT_EQ(file.integer("a.i64"), -(int64_t{1} << 40));
  EXPECT_EQ(file.number("a.f32"), 0.5);
  EXPECT_EQ(file.number("a.f64"), 0.1);
  EXPECT_EQ(file.number("a.i8"), -3);
  EXPECT_TRUE(file.flag("a.flag"));
  EXPECT_EQ(file.text("a.text"), "Grüße");
  EXPECT_EQ(file.texts("a.texts"), (std::vector<std::string>{"", "a", "bc"}));
  EXPECT_EQ(file.integers("a.numbers"), (std::vector<int64_t>{1, -2, 3}));
  EXPECT_EQ(file.numbers("a.floats"), (std::vector<double>{0.25, -1}));
  EXPECT_EQ(file.integer("missing", 7), 7);
  EXPECT_EQ(file.text("missing", "x"), "x");
  EXPECT_NE(error_of([&] { file.integer("a.u9"); }).find("did you mean 'a.u"), std::string::npos);
  EXPECT_NE(error_of([&] { file.integer("a.text"); }).find("'a.text'"), std::string::npos);
  EXPECT_NE(error_of([&] { file.text("a.texts"); }).find("expected a text"), std::string::npos);
  EXPECT_NE(error_of([&] { file.flag("a.u8"); }).find("expected true or false"), std::string::npos);
}

TEST_F(GgufFile, BlocksStandForTheNumbersThatTheGgufPackageGives) {
  const Gguf file(golden / "blocks.gguf");
  for (BlockType type : block_types) {
    const std::string name(fovea::name(type));
    const BlockMatrix& blocks = file.blocks(name);
    EXPECT_EQ(blocks.type, type);
    const Tensor expected = file.tensor(name + ".numbers"), found = blocks.numbers();
    ASSERT_EQ(found.shape(), expected.shape());
    EXPECT_TRUE(same_bytes(found.data<float>(), expected.data<float>(), expected.elements() * 4)) << name;
  }
}

TEST_F(GgufFile, QuantisesToTheBytesThatTheGgufPackageGives) {
  const Gguf file(golden / "blocks.gguf");
  for (BlockType type : {BlockType::q8_0, BlockType::q5_0, BlockType::q4_0}) {
    const BlockMatrix expected = file.blocks("x." + std::string(name(type))), found = quantised(file.tensor("x"), type);
    ASSERT_EQ(found.shape, expected.shape);
    EXPECT_TRUE(same_bytes(found.memory.get(), expected.memory.get(), expected.bytes())) << name(type);
  }
  EXPECT_THROW(quantised(file.tensor("x"), BlockType::q4_K), Error);  // rows of 128
}

TEST_F(GgufFile, MapsPlainTensorsOutermostAxisFirst) {
  const Gguf file(golden / "blocks.gguf");
  EXPECT_EQ(file.shape("x"), (Shape{2, 128}));
  EXPECT_EQ(file.tensor("half").dtype(), DType::f16);
  EXPECT_EQ(file.tensor("half").shape(), (Shape{2, 4}));
  EXPECT_NEAR(file.numbers_of("half").values<float>()[5], file.tensor("x").values<float>()[129], 1e-3);
  file.forget("x");
  EXPECT_TRUE(file.has("x"));
  EXPECT_NE(error_of([&] { file.tensor("q4_K"); }).find("in blocks of q4_K"), std::string::npos);
  EXPECT_NE(error_of([&] { file.blocks("x"); }).find("plain F32"), std::string::npos);
  EXPECT_NE(error_of([&] { file.tensor("y"); }).find("did you mean"), std::string::npos);
}

TEST_F(GgufFile, ReadsBackWhatItWrote) {
  const Gguf given(golden / "blocks.gguf");
  GgufMetadata metadata = given.metadata();
  metadata["b"] = GgufValue::of(std::vector<std::string>{"x", ""});
  metadata["c"] = GgufValue::of(1.5f);
  write_gguf(folder_ / "again.gguf", metadata, given.tensors(), given.blocks());
  const Gguf again(folder_ / "again.gguf");
  EXPECT_EQ(again.metadata().size(), given.metadata().size() + 2);
  for (const auto& [key, value] : metadata) {
    EXPECT_EQ(again.metadata().at(key).bytes, value.bytes) << key;
    EXPECT_EQ(again.metadata().at(key).type, value.type) << key;
  }
  EXPECT_EQ(again.texts("b"), (std::vector<std::string>{"x", ""}));
  for (const auto& [name, tensor] : given.tensors())
    EXPECT_EQ(again.tensor(name).values<float>(), tensor.values<float>()) << name;
  for (const auto& [name, blocks] : given.blocks()) {
    EXPECT_EQ(again.shape(name), blocks.shape);
    EXPECT_TRUE(same_bytes(again.blocks(name).memory.get(), blocks.memory.get(), blocks.bytes())) << name;
  }
}

TEST_F(GgufFile, CutAnywhereItIsAnError) {
  const std::string whole = read_text(golden / "llama.gguf");
  const Gguf given(golden / "llama.gguf");
  for (size_t size = 0; size + 64 < whole.size(); size += 17)
    ASSERT_NE(error_for(whole.substr(0, size)), "no error") << size;
}

TEST_F(GgufFile, DamagedItIsAnErrorThatSaysWhat) {
  const auto has = [&](const std::string& bytes, const std::string& part) {
    const std::string error = error_for(bytes);
    EXPECT_NE(error.find(part), std::string::npos) << error;
  };
  const uint64_t huge = uint64_t{1} << 62;
  EXPECT_EQ(error_for(with_numbers(head(1, 0) + entry("x", {2, 3}, 0, 0), 24)), "no error");
  EXPECT_EQ(error_for(with_numbers(head(1, 0, 2) + entry("x", {32}, 8, 0), 34)), "no error");
  has("GGML" + std::string(40, '\0'), "expected a GGUF file");
  has(head(0, 0, 1), "version 1");
  has(head(0, 0, 0x03000000), "big-endian");
  has(head(huge, 0), "tensors, expected no more");
  has(head(0, huge), "keys, expected no more");
  has(head(0, 1) + raw(huge) + std::string(16, 0), "ends behind");
  has(head(0, 1) + raw_text("k") + raw(uint32_t{13}) + raw(huge), "of type 13");
  has(head(0, 1) + raw_text("k") + raw(uint32_t{9}) + raw(uint32_t{4}) + raw(huge), "expected no more");
  has(head(0, 1) + raw_text("k") + raw(uint32_t{9}) + raw(uint32_t{9}) + raw(huge), "list of lists");
  has(head(0, 1) + raw_text("k") + raw(uint32_t{9}) + raw(uint32_t{8}) + raw(uint64_t{1}) + raw(huge), "ends behind");
  has(head(0, 1) + raw_text("k") + raw(uint32_t{7}) + "\2", "neither true nor false");
  const std::string key = raw_text("k") + raw(uint32_t{0}) + "\1";
  has(head(0, 2) + key + key, "'k' stands there twice");
  has(head(0, 1) + raw_text("") + raw(uint32_t{0}) + "\1", "a key of 0 bytes");
  const std::string alignment = raw_text("general.alignment") + raw(uint32_t{4});
  has(head(0, 1) + alignment + raw(uint32_t{24}), "power of two");
  has(head(0, 1) + alignment + raw(uint32_t{0}), "power of two");
  has(with_numbers(head(2, 0) + entry("x", {8}, 0, 0) + entry("x", {8}, 0, 32), 64), "'x' stands there twice");
  has(with_numbers(head(2, 0) + entry("x", {9}, 0, 0) + entry("y", {8}, 0, 32), 64), "overlaps");
  has(with_numbers(head(1, 0) + entry("x", {8}, 0, 4), 64), "multiple of 32");
  has(with_numbers(head(1, 0) + entry("x", {8}, 0, huge), 64), "cut short");
  has(with_numbers(head(1, 0) + entry("x", {17}, 0, 0), 64), "cut short");
  has(with_numbers(head(1, 0) + entry("x", {huge, huge}, 0, 0), 64), "more numbers");
  has(with_numbers(head(1, 0) + entry("x", {33}, 8, 0), 64), "whole blocks of 32");
  has(with_numbers(head(1, 0) + entry("x", {0}, 0, 0), 64), "a size of 0");
  has(with_numbers(head(1, 0) + entry("x", {1, 1, 1, 1, 1}, 0, 0), 64), "at most 4");
  EXPECT_NE(error_of([&] { Gguf{folder_ / "missing.gguf"}; }).find("cannot open"), std::string::npos);
}

TEST_F(GgufFile, OtherTypesAreNamedWhenTheyAreAskedFor) {
  write_text(folder_ / "iq.gguf", with_numbers(head(1, 0) + entry("x", {256}, 20, 0), 256));
  const Gguf file(folder_ / "iq.gguf");
  EXPECT_EQ(file.skipped().at("x"), "iq4_nl");
  EXPECT_NE(error_of([&] { file.blocks("x"); }).find("type iq4_nl"), std::string::npos);
}

}  // namespace
}  // namespace fovea
