// Tables as people have them, compared with what Python's csv module reads: tests/golden/make_tables.py wrote the rows.
#include "fovea/data/datasets/table.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/datasets/columns.h"
#include "fovea/data/datasets/files.h"
#include "fovea/formats/zip.h"
#include "test_paths.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;
using Row = std::vector<std::string>;
using Rows = std::vector<Row>;

class Tables : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  std::string file(std::string_view text, const std::string& name) const {
    write_text(folder_ / name, text);
    return (folder_ / name).string();
  }
  static Rows rows(const std::string& path, char delimiter = 0) {
    Table table(path, delimiter);
    Rows all;
    for (Row row; table.next(row);) all.push_back(row);
    return all;
  }
  Rows tsv(std::string_view text) const { return rows(file(text, "x.tsv")); }
  // The examples of a file, or the Error's text as the only label.
  std::vector<Example> examples(std::string_view text, const std::string& name, ExampleKind kind,
                                const Columns& columns = {}) {
    Dataset data;
    try {
      read_file(file(text, name), kind, data, columns);
    } catch (const Error& e) {
      return {{.label = e.what()}};
    }
    read_ = data.files().back();
    std::vector<Example> all;
    for (int64_t i = 0; i < data.size(); ++i) all.push_back(data[i]);
    return all;
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("fovea_tables_" + std::to_string(getpid()));
  FileRead read_;
};

TEST_F(Tables, CsvIsReadAsPythonReadsIt) {
  const nlohmann::json golden = nlohmann::json::parse(read_text(std::string(test_data) + "/golden/tables.json"));
  ASSERT_GE(golden.size(), 100u);
  for (const nlohmann::json& c : golden) {
    const std::string path = file(c["text"].get<std::string>(), "x.csv");
    EXPECT_EQ(rows(path, c["delimiter"].get<std::string>()[0]), c["rows"].get<Rows>()) << c;
  }
}

TEST_F(Tables, PlacesAreThoseOfTheRowsFirstLine) {
  Table table(file("a,b\n\n\"x\ny\",1\nc,d\n", "x.csv"));
  std::vector<std::string> places;
  for (Row row; table.next(row);) places.push_back(table.where().substr(table.where().rfind(':')));
  EXPECT_EQ(places, (Row{":1", ":3", ":5"}));
}

TEST_F(Tables, TheDelimiterFollowsFromTheName) {
  const Rows cells = {{"text", "label"}, {"a", "b"}};
  EXPECT_EQ(rows(file("text,label\na,b\n", "x.csv")), cells);
  EXPECT_EQ(rows(file("text;label\na;b\n", "y.csv")), cells);
  EXPECT_EQ(rows(file("text\tlabel\na\tb\n", "z.csv")), cells);
  EXPECT_EQ(rows(file("text\tlabel\na\tb\n", "x.tsv")), cells);
  EXPECT_EQ(rows(file("text\tlabel\na\tb\n", "x")), cells);
  EXPECT_EQ(rows(file("text,label\na,b\n", "x")), cells) << "names between commas in a file without an ending";
  EXPECT_EQ(rows(file("a|b\n", "x.txt"), '|'), (Rows{{"a", "b"}}));
  EXPECT_EQ(rows(file("Well, yes; no, then\n", "x.tsv")), (Rows{{"Well, yes; no, then"}}));
  EXPECT_EQ(rows(file("It is so, he said\n", "x")), (Rows{{"It is so, he said"}}));
  EXPECT_EQ(rows(file("good, not; great,pos\n", "x.csv")), (Rows{{"good", " not; great", "pos"}}));
  write_zip(folder_ / "p.zip", {{"a.csv", "a,b\n"}, {"b.tsv", "a,b\tc\n"}});
  EXPECT_EQ(rows((folder_ / "p.zip:a.csv").string()), (Rows{{"a", "b"}}));
  EXPECT_EQ(rows((folder_ / "p.zip:b.tsv").string()), (Rows{{"a,b", "c"}}));
}

TEST_F(Tables, QuotesInTsvStayUnlessTheyMustBeQuotes) {
  EXPECT_EQ(tsv("\"Hello!\"\t\"Hallo!\"\n"), (Rows{{"\"Hello!\"", "\"Hallo!\""}}));
  EXPECT_EQ(tsv("\"Who\tWer\"\nHe said \"no\"\tx\n\tlone \"\n"),
            (Rows{{"\"Who", "Wer\""}, {"He said \"no\"", "x"}, {"", "lone \""}}));
  EXPECT_EQ(tsv("a\tb\n\"Yes.\" \"No.\"\t\"\n\"\"\tx\n"),
            (Rows{{"a", "b"}, {"\"Yes.\" \"No.\"", "\""}, {"\"\"", "x"}}));
  // A row of Tatoeba: two sentences in quotes without a space between.
  EXPECT_EQ(tsv("Go.\tVa !\n\"Why?\" \"So.\"\t\"Quoi ?\"\"Oui.\"\n"),
            (Rows{{"Go.", "Va !"}, {"\"Why?\" \"So.\"", "\"Quoi ?\"\"Oui.\""}}));
  // What pandas and Python's excel-tab write: quotes only where they are needed.
  EXPECT_EQ(tsv("a\tb\n\"one\ttwo\"\t1\n\"say \"\"hi\"\"\"\t2\n\"\"\"x\"\"\"\t3\n"),
            (Rows{{"a", "b"}, {"one\ttwo", "1"}, {"say \"hi\"", "2"}, {"\"x\"", "3"}}));
  EXPECT_EQ(tsv("a\tb\n\"one\ntwo\n\nthree\"\t1\nx\t\"y\nz\"\nu\tv\n"),
            (Rows{{"a", "b"}, {"one\ntwo\n\nthree", "1"}, {"x", "y\nz"}, {"u", "v"}}));
  EXPECT_EQ(tsv("\"text\"\t\"label\"\n\"fine\"\t\"pos\"\n"), (Rows{{"text", "label"}, {"fine", "pos"}}))
      << "a writer that quotes everything";
  // Quotes that open and never close must not swallow the rows below.
  EXPECT_EQ(tsv("a\tb\n\"open\nc\td\n\"\te\n"), (Rows{{"a", "b"}, {"\"open"}, {"c", "d"}, {"\"", "e"}}));
  EXPECT_EQ(tsv("a\tb\tc\n\"open\nnext\n\"\te\n"), (Rows{{"a", "b", "c"}, {"\"open"}, {"next"}, {"\"", "e"}}));
  Table table(file("a\tb\n\"open\nc\td\n", "w.tsv"));
  Row row;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(table.next(row));
  EXPECT_TRUE(table.where().ends_with(":3")) << "lines that were given back keep their numbers";
}

TEST_F(Tables, AQuoteThatIsNeverClosedIsAnError) {
  try {
    rows(file("a,b\nx,\"y\nz\n", "x.csv"));
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("x.csv:2: found a quote that is not closed"), std::string::npos) << e.what();
  }
  std::string endless = "\"";
  for (int i = 0; i < 20; ++i) endless += std::string(1 << 20, 'x') + '\n';
  EXPECT_THROW(rows(file(endless, "y.csv")), Error) << "and not a cell of any size";
}

// Looking ahead from each of these lines to the end would take 10^10 steps.
TEST_F(Tables, OpenQuotesInALongTsvAreNotLookedAtAgainAndAgain) {
  std::string text = "a\tb\n";
  for (int i = 0; i < 100000; ++i) text += i % 2 ? "\"open\n" : "plain\n";
  EXPECT_EQ(tsv(text).size(), 100001u);
}

TEST_F(Tables, HeadersAreFoundByTheirNames) {
  const std::vector<Example> one = {{.source = "so good", .label = "pos"}};
  const ExampleKind labelled = ExampleKind::labelled;
  EXPECT_EQ(examples("text\tlabel\nso good\tpos\n", "x.tsv", labelled), one);
  EXPECT_TRUE(read_.header);
  EXPECT_EQ(read_.columns, "text = column 1 (text), label = column 2 (label)");
  EXPECT_EQ(examples("Review Text;Stars\nso good;pos\n", "x.csv", labelled), one);
  EXPECT_EQ(examples("id,sentiment,review\n7,pos,\"so good\"\n", "x.csv", labelled), one);
  EXPECT_EQ(examples("Category,Message\npos,so good\n", "x.csv", labelled), one);
  EXPECT_EQ(examples("remarks,label\nso good,pos\n", "x.csv", labelled), one) << "the only other column";
  EXPECT_EQ(examples("sentence\tverdict\nso good\tpos\n", "x.tsv", labelled), one);
  EXPECT_EQ(examples("idx\tpremise\thypothesis\tlabel\n1\tso\tgood\tpos\n", "x.tsv", labelled),
            (std::vector<Example>{{.source = "so", .label = "pos", .text_b = "good"}}));
  const std::vector<Example> pair = {{.source = "hi", .target = "hallo"}};
  for (const char* header :
       {"en\tde", "EN\tDE", "source\ttarget", "English\tGerman", "src\ttgt", "it\ten", "article\thighlights"}) {
    EXPECT_EQ(examples(header + std::string("\nhi\thallo\n"), "p.tsv", ExampleKind::pairs), pair) << header;
    EXPECT_TRUE(read_.header) << header;
  }
  EXPECT_EQ(examples("id,tgt,src\n1,hallo,hi\n", "p.csv", ExampleKind::pairs), pair);
}

TEST_F(Tables, NoHeaderIsFoundWhereThereIsNone) {
  for (const char* row : {"so good\tpos", "good\tpos", "I like this label\tlabel", "review\tnoun", "target\tnoun",
                          "class\tpositive", "A text.\t1", "score\tverb", "Sentence one.\tlabel"}) {
    EXPECT_EQ(examples(row + std::string("\nx\ty\n"), "x.tsv", ExampleKind::labelled).size(), 2u) << row;
    EXPECT_FALSE(read_.header) << row;
  }
  for (const char* row :
       {"Hi.\tHallo!", "it\tes", "no\tno", "Source\tQuelle", "English\tEnglisch", "so\tso", "text\tText"}) {
    EXPECT_EQ(examples(row + std::string("\nx\ty\n"), "p.tsv", ExampleKind::pairs).size(), 2u) << row;
  }
  EXPECT_EQ(examples("text\tlabel\nx\ty\n", "x.tsv", ExampleKind::labelled, {.header = false}).size(), 2u);
  EXPECT_EQ(examples("v2\tv1\nx\ty\n", "x.tsv", ExampleKind::labelled, {.header = true}).size(), 1u);
}

TEST_F(Tables, ColumnsByNameAndNumber) {
  const std::vector<Example> one = {{.source = "so good", .label = "pos"}};
  const std::string csv = "id,what,verdict,note\n7,so good,pos,x\n";
  const ExampleKind labelled = ExampleKind::labelled;
  EXPECT_EQ(examples(csv, "x.csv", labelled, {.source = "what", .label = "verdict"}), one);
  EXPECT_EQ(examples(csv, "x.csv", labelled, {.source = "WHAT", .label = "3"}), one);
  EXPECT_EQ(examples("7,so good,pos,x\n", "x.csv", labelled, {.source = "2", .label = "-2"}), one);
  EXPECT_EQ(examples(csv, "x.csv", labelled, {.source = "2", .label = "3", .header = true}), one);
  EXPECT_EQ(examples("a\tb\tc\n", "p.tsv", ExampleKind::pairs, {.source = "3", .target = "1"}),
            (std::vector<Example>{{.source = "c", .target = "a"}}));
  EXPECT_EQ(examples("a\tb\tc\n", "p.tsv", ExampleKind::pairs, {.target = "1"}),
            (std::vector<Example>{{.source = "b", .target = "a"}}));
  EXPECT_EQ(examples("so\tgood\tpos\n", "x.tsv", labelled, {.text_b = "2"}),
            (std::vector<Example>{{.source = "so", .label = "pos", .text_b = "good"}}));
  const auto error = [&](const Columns& columns) { return examples(csv, "x.csv", labelled, columns)[0].label; };
  EXPECT_NE(error({.source = "text"}).find("x.csv:1: found 4 columns (id, what, verdict, note), expected the text in"),
            std::string::npos);
  EXPECT_NE(error({.source = "what"}).find("leaves open where the label is; say so, as --label-column"),
            std::string::npos);
  EXPECT_NE(error({.source = "9", .label = "1"}).find("column '9'"), std::string::npos);
  EXPECT_NE(error({.source = "0", .label = "1"}).find("found 0, expected a number from 1"), std::string::npos);
  EXPECT_NE(error({.source = "2", .label = "2"}).find("expected two columns"), std::string::npos);
  EXPECT_NE(error({.source = "what", .header = false}).find("expected numbers"), std::string::npos);
}

TEST_F(Tables, RowsThatDoNotFitTheHeaderAreBad) {
  Dataset data;
  read_file(file("text,label\nwell, yes,pos\nfine,neg\nshort\nextra,pos,\n,pos\nx, \n", "x.csv"), ExampleKind::labelled,
            data);
  EXPECT_EQ(data.size(), 2);
  EXPECT_EQ(data.bad().count, 4);
  EXPECT_NE(data.bad().first.find("x.csv:2: found 3 columns, expected 2 as in the first row"), std::string::npos);
  EXPECT_EQ(data.bad().reasons.at("found no label"), 1);
  EXPECT_EQ(data.files()[0].good, 2);
  EXPECT_EQ(data.files()[0].bad, 4);
}

TEST_F(Tables, SeveralLabelsInAColumn) {
  const Columns columns = {.separator = "|"};
  EXPECT_EQ(
      examples("text,labels\nx,a|b | a\ny,\nz,c\n", "x.csv", ExampleKind::label_sets, columns),
      (std::vector<Example>{{.source = "x", .labels = {"a", "b"}}, {.source = "y"}, {.source = "z", .labels = {"c"}}}));
}

TEST_F(Tables, ParquetSaysWhatToDo) {
  EXPECT_NE(examples("PAR1", "x.parquet", ExampleKind::pairs)[0].label.find("to_csv"), std::string::npos);
}

TEST_F(Tables, ParallelFilesAreFoundByTheirNames) {
  const auto plan = [](const Row& paths) {
    Rows found;
    for (const PlannedFile& file : plan_files(paths)) found.push_back({file.path, file.target});
    return found;
  };
  const std::string en = file("Hi\nYou", "a.en"), de = file("Ha\nDu\n", "a.de"), tabs = file("x\ty\n", "b.1"),
                    more = file("x\ty\n", "b.2"), txt_en = file("a\n", "c.en.txt"), txt_de = file("b\n", "c.de.txt"),
                    csv = file("x,y\n", "a.csv"), other = file("x\n", "z.fr");
  EXPECT_EQ(plan({en, de, tabs, more, txt_en, txt_de}), (Rows{{en, de}, {tabs, ""}, {more, ""}, {txt_en, txt_de}}));
  EXPECT_EQ(plan({en, csv, de}), (Rows{{en, ""}, {csv, ""}, {de, ""}}));
  EXPECT_EQ(plan({en, other}), (Rows{{en, ""}, {other, ""}}));
  EXPECT_EQ(plan({en, en}), (Rows{{en, ""}, {en, ""}}));
  EXPECT_EQ(plan({"-"}), (Rows{{"-", ""}}));
  Dataset data;
  read_planned({en, de}, ExampleKind::pairs, data);
  EXPECT_EQ(data[1], (Example{.source = "You", .target = "Du"}));
  EXPECT_THROW(read_planned({en, other}, ExampleKind::pairs, data), Error) << "different numbers of lines";
}

}  // namespace
}  // namespace fovea
