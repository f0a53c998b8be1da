#include "fovea/data/datasets/dataset.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/datasets/conll.h"
#include "fovea/data/datasets/files.h"
#include "fovea/formats/zip.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

class Readers : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  std::string file(std::string_view text, const std::string& name = "x") const {
    write_text(folder_ / name, text);
    return (folder_ / name).string();
  }
  static std::string error_of(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  }

  static void read_pairs(const std::string& path, Dataset& data) { read_file(path, ExampleKind::pairs, data); }
  static void read_labelled(const std::string& path, Dataset& data) { read_file(path, ExampleKind::labelled, data); }
  static void read_objects(const std::string& path, Dataset& data, const Columns& keys,
                           ExampleKind kind = ExampleKind::labelled) {
    read_json(path, kind, data, keys);
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("fovea_readers_" + std::to_string(getpid()));
};

TEST_F(Readers, Pairs) {
  Dataset data;
  read_pairs(file("Hi.\tHallo!\tCC-BY\r\n\nRun! \t Lauf!\n"), data);
  ASSERT_EQ(data.size(), 2);
  EXPECT_EQ(data[0], (Example{.source = "Hi.", .target = "Hallo!"}));
  EXPECT_EQ(data[1], (Example{.source = "Run!", .target = "Lauf!"}));
  EXPECT_EQ(data.bad().text(), "");
  write_zip(folder_ / "p.zip", {{"_about.txt", "x"}, {"deu.txt", "a\tb"}});
  read_pairs((folder_ / "p.zip").string(), data);
  EXPECT_EQ(data.size(), 3);
}

TEST_F(Readers, BadLinesAreCountedAndTheFirstIsShown) {
  const std::string path = file("a\tb\nno tab\n\tempty\nempty\t \nc\td\n", "pairs.tsv");
  Dataset data;
  read_pairs(path, data);
  EXPECT_EQ(data.size(), 2);
  EXPECT_EQ(data.bad().count, 3);
  EXPECT_EQ(data.bad().text(),
            "3 bad lines passed over; the first: " + path + ":2: found 1 column, expected 2 with a tab between");
  Dataset strict({.strict = true});
  EXPECT_EQ(error_of([&] { read_pairs(path, strict); }), path + ":2: found 1 column, expected 2 with a tab between");
  EXPECT_EQ(strict.size(), 1);
}

TEST_F(Readers, FilesWithoutAGoodLineAreErrors) {
  Dataset data;
  EXPECT_NE(error_of([&] { read_pairs(file(""), data); }).find("found no line at all, expected source <TAB> target"),
            std::string::npos);
  EXPECT_NE(error_of([&] { read_pairs(file("x\ny\n"), data); }).find("found no good line"), std::string::npos);
  EXPECT_NE(error_of([&] { read_labelled(file("x\n"), data); }).find("found no good line"), std::string::npos);
  EXPECT_NE(error_of([&] { read_conll(file("\n\n"), data); }).find("found no line at all"), std::string::npos);
  EXPECT_NE(error_of([&] { read_objects(file("{"), data, {.source = "a"}); }).find("not valid JSON"),
            std::string::npos);
  EXPECT_NE(error_of([&] { read_pairs(file("a\tb\nc\t\xff\n"), data); }).find(":2: byte 2: found 0xff"),
            std::string::npos);
}

TEST_F(Readers, ParallelFiles) {
  Dataset data;
  read_parallel(file("a\n\nc", "x.en"), file("A\nB\nC\n", "x.de"), data);
  ASSERT_EQ(data.size(), 2);
  EXPECT_EQ(data[1], (Example{.source = "c", .target = "C"}));
  EXPECT_NE(data.bad().first.find("x.en:2: found an empty line"), std::string::npos);
  const std::string error = error_of([&] { read_parallel(file("a\nb", "y.en"), file("A", "y.de"), data); });
  EXPECT_NE(error.find("y.de: ends after line 1, but "), std::string::npos) << error;
}

TEST_F(Readers, Labelled) {
  Dataset data;
  read_labelled(file("Good case.  \t1\nwith\ttab\tneg\nno label\t\n"), data);
  ASSERT_EQ(data.size(), 2);
  EXPECT_EQ(data[0], (Example{.source = "Good case.", .label = "1"}));
  EXPECT_EQ(data[1], (Example{.source = "with\ttab", .label = "neg"}));
  EXPECT_NE(data.bad().first.find(":3: found no label"), std::string::npos);
}

TEST_F(Readers, ConllOfEveryScheme) {
  Dataset data;
  read_conll(file("-DOCSTART- -X- O O\n\nEU NNP I-NP I-ORG\nrejects VBZ I-VP O\n\n\nBonn NNP I-NP I-LOC\nKoeln NNP "
                  "I-NP B-LOC\nAG NNP I-NP I-LOC\nx x x I-PER"),
             data);
  read_conll(file("New York\tB-LOC\n,\tO\n"), data);
  read_conll(file("O\tx\ty\nB-PER\tz\tw\n"), data, {.tokens = "3", .tags = "1"});
  ASSERT_EQ(data.size(), 4);
  EXPECT_EQ(data[0], (Example{.tokens = {"EU", "rejects"}, .tags = {"B-ORG", "O"}}));
  EXPECT_EQ(data[1].tags, (Texts{"B-LOC", "B-LOC", "I-LOC", "B-PER"}));
  EXPECT_EQ(data[2].tokens, (Texts{"New York", ","}));
  EXPECT_EQ(data[3], (Example{.tokens = {"y", "w"}, .tags = {"O", "B-PER"}}));
}

TEST_F(Readers, ConllSentencesWithBadLinesAreLeftOutWhole) {
  Dataset data;
  read_conll(file("a O\nb\n\nc O\nd X-LOC\n\ne O\n\n\tO\n", "t.conll"), data);
  ASSERT_EQ(data.size(), 1);
  EXPECT_EQ(data[0].tokens, Texts{"e"});
  EXPECT_EQ(data.bad().count, 3);
  EXPECT_NE(data.bad().first.find("t.conll:2: found 1 column, expected a token and a tag"), std::string::npos);
}

TEST(Iob2, FromTheOtherSchemes) {
  const std::pair<Texts, Texts> cases[] = {
      {{}, {}},
      {{"I-A", "I-A", "O", "I-A"}, {"B-A", "I-A", "O", "B-A"}},
      {{"I-A", "B-A", "I-A"}, {"B-A", "B-A", "I-A"}},
      {{"B-A", "I-B", "I-A"}, {"B-A", "B-B", "B-A"}},
      {{"S-A", "B-A", "E-A", "E-A", "I-A"}, {"B-A", "B-A", "I-A", "B-A", "B-A"}},
      {{"U-A", "B-A", "I-A", "L-A"}, {"B-A", "B-A", "I-A", "I-A"}},
      {{"I", "I", "O", "E", "S"}, {"B", "I", "O", "B", "B"}},
      {{"B-creative-work", "I-creative-work"}, {"B-creative-work", "I-creative-work"}},
  };
  for (const auto& [tags, expected] : cases) {
    EXPECT_EQ(to_iob2(tags), expected);
    EXPECT_EQ(to_iob2(expected), expected) << "IOB2 stays as it is";
  }
  for (const char* tag : {"", "o", "X", "B-", "LOC", "X-A", "BA"}) EXPECT_THROW(to_iob2({tag}), Error) << tag;
}

TEST_F(Readers, JsonLinesAndArrays) {
  const Columns summary = {.source = "dialogue", .target = "summary"};
  const std::string a = R"({"id": 1, "dialogue": "A: hi\nB: \u00e9", "summary": "They greet."})";
  Dataset data;
  read_objects(file(a + "\n\n{\"dialogue\": 3, \"summary\": \"x\"}\n[]\n{bad\n" + a + "\n"), data, summary,
               ExampleKind::pairs);
  ASSERT_EQ(data.size(), 2);
  EXPECT_EQ(data[0], (Example{.source = "A: hi\nB: é", .target = "They greet."}));
  EXPECT_EQ(data.bad().count, 3);
  EXPECT_NE(data.bad().first.find(":3: found a number under 'dialogue', expected a text"), std::string::npos)
      << data.bad().first;
  Dataset array;
  read_objects(file("[\n" + a + ",\n" + a + ",\n{}]"), array, summary, ExampleKind::pairs);
  EXPECT_EQ(array.size(), 2);
  EXPECT_NE(array.bad().first.find("item 2: found no key 'dialogue'"), std::string::npos);
  EXPECT_NE(error_of([&] { read_objects(file("[" + a), array, summary, ExampleKind::pairs); }).find("not valid JSON"),
            std::string::npos);
}

TEST_F(Readers, JsonLabelsAndTags) {
  Dataset data;
  read_objects(file("{\"t\": \"good\", \"l\": 1}\n{\"t\": \"bad\", \"l\": \"neg\"}\n{\"t\": \"x\", \"l\": true}\n"),
               data, {.source = "t", .label = "l"});
  EXPECT_EQ(data[0].label, "1");
  EXPECT_EQ(data[1].label, "neg");
  EXPECT_EQ(data[2].label, "true");
  Dataset tagged;
  read_objects(file(R"({"w": ["a", "b"], "n": ["I-X", "O"]}
{"w": ["a"], "n": ["O", "O"]}
{"w": "a", "n": ["O"]}
{"w": ["a"], "n": ["nonsense"]}
)"),
               tagged, {.tokens = "w", .tags = "n"}, ExampleKind::tagged);
  ASSERT_EQ(tagged.size(), 1);
  EXPECT_EQ(tagged[0], (Example{.tokens = {"a", "b"}, .tags = {"B-X", "O"}}));
  EXPECT_EQ(tagged.bad().count, 3);
  EXPECT_NE(tagged.bad().first.find(":2: found 1 tokens and 2 tags"), std::string::npos);
}

TEST_F(Readers, JsonKeysAreFoundByTheirNames) {
  Dataset data;
  read_file(file(R"({"de": "ja", "id": 3, "en": "yes"})", "x.jsonl"), ExampleKind::pairs, data);
  EXPECT_EQ(data[0], (Example{.source = "ja", .target = "yes"})) << "in their order in the file";
  read_file(file(R"([{"review": "fine", "stars": 4.5}])", "x.json"), ExampleKind::labelled, data);
  EXPECT_EQ(data[1], (Example{.source = "fine", .label = "4.5"}));
  EXPECT_EQ(data.files()[1].columns, "text = review, label = stars");
  read_file(file(R"({"premise": "a", "hypothesis": "b", "label": "no"})", "x.jsonl"), ExampleKind::labelled, data);
  EXPECT_EQ(data[2], (Example{.source = "a", .label = "no", .text_b = "b"}));
  read_file(file(R"({"words": ["a"], "ner": ["I-X"]})", "x.jsonl"), ExampleKind::tagged, data);
  EXPECT_EQ(data[3], (Example{.tokens = {"a"}, .tags = {"B-X"}}));
  read_file(file(R"({"translation": {"en": "a", "de": {"x": "b"}}})", "x.jsonl"), ExampleKind::pairs, data,
            {.source = "translation.en", .target = "translation.de.x"});
  EXPECT_EQ(data.bad().count, 0) << data.bad().text();
  EXPECT_NE(error_of([&] {
              read_file(file(R"({"foo": "a", "bar": 1, "baz": 2})", "x.jsonl"), ExampleKind::labelled, data);
            }).find("found the keys foo, bar, baz, which leave open where the text is; say so, as --text-column"),
            std::string::npos);
}

TEST_F(Readers, JsonListsAreSeveralLabels) {
  const std::string path = file(R"({"text": "a", "labels": ["x", 2, "x"]}
{"text": "b", "labels": []}
{"text": "c", "labels": "y"}
{"text": "d", "labels": [["z"]]}
{"text": "e", "labels": null}
)",
                                "x.jsonl");
  Dataset data;
  read_file(path, ExampleKind::label_sets, data);
  ASSERT_EQ(data.size(), 3);
  EXPECT_EQ(data[0], (Example{.source = "a", .labels = {"x", "2"}}));
  EXPECT_EQ(data[1], (Example{.source = "b"}));
  EXPECT_EQ(data[2], (Example{.source = "c", .labels = {"y"}}));
  EXPECT_EQ(data.bad().count, 2);
  Dataset one;
  read_file(path, ExampleKind::labelled, one);
  ASSERT_EQ(one.size(), 1);
  EXPECT_NE(one.bad().first.find("x.jsonl:1: found a list under 'labels', expected one label"), std::string::npos);
}

TEST_F(Readers, DeepJsonIsNoDanger) {
  const std::string deep(2000000, '['), shut(2000000, ']');
  Dataset data;
  read_file(file("{\"text\": \"a\", \"label\": 1}\n{\"text\": " + deep + shut + ", \"label\": 1}\n", "x.jsonl"),
            ExampleKind::labelled, data);
  EXPECT_EQ(data.size(), 1);
  EXPECT_EQ(data.bad().count, 1);
}

TEST_F(Readers, ConllLinesComeBackWithAColumnMore) {
  const std::string text = "-DOCSTART- -X- O\n\nThe DT\nsea NN\n\n\nNew York\tNNP\n\n  \n";
  ConllReader reader(file(text, "x.conll"));
  std::string same, more;
  std::vector<Texts> words;
  for (ConllSentence s; reader.next(s);) {
    for (const std::string& line : s.lines) same += line + "\n";
    words.push_back(s.column(1));
    more += with_column(s, Texts(s.words.size(), "O"));
  }
  EXPECT_EQ(same, text);
  EXPECT_EQ(words, (std::vector<Texts>{{"The", "sea"}, {"New York"}, {}}));
  EXPECT_EQ(more, "-DOCSTART- -X- O\n\nThe DT O\nsea NN O\n\n\nNew York\tNNP\tO\n\n  \n");
  ConllReader empty(file("a\tO\n\tO\n", "y.conll"));
  ConllSentence s;
  ASSERT_TRUE(empty.next(s));
  EXPECT_NE(error_of([&] { s.column(1); }).find("y.conll:2: found nothing in column 1"), std::string::npos);
}

TEST(TagColumns, EverySchemeAndEveryKindOfColumnsMeanTheSame) {
  const TagColumns iob1 = parse_tag_columns("Anna NNP I-PER\nBerg NNP I-PER\n\nRome NNP I-LOC", {}),
                   iob2 = parse_tag_columns("-DOCSTART-\n\nAnna\tB-PER\nBerg\tI-PER\n\nRome\tB-LOC\n", {}),
                   bilou = parse_tag_columns("Anna B-PER\nBerg L-PER\n\nRome U-LOC", {});
  EXPECT_EQ(iob1.tags, (std::vector<Texts>{{"B-PER", "I-PER"}, {"B-LOC"}}));
  EXPECT_EQ(iob2.tags, iob1.tags);
  EXPECT_EQ(bilou.tags, iob1.tags);
  EXPECT_EQ(iob2.words, iob1.words);
  EXPECT_EQ(iob1.lines, (std::vector<size_t>{1, 4}));
  EXPECT_EQ(iob2.lines, (std::vector<size_t>{3, 6}));
}

// In Python: FNV-1a over struct.pack("<I", size) + bytes of source, target, label, the counts of tokens and tags, text_b, the
// count of labels.
TEST(Datasets, FingerprintsAreThoseOfTheBytesInTheirOrder) {
  const auto of = [](const std::vector<Example>& examples) {
    Dataset data;
    for (const Example& e : examples) data.add(e);
    return data.fingerprint();
  };
  EXPECT_EQ(of({{.source = "ab", .target = "c"}}), 0x23f983000449c136u);
  const Example a = {.source = "a"}, b = {.source = "b"};
  EXPECT_NE(of({a, b}), of({b, a}));
  EXPECT_NE(of({{.source = "ab", .target = "c"}}), of({{.source = "a", .target = "bc"}}));
  EXPECT_NE(of({{.label = "x"}}), of({{.labels = {"x"}}}));
  EXPECT_NE(of({a}), of({a, {}}));
}

TEST(Datasets, CountTheirDuplicates) {
  Dataset data;
  for (const char* text : {"a", "b", "a", "a", "c"}) data.add({.source = text, .label = "x"});
  data.add({.source = "a", .label = "y"});
  EXPECT_EQ(data.duplicates(), 2);
}

// CRC-32 of "123456789" is the check value 0xCBF43926 = 3421780262 of its definition; the others are zlib's in Python:
// [i for i in range(300) if zlib.crc32(str(i).encode()) % 100 == 0]
TEST(BucketOf, FollowsCrc32) {
  EXPECT_EQ(bucket_of("123456789"), 62);
  EXPECT_EQ(bucket_of(""), 0);
  int64_t counts[2] = {};
  std::vector<int> first[2];
  for (int i = 0; i < 20000; ++i) {
    const int64_t bucket = bucket_of(std::to_string(i));
    if (bucket > 1) continue;
    ++counts[bucket];
    if (i < 300) first[bucket].push_back(i);
  }
  EXPECT_EQ(first[0], (std::vector<int>{37, 40, 181, 226}));
  EXPECT_EQ(first[1], (std::vector<int>{73, 164}));
  EXPECT_EQ(counts[0], 216);
  EXPECT_EQ(counts[1], 202);
}

TEST(Datasets, LabelsAndKindsOfTagsGetOtherNames) {
  Dataset data({.names = {"0=negative", "person=PER", "product=O"}});
  data.add({.source = "person", .label = "0"});
  data.add(
      {.label = "1", .tokens = {"a", "b", "c", "d", "e"}, .tags = {"B-person", "I-person", "O", "B-product", "B-LOC"}});
  EXPECT_EQ(data[0], (Example{.source = "person", .label = "negative"}));
  EXPECT_EQ(data[1].label, "1");
  EXPECT_EQ(data[1].tags, (std::vector<std::string>{"B-PER", "I-PER", "O", "O", "B-LOC"}));
  for (const char* bad : {"negative", "=negative", "0="}) EXPECT_THROW(Dataset({.names = {bad}}), Error) << bad;
}

}  // namespace
}  // namespace fovea
