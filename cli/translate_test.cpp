// `fovea translate` and `fovea summarize` as a user calls them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/example_folder.h"
#include "fovea/generate/translate.h"
#include "test_paths.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class TranslateVerb : public testing::Test {
 protected:
  Answer run(const std::string& arguments, const std::string& input = "/dev/null") const {
    return folder_.run("translate -m my-model " + arguments, input);
  }
  // What the library says, with the model's own defaults.
  std::string expected(const std::string& text) const {
    const Pretrained model = load_pretrained(folder_ / "my-model");
    return translate(model.as<Generator>(), *model.tokenizer, {text}, read_generation_config(folder_ / "my-model"))[0]
        .found[0]
        .text;
  }

  ExampleFolder folder_{"translate"};
};

// The lines of a text.
std::vector<std::string> split(const std::string& text, char at = '\n') {
  std::vector<std::string> parts;
  for (size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
  }
  return parts;
}

TEST_F(TranslateVerb, SaysWhatTheLibrarySaysWithTheModelsDefaults) {
  const std::string text = "The teacher wrote a letter.";
  ASSERT_FALSE(expected(text).empty());
  EXPECT_EQ(run("'" + text + "'").out, expected(text) + "\n");
  EXPECT_NE(run("'" + text + "' --max-length 2").out, expected(text) + "\n");
  write_text(folder_ / "flags.yaml", "model: my-model\ntext: " + text + "\n");
  EXPECT_EQ(folder_.run("translate --config flags.yaml").out, expected(text) + "\n");
}

TEST_F(TranslateVerb, OneLineInOneLineOutInOrderFromAnySource) {
  write_text(folder_ / "lines.txt", "The sea.\n\nThe gardener sang about the window.\n \nParis\n");
  const Answer lines = run("", "lines.txt");
  ASSERT_EQ(lines.code, 0) << lines.out;
  EXPECT_EQ(lines.out, expected("The sea.") + "\n\n" + expected("The gardener sang about the window.") + "\n\n" +
                           expected("Paris") + "\n");
  EXPECT_EQ(run("-i lines.txt").out, lines.out);
  EXPECT_EQ(run("-i lines.txt -o out.txt").out, "");
  EXPECT_EQ(read_text(folder_ / "out.txt"), lines.out);
  write_text(folder_ / "lines.jsonl", "{\"t\": \"The sea.\"}\n{\"t\": \"The gardener\\nsang about the window.\"}\n");
  EXPECT_EQ(run("-i lines.jsonl --key t").out,
            expected("The sea.") + "\n" + expected("The gardener sang about the window.") + "\n");
  EXPECT_EQ(run("-i text.txt.gz").out, run("-i text.txt").out);
}

TEST_F(TranslateVerb, AnswersALineBeforeTheNextOneIsWritten) {
  const Answer answer = run_command(
      "cd " + folder_.path().string() + " && mkfifo in && (" + test_program +
      " translate -m my-model < in > out & exec 3>in; echo 'The sea.' >&3; "
      "for i in $(seq 100); do [ -s out ] && break; sleep 0.1; done; wc -l < out; echo Paris >&3; exec 3>&-; wait; "
      "wc -l < out)");
  EXPECT_EQ(answer.out, "1\n2\n");
}

TEST_F(TranslateVerb, JsonHoldsTokensSpansProbabilitiesAndWeights) {
  const std::string text = "The  teacher wrote a letter.";
  const Json json = Json::parse(run("'" + text + "' --json -b 3 --n-best 2").out);
  EXPECT_EQ(json["source"], text);
  std::string source, target;
  for (const Json& token : json["source_tokens"]) source += token["text"];
  EXPECT_EQ((std::erase(source, ' '), source), "Theteacherwrotealetter.");
  double sum = 0;
  for (const Json& token : json["tokens"]) {
    const size_t begin = token["span"][0], end = token["span"][1];
    EXPECT_EQ(token["text"], json["text"].get<std::string>().substr(begin, end - begin));
    target += token["text"].get<std::string>();
    sum += token["log_probability"].get<double>();
  }
  std::string whole = json["text"];
  EXPECT_EQ((std::erase(target, ' '), target), (std::erase(whole, ' '), whole));
  EXPECT_NEAR(json["score"].get<double>(), sum / static_cast<double>(json["tokens"].size()), 1e-4);
  ASSERT_EQ(json["weights"].size(), json["tokens"].size());
  for (const Json& row : json["weights"]) {
    ASSERT_EQ(row.size(), json["source_tokens"].size());
    double total = 0;
    for (const Json& weight : row) total += weight.get<double>();
    EXPECT_NEAR(total, 1, 1e-4);
  }
  ASSERT_EQ(json["others"].size(), 1u);
  EXPECT_LE(json["others"][0]["score"], json["score"]);
}

TEST_F(TranslateVerb, NBestListsAreMosesLines) {
  write_text(folder_ / "two.txt", "The sea.\nParis\n");
  const std::vector<std::string> lines = split(run("-i two.txt -b 4 --n-best 3").out);
  ASSERT_EQ(lines.size(), 6u);
  double last = 0;
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_TRUE(lines[i].starts_with(i < 3 ? "0 ||| " : "1 ||| ")) << lines[i];
    const double score = std::stod(lines[i].substr(lines[i].rfind(" ||| ") + 5));
    if (i % 3 > 0) {
      EXPECT_LE(score, last);
    }
    last = score;
  }
}

TEST_F(TranslateVerb, AlignmentsLinkTheWordsThatTheWeightsLink) {
  const std::string text = "The teacher wrote";
  const std::string line = run("'" + text + "' --alignment").out;
  const std::vector<std::string> columns = split(line.substr(0, line.size() - 1), '\t');
  ASSERT_EQ(columns.size(), 2u) << line;
  EXPECT_EQ(columns[0], expected(text));
  const std::vector<std::string> words = split(columns[0], ' '), links = split(columns[1], ' ');
  ASSERT_EQ(links.size(), words.size());
  const std::vector<std::string> soft = split(run("'" + text + "' --alignment soft").out, '\t');
  ASSERT_EQ(soft.size(), 2u);
  for (size_t target = 0; target < words.size(); ++target) {
    std::string best;
    double largest = 0;
    for (const std::string& link : split(soft[1].substr(0, soft[1].size() - 1), ' ')) {
      const size_t dash = link.find('-'), colon = link.find(':');
      const double weight = std::stod(link.substr(colon + 1));
      if (std::stoul(link.substr(dash + 1)) == target && weight > largest + 0.011)
        largest = weight, best = link.substr(0, colon);
    }
    if (!best.empty() && largest > 0.5) {
      EXPECT_EQ(links[target], best);
    }
    EXPECT_TRUE(links[target].ends_with(fmt::format("-{}", target)));
  }
  EXPECT_EQ(split(run("'" + text + "' --alignment -b 2 --n-best 2").out)[0].find("0 ||| " + columns[0] + " ||| "), 0u);
}

TEST_F(TranslateVerb, SamplingNeedsNoOtherBeamThanTheModels) {
  const Answer drawn = run("'The sea.' --sample --seed 1");
  EXPECT_EQ(drawn.code, 0) << drawn.out;
  EXPECT_EQ(run("'The sea.' --sample --seed 1").out, drawn.out);
  EXPECT_NE(run("'The sea.' --sample --seed 2").out, drawn.out);
  EXPECT_EQ(run("'The sea.' --sample -b 3").code, 2);
}

TEST_F(TranslateVerb, APrefixIsForced) {
  const std::string out = run("'The sea.' --prefix 'The sailor' --max-length 12").out;
  EXPECT_TRUE(out.starts_with("The sailor")) << out;
}

TEST_F(TranslateVerb, ShowsTheAttentionInTheTerminalAndAsAPicture) {
  const std::string out = run("'The teacher wrote' --show --svg a.svg").out;
  EXPECT_NE(out.find("teacher"), std::string::npos) << out;
  const std::string svg = read_text(folder_ / "a.svg");
  EXPECT_TRUE(svg.starts_with("<svg"));
  EXPECT_NE(svg.find(">teacher<"), std::string::npos);
}

TEST_F(TranslateVerb, AnEmptyTextIsNotStdin) {
  write_text(folder_ / "lines.txt", "The sea.\n");
  EXPECT_EQ(run("''", "lines.txt").out, "\n");
  EXPECT_EQ(run("", "lines.txt").out, expected("The sea.") + "\n");
  EXPECT_EQ(Json::parse(run("'' --json", "lines.txt").out)["source"], "");
}

TEST_F(TranslateVerb, JsonKeepsTheOtherFieldsOfTheInput) {
  write_text(folder_ / "in.jsonl", R"({"id": 7, "t": "The sea.", "score": "mine"})"
                                   "\n"
                                   R"({"t": "Paris", "deep": {"a": [1, null]}})"
                                   "\n");
  std::vector<Json> found;
  for (const std::string& line : split(run("-i in.jsonl --key t --json").out)) found.push_back(Json::parse(line));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0]["id"], 7);
  EXPECT_EQ(found[0]["t"], "The sea.");
  EXPECT_EQ(found[0]["text"], expected("The sea."));
  EXPECT_TRUE(found[0]["score"].is_number());
  EXPECT_EQ(found[1]["deep"], Json::parse(R"({"a": [1, null]})"));
  EXPECT_TRUE(run("-i in.jsonl --key t --json").out.starts_with(R"({"id":7,)"));
  write_text(folder_ / "in.json", R"([{"id": "x", "t": "The sea."}])");
  EXPECT_EQ(Json::parse(run("-i in.json --key t --json").out)["id"], "x");
}

// As somebody sees it who never learned to translate: every probability is small.
TEST_F(TranslateVerb, WhatIsNotToBeTrustedIsMarked) {
  const auto json = [&](const char* below) {
    return Json::parse(run(std::string("'The sea. Paris.' --json --piece-tokens 40 --unsure-below ") + below).out);
  };
  EXPECT_EQ(json("0")["unsure"], false);
  EXPECT_EQ(json("-100")["unsure"], false);
  EXPECT_FALSE(json("-100").contains("unsure_spans"));
  EXPECT_EQ(json("-0.0001")["unsure"], true);
  EXPECT_EQ(json("-0.0001")["unsure_spans"], (Json{{0, 8}, {9, 15}}));
  const std::string folder = folder_.path().string(),
                    line = "translate -m my-model 'The sea. Paris.' --piece-tokens 40 ";
  EXPECT_NE(run_in_terminal(line + "--unsure-below -0.0001", folder).out.find("unsure of: The sea. (and 1 more)"),
            std::string::npos);
  for (const char* flags : {"--unsure-below -0.0001 --quiet", "--unsure-below -100", ""})
    EXPECT_EQ(run_in_terminal(line + flags, folder).out.find("unsure"), std::string::npos) << flags;
  EXPECT_EQ(run("'The sea.' --unsure-below -0.0001").out, expected("The sea.") + "\n");
}

TEST_F(TranslateVerb, SummarizeIsTheSameCall) {
  EXPECT_EQ(folder_.run("summarize -m my-model 'The sea.'").out, run("'The sea.'").out);
}

TEST_F(TranslateVerb, ModelsThatShipGoByTheirName) {
  fs::create_directories(folder_ / "zoo");
  fs::copy(folder_ / "my-model", folder_ / "zoo/de-en", fs::copy_options::recursive);
  const auto at_home = [&](const std::string& line) {
    return run_line("FOVEA_ZOO=$PWD/zoo; export FOVEA_ZOO; fovea translate " + line, folder_.path().string());
  };
  EXPECT_EQ(at_home("-m de-en 'The sea.'").out, expected("The sea.") + "\n");
  EXPECT_EQ(at_home("--to en 'The sea.'").out, expected("The sea.") + "\n");
  const Answer missing = at_home("'The sea.'");
  EXPECT_EQ(missing.code, 2);
  EXPECT_NE(missing.out.find("none ships as 'en-de': give -m FOLDER; those that ship are de-en"), std::string::npos)
      << missing.out;
  EXPECT_NE(at_home("-m fr-en 'The sea.'").out.find("those that ship are de-en"), std::string::npos);
}

TEST_F(TranslateVerb, BadInputGivesOneClearLineAndExitCodeTwo) {
  const auto copy = [&](const char* name) {
    fs::copy(folder_ / "my-model", folder_ / name);
    return folder_ / name;
  };
  fs::remove(copy("without_tokenizer") / "spiece.model");
  write_text(copy("damaged_tokenizer") / "spiece.model", "nonsense");
  fs::resize_file(copy("cut_weights") / "model.safetensors", 1000);
  write_text(copy("bad_config") / "config.json", "{\"model_type\": \"transformer\", \"wdith\": 3}");
  write_text(copy("bad_defaults") / "generation_config.json", "{\"num_beams\": 0}");
  write_text(folder_ / "latin1.txt", "fine\nna\xefve\n");
  fs::create_directories(folder_ / "empty");
  std::string many;
  for (int i = 0; i < 17; ++i) many += "Paris\n";
  write_text(folder_ / "many.txt", many);
  const std::pair<const char*, const char*> cases[] = {
      {"-m missing Paris", "found no model 'missing'"},
      {"-m empty Paris", "empty: found no config.json"},
      {"-m without_tokenizer Paris", "without_tokenizer: found no tokenizer"},
      {"-m damaged_tokenizer Paris", "damaged_tokenizer/spiece.model"},
      {"-m cut_weights Paris", "cut_weights"},
      {"-m bad_config Paris", "did you mean 'width'?"},
      {"-m bad_defaults Paris", "found beam_size 0"},
      {"-m my-classifier Paris", "found a model of family 'classifier'"},
      {"-m my-model -i latin1.txt", "latin1.txt:2: byte 2: found 0xef"},
      {"-m my-model -i missing.txt", "missing.txt: cannot open"},
      {"-m my-model \"$(printf 'na\\357ve')\"", "expected UTF-8"},
      {"-m my-model Paris --svg missing/a.svg", "missing/a.svg: cannot"},
      {"-m my-model Paris -o missing/a.txt", "missing/a.txt: cannot"},
      {"-m my-model -i many.txt --svg many.svg", "found more than 16 texts"},
      {"-m my-model Paris --json --show", "--json: found --show"},
      {"-m my-model Paris --json --alignment", "--json: found --alignment"},
      {"-m my-model --alignment=sotf Paris", "did you mean 'soft'?"},
      {"-m my-model Paris -i text.txt", "found a text beside --input"},
      {"-m my-model Paris --n-best 3", "found n_best 3 with beam_size 2"},
      {"-m my-model Paris --from de", "--model: found --from or --to"},
      {"-m my-model Paris --beam-sise 3", "did you mean '--beam-size'?"},
      {"-m my-model -i dialogues.json --key text", "found no key 'text'"},
      {"-m my-model '' -i text.txt", "found a text beside --input"},
      {"-m my-model Hello world", "put the text in quotes: fovea translate \"Hello world\"; found 2 of them"},
      {"-m my-model Paris --unsure-below 1", "found unsure_below 1"},
      {"-m my-model Paris -b 2147483648", "found beam_size 2147483648, expected 1 to 10000"},
      {"-m my-model Paris --batch-size 9223372036854775807",
       "found batch_size 9223372036854775807, expected 1 to 10000"},
      {"-m my-model Paris --batch-size 99999999999999999999", "found batch_size"},
      {"-m my-model Paris --batch-size 0", "found batch_size 0"},
      {"-m my-model Paris --max-length 99999999999", "max_length 99999999999"},
  };
  for (const auto& [arguments, wanted] : cases) {
    const Answer answer = folder_.run(std::string("translate ") + arguments);
    EXPECT_EQ(answer.code, 2) << arguments << "\n" << answer.out;
    EXPECT_NE(answer.out.find(wanted), std::string::npos) << arguments << "\n" << answer.out;
    EXPECT_EQ(std::count(answer.out.begin(), answer.out.end(), '\n'), 1) << arguments << "\n" << answer.out;
  }
  EXPECT_FALSE(fs::exists(folder_ / "many.svg"));
}

TEST_F(TranslateVerb, ATargetLanguageIsTheFirstToken) {
  const std::string pieces = folder_.run("tokenize -m my-model 'day'").out;
  const std::string first = pieces.substr(0, pieces.find_first_of(" \n"));
  const Answer found = folder_.run("translate -m my-model 'a b' --json --target-language '" + first + "'");
  EXPECT_EQ(found.code, 0) << found.out;
  const Answer ids = folder_.run("tokenize -m my-model --ids 'day'");
  EXPECT_NE(found.out, folder_.run("translate -m my-model 'a b' --json").out) << ids.out;
  const Answer unknown = folder_.run("translate -m my-model 'a b' --target-language xx_XX");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.out.find("'xx_XX'"), std::string::npos) << unknown.out;
}

}  // namespace
}  // namespace fovea
