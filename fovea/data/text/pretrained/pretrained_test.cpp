// Every kind of part that tokenizer.json has, and the vocabularies of well-known models, held to the libraries that made them
// (tests/golden/make_pretrained_tokenizers.py).
#include <gtest/gtest.h>
#include <zlib.h>

#include <nlohmann/json.hpp>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/data/text/pretrained/pre_tokenizer.h"
#include "fovea/data/text/pretrained/tokenizer_json.h"
#include "test_paths.h"

namespace fovea {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

const fs::path golden_folder = fs::path(test_data) / "golden" / "pretrained_tokenizers";

const Json& golden(const char* name) {
  static std::map<std::string, Json> files;
  const auto [file, fresh] = files.try_emplace(name);
  if (fresh) file->second = parse_json(read_text(golden_folder / name), name);
  return file->second;
}

std::vector<int64_t> flat(const std::vector<Span>& spans) {
  std::vector<int64_t> numbers;
  for (Span span : spans) numbers.insert(numbers.end(), {span.begin, span.end});
  return numbers;
}

class EveryPretrainedTokenizer : public testing::TestWithParam<std::string> {};

TEST_P(EveryPretrainedTokenizer, GivesTheIdsBytesAndTextsOfTheLibrary) {
  const Json &file = golden("tokenizers.json")[GetParam()], &expected = golden("golden.json")["tokenizers"][GetParam()];
  const Pipeline tokenizer(read_tokenizer_json(file.dump(), GetParam()));
  const Json& texts = golden("golden.json")["texts"];
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto text = texts[i].get<std::string>();
    const Json& row = expected["texts"][i];
    for (int turn = 0; turn < 2; ++turn) {  // the second time from the cache
      const Tokens tokens = tokenizer.encode(text);
      EXPECT_EQ(tokens.ids, row[0].get<std::vector<int64_t>>()) << i << ": " << text;
      EXPECT_EQ(flat(tokens.spans), row[1].get<std::vector<int64_t>>()) << i << ": " << text;
    }
    EXPECT_EQ(tokenizer.decode(row[0].get<std::vector<int64_t>>()), row[2].get<std::string>()) << i << ": " << text;
  }
  const Tokens a = tokenizer.encode("the ferry"), b = tokenizer.encode("a harbour");
  const Tokens one = tokenizer.frame(a);
  EXPECT_EQ(one.ids, expected["pair"][0].get<std::vector<int64_t>>());
  EXPECT_EQ(one.types, expected["pair"][1].get<std::vector<int64_t>>());
  if (!tokenizer.frames()) return;
  const Tokens both = tokenizer.frame(a, &b);
  EXPECT_EQ(both.ids, expected["pair"][2].get<std::vector<int64_t>>());
  EXPECT_EQ(both.types, expected["pair"][3].get<std::vector<int64_t>>());
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const auto& [name, file] : golden("tokenizers.json").items()) names.push_back(name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Pretrained, EveryPretrainedTokenizer, testing::ValuesIn(names()),
                         [](const auto& info) { return info.param; });

// As Python's json.dumps([value]) would have it.
uint32_t check(const Json& value) {
  const std::string text = Json::array({value}).dump();
  return static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size())));
}

// The vocabularies lie beside the checkout or not at all: they may not be copied into it.
class KnownVocabulary : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(shared_)) GTEST_SKIP() << shared_ << " is not there";
  }
  void compare(const char* name, const Tokenizer& tokenizer, bool all = true) {
    const Json &texts = golden("golden.json")["texts"], &expected = golden("known.json")[name];
    size_t row = 0;
    for (const Json& item : texts) {
      const auto text = item.get<std::string>();
      const auto has = [&](const char* part) { return text.find(part) != text.npos; };
      if (!all && (has("</s>") || has("<unk>") || has("<pad>") || has("abab"))) continue;
      const Tokens tokens = tokenizer.encode(text);
      const Json& sums = expected.at(row++);
      EXPECT_EQ(check(tokens.ids), sums[0].get<uint32_t>()) << name << " ids: " << text;
      if (sums.size() == 3) EXPECT_EQ(check(flat(tokens.spans)), sums[1].get<uint32_t>()) << name << " bytes: " << text;
      EXPECT_EQ(check(tokenizer.decode(tokens.ids)), sums[sums.size() - 1].get<uint32_t>())
          << name << " text: " << text;
    }
    EXPECT_EQ(row, expected.size());
  }
  // A folder with one model's files under the names that models have them by.
  fs::path folder(const std::string& name, const std::map<std::string, std::string>& files) {
    const fs::path made = fs::temp_directory_path() / ("fovea_known_" + name);
    fs::remove_all(made);
    fs::create_directories(made);
    for (const auto& [to, from] : files) fs::copy_file(shared_ / from, made / to);
    return made;
  }
  static fs::path beside() {
    const fs::path checkout = fs::path(test_data).parent_path();
    const fs::path near = checkout.parent_path() / "shared";
    return (fs::exists(near) ? near : checkout.parent_path().parent_path() / "shared") / "data" / "tokenizers";
  }
  const fs::path shared_ = beside();
};

TEST_F(KnownVocabulary, Gpt2IsCutAsByTheLibrary) {
  compare("gpt2",
          *load_tokenizer(folder("gpt2", {{"vocab.json", "gpt2-vocab.json"}, {"merges.txt", "gpt2-merges.txt"}})));
}
TEST_F(KnownVocabulary, BertIsCutAsByTheLibrary) {
  compare("bert-uncased", *load_tokenizer(folder("bert", {{"vocab.txt", "bert-uncased-vocab.txt"}})));
  const fs::path cased = folder("bert_cased", {{"vocab.txt", "bert-cased-vocab.txt"}});
  write_text(cased / "tokenizer_config.json", R"({"do_lower_case": false})");
  compare("bert-cased", *load_tokenizer(cased));
}
TEST_F(KnownVocabulary, SentencePieceModelsAreCutAsByTheLibrary) {
  compare("t5", *load_tokenizer(folder("t5", {{"spiece.model", "t5-spiece.model"}})));
  compare("llama2", *load_tokenizer(folder("llama2", {{"tokenizer.model", "llama2-tokenizer.model"}})));
}
TEST_F(KnownVocabulary, MarianIsCutAsByItsLibraries) {
  const auto opus = load_tokenizer(folder("opus", {{"source.spm", "opus-mt-en-fr.source.spm"},
                                                   {"target.spm", "opus-mt-en-fr.target.spm"},
                                                   {"vocab.json", "opus-mt-en-fr.vocab.json"}}));
  compare("opus", *opus, false);
}
TEST_F(KnownVocabulary, TiktokenTablesAreCutAsByTheLibrary) {
  compare("gpt2_tiktoken", *load_tokenizer(shared_ / "gpt2.tiktoken"));
  compare("whisper_tiktoken", *load_tokenizer(shared_ / "whisper-multilingual.tiktoken"));
}
TEST_F(KnownVocabulary, IsSavedByteForByte) {
  const fs::path from = folder("saved", {{"vocab.json", "gpt2-vocab.json"}, {"merges.txt", "gpt2-merges.txt"}});
  const fs::path to = from / "copy";
  load_tokenizer(from)->save(to);
  for (const char* name : {"vocab.json", "merges.txt"}) EXPECT_EQ(read_text(from / name), read_text(to / name));
}

TEST(Gpt2Words, AreThoseOfThePattern) {
  const Regex pattern(gpt2_pattern, "GPT-2");
  for (const Json& item : golden("golden.json")["texts"]) {
    const auto text = item.get<std::string>();
    std::vector<size_t> expected, found;
    pattern.each_match(text, [&](size_t, size_t end) { expected.push_back(end); });
    for (size_t at = 0; at < text.size();) found.push_back(at = end_of_gpt2_word(text, at));
    EXPECT_EQ(found, expected) << text;
  }
}

// A small file with one part replaced.
std::string with(const char* key, const char* value) {
  Json json = golden("tokenizers.json")["bert_uncased"];
  json[key] = Json::parse(value);
  return json.dump();
}
Error::Kind refused(const std::string& text) {
  try {
    Pipeline(read_tokenizer_json(text, "test"));
  } catch (const Error& e) {
    return e.kind();
  }
  ADD_FAILURE() << "was not refused: " << text.substr(0, 200);
  return Error::invalid;
}

TEST(TokenizerJson, RefusesWhatItDoesNotKnow) {
  for (const char* key : {"normalizer", "pre_tokenizer", "post_processor", "decoder"})
    EXPECT_EQ(refused(with(key, R"({"type": "Unheard"})")), Error::unsupported) << key;
  EXPECT_EQ(refused(with("model", R"({"type": "Unheard", "vocab": {}})")), Error::unsupported);
  EXPECT_EQ(refused(with("pre_tokenizer", R"({"type": "Scripts"})")), Error::unsupported);
  for (const char* pattern :
       {"[a&&b]", "(?~x)", "a{2}?", "\\g<1>", "(?<n>a)\\k<n>", "[", "(", "[a[b]]", "(?(1)a)", "[a\\", "a\\"}) {
    const Json split = {
        {"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}};
    EXPECT_EQ(refused(with("pre_tokenizer", split.dump().c_str())), Error::unsupported) << pattern;
  }
}

TEST(TokenizerJson, RefusesIdsAndMergesThatCannotBe) {
  const auto bpe = [](const char* vocab, const char* merges) {
    return fmt::format(R"({{"model": {{"type": "BPE", "vocab": {}, "merges": {}}}}})", vocab, merges);
  };
  EXPECT_NO_THROW(Pipeline(read_tokenizer_json(bpe(R"({"a": 0, "b": 1, "ab": 2})", R"(["a b"])"), "test")));
  EXPECT_EQ(refused(bpe(R"({"a": 0, "b": 2})", "[]")), Error::corrupt);  // a hole
  EXPECT_EQ(refused(bpe(R"({"a": 0, "b": 0})", "[]")), Error::corrupt);  // twice
  EXPECT_EQ(refused(bpe(R"({"a": -1})", "[]")), Error::corrupt);
  EXPECT_EQ(refused(bpe(R"({"a": 99999999999999999999})", "[]")), Error::corrupt);
  EXPECT_EQ(refused(bpe(R"({"a": 4000000000})", "[]")), Error::corrupt);
  EXPECT_EQ(refused(bpe(R"({"a": 0})", R"(["a b"])")), Error::corrupt);          // an unknown piece
  EXPECT_EQ(refused(bpe(R"({"a": 0, "b": 1})", R"(["a b"])")), Error::corrupt);  // an unknown result
  EXPECT_EQ(refused(bpe(R"({"a": 0, "\ud800": 1})", "[]")), Error::corrupt);     // a lone surrogate
  EXPECT_EQ(refused(with("added_tokens", R"([{"id": 5000, "content": "x"}])")), Error::corrupt);
}

TEST(TokenizerJson, TakesLinearTimeForHostileTexts) {
  const std::string letters(1'000'000, 'a'), blanks = std::string(1'000'000, ' ') + "x";
  std::string emoji = {}, quotes = {};
  for (int i = 0; i < 250'000; ++i) emoji += "👍", quotes += "'s ";
  for (const char* name :
       {"byte_level_gpt2", "llama3_like", "llama2_like", "bert_uncased", "t5_like", "unigram_first", "words"}) {
    const Pipeline tokenizer(read_tokenizer_json(golden("tokenizers.json")[name].dump(), name));
    for (const std::string_view text :
         {std::string_view(letters), std::string_view(blanks), std::string_view(emoji), std::string_view(quotes)})
      EXPECT_NO_THROW(tokenizer.encode(text)) << name;
  }
}

}  // namespace
}  // namespace fovea
