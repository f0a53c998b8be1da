#include "fovea/formats/whisper_file.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/formats/pickle.h"
#include "fovea/formats/torch_file.h"
#include "test_paths.h"

namespace fovea {
namespace {

const std::filesystem::path golden = std::filesystem::path(test_data) / "golden" / "whisper";

// tests/golden/make_whisper.py writes one model as both; in the .pt a matrix lies transposed.
TEST(WhisperFile, BothKindsHoldTheSameNumbers) {
  const auto ggml = open_whisper_file(golden / "tiny.bin"), torch = open_whisper_file(golden / "tiny.pt");
  EXPECT_EQ(ggml->sizes().text_layers, 1);
  EXPECT_EQ(ggml->sizes().vocabulary, torch->sizes().vocabulary);
  EXPECT_EQ(ggml->words().size(), 32u);
  EXPECT_EQ(ggml->words()[1], "b");
  ASSERT_EQ(ggml->names(), torch->names());
  for (const std::string& name : ggml->names())
    EXPECT_EQ(ggml->numbers(name).values<float>(), torch->numbers(name).values<float>()) << name;
  EXPECT_EQ(torch->type("encoder.conv1.weight"), "F16");
}

TEST(WhisperFile, IsKnownByItsBeginning) {
  EXPECT_TRUE(is_whisper_file(golden / "tiny.bin"));
  EXPECT_TRUE(is_whisper_file(golden / "tiny.pt"));
  EXPECT_FALSE(is_whisper_file(golden));
  EXPECT_FALSE(is_whisper_file(std::filesystem::path(test_data) / "golden" / "whisper.safetensors"));
}

TEST(WhisperFile, CutShortItIsAnError) {
  const std::string whole = read_text(golden / "tiny.bin");
  const auto path = std::filesystem::path(testing::TempDir()) / "cut.bin";
  for (size_t size : {3u, 20u, 60u, 200u, 1000u, static_cast<unsigned>(whole.size() - 1)}) {
    write_text(path, whole.substr(0, size));
    EXPECT_THROW(open_whisper_file(path), Error) << size;
  }
}

Pickle unpickled(std::string_view bytes) { return Pickle(bytes, "test"); }

TEST(Pickle, BuildsNumbersTextsAndDictionaries) {
  using namespace std::string_literals;
  const std::string bytes =
      "\x80\x02}q\x00("s + "X\x01\x00\x00\x00"s + "aK\x07"s + "X\x01\x00\x00\x00"s + "bM\x01\x02u."s;
  const Pickle p = unpickled(bytes);
  const auto& entries = p[p.root()].entries;
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(p[entries[0].first].text, "a");
  EXPECT_EQ(p[entries[0].second].integer, 7);
  EXPECT_EQ(p[entries[1].second].integer, 513);
}

// What a pickle could do to a machine: call a function, make an object, import by texts, or take things out of an extension registry.
TEST(Pickle, RefusesWhateverIsNoTensor) {
  using namespace std::string_literals;
  for (const std::string& evil :
       {"cos\nsystem\n(X\x02\x00\x00\x00lstR."s, "cposix\nsystem\n)R."s, "cbuiltins\neval\n)\x81."s, "(ios\nsystem\n."s,
        "\x8c\x02os\x8c\x06system\x93."s, "c__builtin__\nobject\n)R}b."s, "\x82\x01."s, "(o."s, "P1\n."s, "I1\n."s,
        "ctorch._utils\n_rebuild_tensor_v2\n)R."s, ""s, "."s, "R."s, "(t"s, "u."s, "h\x05."s, "K"s,
        "X\xff\xff\xff\xff"
        "a."s})
    EXPECT_THROW(unpickled(evil), Error) << evil;
}

TEST(TorchFile, WhatHoldsItselfEndsAnyhow) {
  using namespace std::string_literals;
  const auto path = std::filesystem::path(testing::TempDir()) / "self.pt";
  write_zip(path, {{"archive/data.pkl", "}q\x00X\x01\x00\x00\x00"s + "ah\x00s."s}});
  EXPECT_THROW(TorchFile{path}, Error);
  write_zip(path, {{"archive/other", "x"}});
  EXPECT_THROW(TorchFile{path}, Error);
}

}  // namespace
}  // namespace fovea
