// How a training's data is divided, and what is said about it.
#include "fovea/train/examples.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/train/data_summary.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

class ExamplesOf : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  std::string file(const std::string& name, std::string_view text) const {
    write_text(folder_ / name, text);
    return (folder_ / name).string();
  }
  Examples labelled(const std::string& path, const ExamplesConfig& config = {}) const {
    ExamplesConfig c = config;
    c.data = {path};
    return read_examples(c, {.kind = ExampleKind::labelled});
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("fovea_examples_" + std::to_string(getpid()));
};

// None of the texts 0 to 9 has a CRC-32 of less than 5 modulo 100; the lowest is the 8 of "4"
// (min((zlib.crc32(str(i).encode()) % 100, i) for i in range(10)) in Python).
TEST_F(ExamplesOf, SmallDataIsValidatedOnToo) {
  std::string text, backwards;
  for (int i = 0; i < 10; ++i) {
    const std::string row = std::to_string(i) + "\tx\n";
    text += row + row;
    backwards = row + row + backwards;
  }
  for (const std::string& rows : {text, backwards}) {
    const Examples e = labelled(file("x.tsv", rows));
    ASSERT_EQ(e.validation.size(), 2u) << "with its copy";
    EXPECT_EQ(e.training.size(), 18u);
    for (int64_t i : e.validation) EXPECT_EQ(e.data[i].source, "4");
    EXPECT_NE(summarise(e).text().find("held out instead"), std::string::npos);
  }
  EXPECT_TRUE(labelled(file("y.tsv", "a\tx\na\ty\n")).validation.empty()) << "a single text is learned from";
  EXPECT_TRUE(labelled(file("x.tsv", text), {.hold_out = 0}).validation.empty()) << "as it was asked for";
}

// The CRC-32 of "rare 52" is less than 5 modulo 100 (zlib.crc32(b"rare 52") % 100 in Python).
TEST_F(ExamplesOf, ALabelIsNeverHeldOutWhole) {
  std::string rows = "rare 52\tonce\nrare 52\tonce\n";
  for (int i = 0; i < 200; ++i) rows += fmt::format("text {}\t{}\n", i, i % 2 ? "x" : "y");
  const std::string path = file("x.tsv", rows);
  const ExampleFormat format = {.kind = ExampleKind::labelled, .learns_labels = true};
  const Examples e = read_examples({.data = {path}}, format), plain = labelled(path);
  ASSERT_EQ(plain.validation.size(), e.validation.size() + 2) << "a text and its copy";
  EXPECT_EQ(e.training[0], 0);
  EXPECT_EQ(e.training[1], 1);
  EXPECT_NE(e.division.find("; 1 whose label no other has is learned from"), std::string::npos) << e.division;
  // Nor is the last resort of small data ("4", see above) taken from a label of its own.
  const std::string few = file("few.tsv", "4\talone\n1\tx\n2\tx\n3\ty\n5\ty\n");
  const Examples of_few = read_examples({.data = {few}}, format);
  ASSERT_EQ(of_few.validation.size(), 1u);
  EXPECT_NE(of_few.data[of_few.validation[0]].source, "4");
  EXPECT_EQ(labelled(few).data[labelled(few).validation[0]].source, "4");
  EXPECT_EQ(read_examples({.data = {path}, .validation = {path}}, format).training.size(), 202u)
      << "as it was asked for";
}

TEST_F(ExamplesOf, ParallelFilesAreOneReading) {
  const std::string en = file("a.en", "one\ntwo\nthree\n"), de = file("a.de", "eins\nzwei\ndrei\n");
  const Examples e = read_examples({.data = {en, de}}, {.kind = ExampleKind::pairs});
  ASSERT_EQ(e.data.size(), 3);
  EXPECT_EQ(e.data[2], (Example{.source = "three", .target = "drei"}));
  EXPECT_THROW(read_examples({.data = {en, file("a.fr", "un\n")}}, {.kind = ExampleKind::pairs}), Error);
}

TEST_F(ExamplesOf, SummaryCountsWhatAPersonWouldCount) {
  const std::string path = file("x.csv",
                                "text,label\n"
                                "good,pos\nbad,neg\ngood,pos\nschön,pos\n,pos\nnone,\n,neg\n\"a, b\",neg\nfine,pos\n");
  const DataSummary s = summarise(labelled(path, {.hold_out = 40}));
  EXPECT_EQ(s.examples, 6);
  EXPECT_EQ(s.bad.count, 3);
  EXPECT_EQ(s.duplicates, 1);
  ASSERT_EQ(s.labels.size(), 2u);
  EXPECT_EQ(s.labels[0], (std::pair<std::string, int64_t>("pos", 4)));
  EXPECT_EQ(s.labels[1], (std::pair<std::string, int64_t>("neg", 2)));
  ASSERT_EQ(s.lengths.size(), 1u);
  EXPECT_EQ(s.lengths[0].longest, 5) << "characters, not bytes";
  EXPECT_DOUBLE_EQ(s.lengths[0].mean, (4 + 3 + 4 + 5 + 4 + 4) / 6.0);
  EXPECT_EQ(s.training + s.validation + s.test, 6);
  const std::string text = s.text();
  for (const std::string& wanted :
       {path + ": 6 examples; text = column 1 (text), label = column 2 (label); the first row is its header",
        std::string("passed over 3 bad lines: 2 × found an empty sentence; 1 × found no label; the first: " + path +
                    ":6: "),
        std::string("2 labels: pos: 4 (66.7 %), neg: 2 (33.3 %)"),
        std::string("text: 4.0 characters on average, 5 at most"), std::string("1 example equal to an earlier one"),
        std::string("0 kept for testing (40 % of the texts for validation by their CRC-32")})
    EXPECT_NE(text.find(wanted), std::string::npos) << wanted << "\n" << text;
}

TEST_F(ExamplesOf, SummaryOfNumbersPairsTagsAndLabelSets) {
  std::string numbers;
  for (int i = 0; i < 30; ++i) numbers += "text\t" + std::to_string(i * 0.5 - 3) + "\n";
  EXPECT_NE(summarise(labelled(file("n.tsv", numbers))).text().find("labels: numbers from -3 to 11.5"),
            std::string::npos);
  const DataSummary tags = summarise(read_examples(
      {.data = {file("t.conll", "Anna I-PER\nBerg I-PER\n\nx O\n\nOslo I-LOC\n")}}, {.kind = ExampleKind::tagged}));
  EXPECT_EQ(tags.labels.size(), 2u);
  EXPECT_EQ(tags.unlabelled, 1);
  EXPECT_EQ(tags.lengths[0].longest, 2);
  EXPECT_EQ(tags.lengths[0].unit, "words");
  ExampleFormat separated = {.kind = ExampleKind::label_sets};
  separated.columns.separator = "|";
  const DataSummary sets =
      summarise(read_examples({.data = {file("s.csv", "text,labels\na,x|y\nb,\nc,x\n")}}, separated));
  EXPECT_EQ(sets.labels[0], (std::pair<std::string, int64_t>("x", 2)));
  EXPECT_EQ(sets.unlabelled, 1);
  const DataSummary pairs = summarise(read_examples({.data = {file("p.tsv", "ab\tabcd\nc\td\n")}}, {}));
  EXPECT_EQ(pairs.lengths[1].longest, 4);
  const DataSummary some =
      summarise(labelled(file("n.tsv", numbers + "a\t1\nb\t1\nc\t1\n"), {.hold_out = 99, .validate_on = 2}));
  EXPECT_EQ(some.validation, 2);
  EXPECT_NE(some.text().find(fmt::format("2 of {} held out to validate on", some.held_out)), std::string::npos)
      << some.text();
  EXPECT_TRUE(pairs.labels.empty());
}

TEST_F(ExamplesOf, AHeaderThatNobodyKnowsIsHintedAt) {
  const std::string rows = "v2\tv1\na b\tham\nc d\tspam\ne f\tham\ng h\tspam\n";
  const DataSummary s = summarise(labelled(file("x.tsv", rows)));
  ASSERT_EQ(s.hints.size(), 1u);
  EXPECT_NE(s.text().find("the label 'v1' stands in the first row only"), std::string::npos) << s.text();
  EXPECT_TRUE(summarise(labelled(file("y.tsv", rows.substr(6) + "i\tham\n"))).hints.empty());
}

}  // namespace
}  // namespace fovea
