// `fovea evaluate` as a user calls it: the lines it prints, its JSON, and how it answers bad files.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/example_folder.h"
#include "fovea/base/file.h"
#include "test_paths.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

class EvaluateVerb : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text) const {
    write_text(folder_ / name, text);
    return (folder_ / name).string();
  }
  Answer evaluate(const std::string& arguments, const std::string& input = "/dev/null") const {
    return run_program("evaluate " + arguments, {.input = input});
  }
  nlohmann::json numbers(const std::string& arguments) const {
    const Answer answer = evaluate(arguments + " --json");
    EXPECT_EQ(answer.code, 0) << answer.out;
    return nlohmann::json::parse(answer.out);
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("fovea_evaluate_" + std::to_string(getpid()));
  const std::string examples_ = std::string(test_data) + "/../examples/evaluate/";
};

// The text is what `sacrebleu REF -i HYP -m bleu chrf -w 2 -f text` and `--chrf-word-order 2` print.
TEST_F(EvaluateVerb, TranslationPrintsTheLinesOfSacreBleu) {
  const std::string arguments = "--task translation --references " + examples_ + "references.en";
  const std::string expected =
      "    BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 = 52.49 85.7/67.7/48.1/30.4 (BP = 0.972 "
      "ratio "
      "= 0.972 hyp_len = 35 ref_len = 36)\n"
      "  chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0 = 69.06\n"
      "chrF2++|nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|version:2.6.0 = 70.53\n";
  EXPECT_EQ(evaluate(arguments + " " + examples_ + "output.en").out, expected);
  EXPECT_EQ(evaluate(arguments + " -", examples_ + "output.en").out, expected) << "from stdin";
  EXPECT_EQ(evaluate(arguments, examples_ + "output.en").out, expected) << "stdin is the default";
  const std::string packed = (folder_ / "output.en.gz").string();
  ASSERT_EQ(std::system(("gzip -c " + examples_ + "output.en > " + packed).c_str()), 0);
  EXPECT_EQ(evaluate(arguments + " " + packed).out, expected);
  const std::string windows = file("crlf", std::string("The cat sat.\r\nA dog.\r\n")),
                    same = file("lf", "The cat sat.\nA dog.");
  EXPECT_NEAR(numbers("--task translation --references " + same + " " + windows)["BLEU"]["score"], 100, 1e-9);
}

TEST_F(EvaluateVerb, TranslationTakesSeveralReferencesAndOptions) {
  const std::string both = "--task translation --references " + examples_ + "references.en," + examples_ +
                           "references2.en " + examples_ + "output.en";
  const nlohmann::json json = numbers(both);
  EXPECT_NEAR(json["BLEU"]["score"], 61.47881529512643, 1e-9);
  EXPECT_EQ(json["BLEU"]["signature"], "nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0");
  EXPECT_EQ(json["BLEU"]["reference_length"], 34);
  EXPECT_EQ(json["lines"], 4);
  EXPECT_EQ(
      numbers(both + " --lowercase --tokenizer char --smoothing floor --smoothing-value 0.5")["BLEU"]["signature"],
      "nrefs:2|case:lc|eff:no|tok:char|smooth:floor[0.50]|version:2.6.0");
}

TEST_F(EvaluateVerb, SummarizationKnowsStemsAndSentences) {
  const std::string arguments =
      "--task summarization --references " + examples_ + "summaries.txt " + examples_ + "output_summaries.txt";
  EXPECT_NE(numbers(arguments)["rouge1"], numbers(arguments + " --stemmer")["rouge1"]);
  const std::string a = file("a", "one two<n>three four\n"), b = file("b", "three four<n>one two\n");
  const nlohmann::json json = numbers("--task summarization --sentence-break '<n>' --references " + a + " " + b);
  EXPECT_DOUBLE_EQ(json["rougeL"]["f1"], 0.5);
  EXPECT_DOUBLE_EQ(json["rougeLsum"]["f1"], 1);
}

TEST_F(EvaluateVerb, TaggingReadsColumnsOfBothKinds) {
  const std::string gold = file(
                        "gold",
                        "-DOCSTART- -X- O O\n\nAnna NNP I-NP I-PER\nsaw VBD I-VP O\nRome NNP I-NP I-LOC\n\n. . O O\n"),
                    found = file("found",
                                 "Anna\tNNP\tB-NP\tB-PER\nsaw\tVBD\tB-VP\tO\nRome\tNNP\tB-NP\tB-PER\n\n.\t.\tO\tO");
  const nlohmann::json json = numbers("--task tagging --references " + gold + " " + found);
  EXPECT_DOUBLE_EQ(json["micro"]["f1"], 0.5);
  EXPECT_DOUBLE_EQ(json["types"]["PER"]["precision"], 0.5);
  EXPECT_EQ(json["types"]["LOC"]["support"], 1);
  EXPECT_EQ(json["sentences"], 2);
  EXPECT_EQ(json["sentences_right"], 1);
  EXPECT_DOUBLE_EQ(json["accuracy"], 0.75) << "IOB1 against IOB2: what they mean is compared";
  EXPECT_DOUBLE_EQ(numbers("--task tagging --column 3 --references " + gold + " " + found)["micro"]["f1"], 1);
  const Answer table = evaluate("--task tagging --references " + gold + " " + found);
  EXPECT_NE(table.out.find("weighted avg     0.2500    0.5000    0.3333         2"), std::string::npos) << table.out;
}

TEST_F(EvaluateVerb, ClassificationReadsDataSetsAndAnswers) {
  const nlohmann::json json =
      numbers("--task classification --references " + examples_ + "labels.tsv " + examples_ + "output_labels.tsv");
  EXPECT_DOUBLE_EQ(json["accuracy"], 0.6);
  EXPECT_NEAR(json["macro"]["f1"], (2.0 / 3 + 0 + 0.8) / 3, 1e-15);
}

TEST_F(EvaluateVerb, SetsOfLabelsAreReadAsClassifyPrintsThem) {
  const std::string gold = file("gold", "new\tgood\n\nold\n"),
                    printed = file("printed", "good\t0.9012\tnew\t0.5100\n\ngood\t0.7000\n");
  const nlohmann::json json = numbers("--task classification --labelling several --references " + gold + " " + printed);
  EXPECT_NEAR(json["accuracy"], 2.0 / 3, 1e-12) << "two of three sets are right";
  EXPECT_NEAR(json["micro"]["f1"], 2 * 2 / (3.0 + 3), 1e-12);
}

TEST_F(EvaluateVerb, AModelIsScoredByTheKindOfLabelsThatItLearned) {
  const ExampleFolder folder("evaluate_labels");
  std::string numbered, several;
  for (int i = 0; i < 40; ++i) {
    const std::string text = fmt::format("The {} was {} times too long.", i % 2 ? "film" : "song", i);
    numbered += fmt::format("{}\t{}\n", text, i % 2 + 0.01 * i);
    several += fmt::format("{}\t{}|long\n", text, i % 2 ? "film" : "song");
  }
  write_text(folder / "numbers.tsv", numbered);
  write_text(folder / "several.tsv", several);
  const std::string train = "train classification --steps 2 --embedding 8 --encoder none --hold-out 20 -o ";
  ASSERT_EQ(folder.run(train + "number --labelling number --data numbers.tsv").code, 0);
  ASSERT_EQ(folder.run(train + "several --labelling several --label-separator '|' --data several.tsv").code, 0);
  const auto scored = [&](const std::string& model) {
    const Answer answer = folder.run("evaluate --json -m " + model);
    EXPECT_EQ(answer.code, 0) << answer.out;
    return nlohmann::json::parse(answer.out.substr(answer.out.find('{')));
  };
  const nlohmann::json number = scored("number"), sets = scored("several");
  EXPECT_TRUE(number.contains("pearson") && number.contains("mean_squared_error")) << number;
  EXPECT_EQ(sets["labels"]["long"]["support"], sets["lines"]) << "each text has it beside another: " << sets;
}

TEST_F(EvaluateVerb, WhatAModelsDataIsAndWhereItComesFromIsSaidIfItIsNotThere) {
  const Answer answer = run_program("evaluate -m sentiment", {.folder = folder_.string()});
  EXPECT_EQ(answer.code, 2);
  for (const char* part : {"names the data reviews.tsv, which is not here", "its source: Kotzias et al. 2015",
                           "fovea evaluate -m sentiment --data FILE --part all"})
    EXPECT_NE(answer.out.find(part), std::string::npos) << answer.out;
  EXPECT_EQ(std::count(answer.out.begin(), answer.out.end(), '\n'), 1) << answer.out;
}

TEST_F(EvaluateVerb, AlignmentsAndLanguageModels) {
  EXPECT_DOUBLE_EQ(numbers("--task alignment --references " + examples_ + "gold.pharaoh " + examples_ +
                           "output.pharaoh")["error_rate"],
                   1 - (6.0 + 7.0) / (8 + 8));
  const std::string logs = examples_ + "log_probabilities.txt";
  EXPECT_NEAR(numbers("--task language " + logs)["perplexity"], std::exp(13.2 / 8), 1e-12);
  EXPECT_NEAR(numbers("--task language --references " + examples_ + "text.txt " + logs)["bits_per_byte"],
              13.2 / std::log(2.0) / 22, 1e-12);
}

TEST_F(EvaluateVerb, DemandsAreCountedByKind) {
  const std::string asked = file("asked.tsv",
                                 "# comment\nnames\tTom came.\tTom\tkam|gekommen\nnumbers\tI have 2.5 cats.\t2,5\n"),
                    found = file("found", "Tom kam.\nIch habe 25 Katzen.\n");
  const std::string arguments = "--task demands --references " + asked + " " + found;
  EXPECT_EQ(evaluate(arguments).out,
            "kind         sentences   met   share\n"
            "names                1     1  1.0000\n"
            "numbers              1     0  0.0000\n"
            "all                  2     1  0.5000\n");
  const Answer listed = evaluate(arguments + " --failures");
  EXPECT_NE(listed.out.find(
                asked + ":3 (numbers)\n  source:  I have 2.5 cats.\n  answer:  Ich habe 25 Katzen.\n  not met: 2,5\n"),
            std::string::npos)
      << listed.out;
  const nlohmann::json json = numbers(arguments + " --failures");
  EXPECT_DOUBLE_EQ(json["share"], 0.5);
  EXPECT_EQ(json["kinds"]["names"]["met"], 1);
  EXPECT_EQ(json["failures"][0]["line"], 3);
  EXPECT_EQ(json["lines"], 2);
}

// Each bad input: one line that says what is wrong, exit code 2.
TEST_F(EvaluateVerb, BadInputGivesOneClearLineAndExitCodeTwo) {
  const std::string two = file("two", "a\nb\n"), three = file("three", "a\nb\nc\n"), empty = file("empty", ""),
                    bad = file("bad", "fine\nno\xffpe\n"), tags = file("tags", "Anna B-PER\nsaw O\n\nRome B-LOC\n"),
                    other = file("other", "Anna B-PER\nsees O\n\nRome B-LOC\n"),
                    longer = file("longer", "Anna B-PER\nsaw O\nit O\n\nRome B-LOC\n"),
                    sentence = file("sentence", "Anna B-PER\nsaw O\n"), column = file("column", "Anna B-PER\nsaw\n"),
                    columns = file("columns", "Anna B-PER\nsaw VBD O\n"), odd = file("odd", "Anna NNP\nsaw VBD\n"),
                    links = file("links", "0-0\n0:1\n"), logs = file("logs", "-1 -2\n0.5\n");
  auto task = [](const char* name, const std::string& references, const std::string& hypotheses) {
    return std::string("--task ") + name + " --references " + references + " " + hypotheses;
  };
  const std::pair<std::string, std::string> cases[] = {
      {"", "found no --task"},
      {"--task translate --references " + two + " " + two, "did you mean 'translation'?"},
      {"--task translation " + two, "found no --references"},
      {task("translation", two, three), three + ": found 3 lines, expected 2 as in " + two},
      {task("translation", two + "," + three, two), "found 2 lines, expected 3 as in " + three},
      {task("summarization", three, two), "found 2 lines, expected 3"},
      {task("classification", three, two), "found 2 lines, expected 3"},
      {task("translation", two, (folder_ / "missing").string()), "cannot open"},
      {task("translation", (folder_ / "missing").string(), two), "cannot open"},
      {task("translation", folder_.string(), two), "found a folder"},
      {task("translation", two, empty), "found no lines"},
      {task("translation", two, "-"), "stdin: found no lines"},
      {task("translation", two, bad), bad + ":2: byte 2: found 0xff, expected UTF-8"},
      {task("translation", bad, two), "expected UTF-8"},
      {task("translation", two, two) + " --tokenizer 13b", "did you mean '13a'?"},
      {task("translation", two, two) + " --smoothing expo", "did you mean 'exp'?"},
      {task("translation", two, two) + " --smoothing-value 1", "expected --smoothing floor or add-k"},
      {task("translation", two, two) + " --stemmer", "--stemmer: found it beside --task translation"},
      {task("tagging", tags, tags) + " --lowercase", "--lowercase: found it beside --task tagging"},
      {task("tagging", tags, other), other + ":2: found the word 'sees', expected 'saw'"},
      {task("tagging", tags, longer), longer + ":1: found a sentence of 3 words, expected 2"},
      {task("tagging", tags, sentence), "found 1 sentences, expected 2"},
      {task("tagging", tags, column), column + ":2: found one column, expected a word and its tag"},
      {task("tagging", tags, columns), columns + ":2: found 3 columns, expected 2"},
      {task("tagging", tags, odd), odd + ":1: found the tag 'NNP', expected O"},
      {task("tagging", tags, tags) + " --column 5", "expected the tag in column 5"},
      {task("tagging", tags + "," + tags, tags), "found 2 files, expected one"},
      {task("classification", two, file("gap", "a\n\n")), ":2: found no label"},
      {task("alignment", file("gold", "0-0\n1-1\n"), links), links + ":2: found '0:1'"},
      {task("demands", two, two), two + ":1: found 1 columns, expected a kind"},
      {task("demands", file("asked", "news\tOne.\teins\n"), two), "found 2 lines, expected 1, one for each sentence"},
      {"--task language " + logs, logs + ":2: found '0.5', expected natural logarithms"},
      {task("translation", two, two) + " --jsn", "did you mean '--json'?"},
  };
  for (const auto& [arguments, expected] : cases) {
    const Answer answer = evaluate(arguments);
    EXPECT_EQ(answer.code, 2) << arguments << "\n" << answer.out;
    EXPECT_NE(answer.out.find(expected), std::string::npos) << arguments << "\n" << answer.out;
    EXPECT_EQ(std::count(answer.out.begin(), answer.out.end(), '\n'), 1) << arguments << "\n" << answer.out;
  }
}

TEST_F(EvaluateVerb, AModelOfPicturesIsScoredOnAFolderOfThem) {
  const ExampleFolder folder("evaluate_pictures");
  const Answer scored = folder.run("evaluate -m my-looker --data pictures --json");
  ASSERT_EQ(scored.code, 0) << scored.out;
  const auto json = nlohmann::json::parse(scored.out.substr(scored.out.find('{')));
  EXPECT_EQ(json["task"], "images");
  EXPECT_EQ(json["lines"], 12);
  EXPECT_TRUE(json.contains("accuracy"));
  // What is missing is said: it has no recipe that would name its data.
  const Answer bare = folder.run("evaluate -m my-looker");
  EXPECT_EQ(bare.code, 2);
  EXPECT_NE(bare.out.find("found no recipe.yaml that names its data, expected --data"), std::string::npos) << bare.out;
}

TEST_F(EvaluateVerb, HelpShowsAnExampleOfEveryTask) {
  const Answer help = evaluate("--help");
  for (const char* task :
       {"translation", "summarization", "tagging", "classification", "alignment", "language", "demands"})
    EXPECT_NE(help.out.find(std::string("fovea evaluate --task ") + task), std::string::npos) << task;
}

}  // namespace
}  // namespace fovea
