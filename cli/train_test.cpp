// `fovea train` as a user calls it, and as a user, a power cut or bad data interrupts it.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/program.h"
#include "fovea/base/file.h"
#include "fovea/train/log.h"
#include "fovea/train/toy_data.h"
#include "test_paths.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

constexpr const char* small =
    "--width 32 --heads 2 --hidden 64 --encoder-layers 1 --decoder-layers 1 --tokenizer words --batch-tokens 600 "
    "--learning-rate 0.01 --warmup 20 --validate-every 30 --checkpoint-every 10 --log-every 10";

class TrainVerb : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    write_text(folder_ / "pairs.tsv", toy_pairs(300));
  }
  void TearDown() override { fs::remove_all(folder_); }

  Answer run(const std::string& arguments) const {
    return run_program("train " + arguments, {.folder = folder_.string()});
  }
  Answer refused(const std::string& arguments) const {
    const Answer answer = run(arguments);
    EXPECT_EQ(answer.code, 2) << answer.out;
    EXPECT_EQ(std::count(answer.out.begin(), answer.out.end(), '\n'), 1) << answer.out;
    return answer;
  }

  // Starts a training without waiting for it.
  pid_t start(const std::string& arguments) const {
    const std::string command =
        fmt::format("cd {} && exec {} train {} >> out.txt 2>&1", folder_.string(), test_program, arguments);
    const pid_t child = fork();
    if (child == 0) {
      execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
      _exit(127);
    }
    return child;
  }
  void expect_same(const std::string& one, const std::string& other) const {
    for (const char* file : {"last/training.safetensors", "last/model.safetensors", "best/model.safetensors"})
      EXPECT_TRUE(read_text(folder_ / one / file) == read_text(folder_ / other / file)) << file;
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("fovea_train_" + std::to_string(getpid()));
};

TEST_F(TrainVerb, KilledAtAnyMomentAndResumedItEndsWithTheSameBits) {
  const std::string flags = fmt::format("translation --data pairs.tsv {} --steps 120 --average 0.9", small);
  ASSERT_EQ(run(flags + " -o straight").code, 0);
  int kills = 0;
  for (uint64_t attempt = 0;; ++attempt) {
    ASSERT_LT(attempt, 200u);
    const pid_t child = start(flags + " -o killed" + (fs::exists(folder_ / "killed/last") ? " --resume" : ""));
    const uint64_t most = 400 + 200 * (attempt / 3);  // longer from time to time, so that it ends on any machine
    std::this_thread::sleep_for(std::chrono::milliseconds(Random(17).below(most, attempt)));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (WIFEXITED(status)) {
      ASSERT_EQ(WEXITSTATUS(status), 0) << read_text(folder_ / "out.txt");
      break;
    }
    ++kills;
  }
  EXPECT_GE(kills, 1);
  expect_same("straight", "killed");
}

TEST_F(TrainVerb, StoppedByTheUserItSaysHowToGoOn) {
  const std::string flags = fmt::format("translation --data pairs.tsv {} --steps 100", small);
  ASSERT_EQ(run(flags + " -o straight").code, 0);
  const pid_t child = start(flags + " -o stopped");
  while (!fs::exists(folder_ / "stopped/last")) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  kill(child, SIGINT);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  const std::string out = read_text(folder_ / "out.txt"), how = "go on with: fovea train ";
  if (const size_t at = out.find(how); at != std::string::npos) {  // or it was faster than the signal
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << "a shell sees 130";
    const std::string command = out.substr(at + how.size(), out.find('\n', at) - at - how.size());
    EXPECT_EQ(command, "stopped/last/recipe.yaml --resume");
    ASSERT_EQ(run(command).code, 0);
  }
  expect_same("straight", "stopped");
}

TEST_F(TrainVerb, RecipeAndFlagsSayTheSame) {
  const std::string flags = fmt::format("translation --data pairs.tsv {} --steps 12 -o one", small);
  const Answer dumped = run(flags + " --dump-config");
  ASSERT_EQ(dumped.code, 0);
  write_text(folder_ / "recipe.yaml", dumped.out);
  ASSERT_EQ(run(flags).code, 0);
  const Answer second = run("recipe.yaml -o two --quiet");
  ASSERT_EQ(second.code, 0);
  EXPECT_TRUE(second.out.starts_with("two/best\tstep 12\tbleu ")) << second.out;
  EXPECT_TRUE(read_text(folder_ / "one/best/model.safetensors") == read_text(folder_ / "two/best/model.safetensors"));
  const std::vector<LogLine> log = read_log(folder_ / "two/log.jsonl");
  ASSERT_EQ(log.size(), 2u);
  EXPECT_EQ(log[0].step, 10);
  EXPECT_EQ(log[1].validation[0].first, "bleu");
  EXPECT_EQ(log[1].validation[1].first, "loss");
  // Another seed is another model.
  ASSERT_EQ(run("recipe.yaml -o three --seed 2").code, 0);
  EXPECT_FALSE(read_text(folder_ / "one/best/model.safetensors") ==
               read_text(folder_ / "three/best/model.safetensors"));
}

TEST_F(TrainVerb, ALossThatExplodesNamesTheStep) {
  const Answer answer =
      run("translation --data pairs.tsv --width 32 --tokenizer words --steps 100 -o wild --optimiser sgd "
          "--learning-rate 1e6 "
          "--clip 0 --warmup 1");
  EXPECT_EQ(answer.code, 2);
  EXPECT_NE(answer.out.find("of step "), std::string::npos) << answer.out;
  EXPECT_NE(answer.out.find("--learning-rate"), std::string::npos) << answer.out;
}

TEST_F(TrainVerb, BadLinesAreCountedOrStopIt) {
  write_text(folder_ / "bad.tsv", toy_pairs(300) + "no tab here\n");
  const std::string flags = fmt::format("translation --data bad.tsv {} --steps 1 -o m", small);
  EXPECT_NE(run(flags).out.find("bad.tsv:301: found 1 column"), std::string::npos);
  const Answer strict = run(flags + "2 --strict");
  EXPECT_EQ(strict.code, 2);
  EXPECT_NE(strict.out.find("bad.tsv:301: found 1 column"), std::string::npos) << strict.out;
}

TEST_F(TrainVerb, WhatIsWrongIsOneClearLine) {
  EXPECT_NE(refused("").out.find("translation"), std::string::npos);
  EXPECT_NE(refused("translatoin --data pairs.tsv -o m").out.find("did you mean 'translation'"), std::string::npos);
  EXPECT_NE(refused("translation --data pairs.tsv -o m --stepps 3").out.find("did you mean '--steps'"),
            std::string::npos);
  EXPECT_NE(refused("translation -o m").out.find("--data"), std::string::npos);
  EXPECT_NE(refused("translation --data pairs.tsv").out.find("--output"), std::string::npos);
  EXPECT_NE(refused("missing.yaml").out.find("missing.yaml"), std::string::npos);
  EXPECT_NE(run("translation --data missing.tsv -o m").out.find("missing.tsv: cannot open"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder_ / "m")) << "what was made for nothing";
  write_text(folder_ / "typo.yaml", "task: translation\nlerning_rate: 1\n");
  EXPECT_NE(refused("typo.yaml").out.find("did you mean 'learning_rate'"), std::string::npos);
  EXPECT_NE(refused("typo.yaml").out.find("the flags of fovea train --help"), std::string::npos);
  write_text(folder_ / "broken.yaml", "task: [translation\n");
  EXPECT_NE(refused("broken.yaml").out.find("broken.yaml"), std::string::npos);
  write_text(folder_ / "notask.yaml", "steps: 3\n");
  EXPECT_NE(refused("notask.yaml").out.find("found no task"), std::string::npos);
  ASSERT_EQ(run(fmt::format("translation --data pairs.tsv {} --steps 1 -o m", small)).code, 0);
  EXPECT_NE(refused("translation --data pairs.tsv -o m").out.find("--resume"), std::string::npos);
}

TEST_F(TrainVerb, OtherDataCannotBeResumedOn) {
  ASSERT_EQ(run(fmt::format("translation --data pairs.tsv {} --steps 1 -o m", small)).code, 0);
  std::string changed = read_text(folder_ / "pairs.tsv");  // as many lines, one word of one of them another one
  changed.replace(changed.find("eins"), 4, "zwei");
  for (const std::string& text : {toy_pairs(200), changed}) {
    write_text(folder_ / "pairs.tsv", text);
    const Answer answer = run("m/last/recipe.yaml --resume --steps 2");
    EXPECT_EQ(answer.code, 2) << answer.out;
    EXPECT_NE(answer.out.find("found other data"), std::string::npos) << answer.out;
  }
}

TEST_F(TrainVerb, OnlyWhatWasBegunIsResumed) {
  EXPECT_NE(refused(fmt::format("translation --data pairs.tsv {} --steps 1 -o m --resume", small)).out.find("no last/"),
            std::string::npos);
  EXPECT_NE(refused("translation --data pairs.tsv -o pairs.tsv/m").out.find("pairs.tsv/m"), std::string::npos);
}

TEST_F(TrainVerb, TwoTrainingsDoNotShareAFolder) {
  const pid_t child = start(fmt::format("translation --data pairs.tsv {} --steps 100000 -o m", small));
  while (!fs::exists(folder_ / "m/last")) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_NE(refused(fmt::format("translation --data pairs.tsv {} --steps 1 -o m --resume", small))
                .out.find("another process"),
            std::string::npos);
  kill(child, SIGHUP);  // a terminal that is closed
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_NE(read_text(folder_ / "out.txt").find("go on with"), std::string::npos);
}

TEST_F(TrainVerb, TheTaskMayBeAFlag) {
  const Answer answer = run(fmt::format("--task translation --data pairs.tsv {} --steps 1 -o m", small));
  EXPECT_EQ(answer.code, 0) << answer.out;
  EXPECT_EQ(run("translation --task translation --help").code, 0);
  EXPECT_NE(
      refused("translation --task tagging --data pairs.tsv -o n").out.find("found tagging in a recipe for translation"),
      std::string::npos);
  write_text(folder_ / "labelled.tsv", toy_labelled(50));
  const Answer large = run("classification --data labelled.tsv -o n --layers 9223372036854775807");
  EXPECT_EQ(large.code, 2);
  EXPECT_NE(large.out.find("layers"), std::string::npos) << large.out;
}

TEST_F(TrainVerb, SaysWhatItReadAndWhatItChose) {
  const Answer answer =
      run("translation --data pairs.tsv -o m --width 16 --heads 2 --hidden 16 --tokenizer words --minutes 0.001");
  ASSERT_EQ(answer.code, 0) << answer.out;
  EXPECT_NE(answer.out.find("300"), std::string::npos) << answer.out;
  EXPECT_NE(answer.out.find("chosen by the amount of data"), std::string::npos) << answer.out;
  write_text(folder_ / "header.csv", "comment,stars\n\"good, really\",5\nbad,1\n");
  const Answer columns = run("classification --data header.csv -o c --hold-out 50 --steps 1");
  EXPECT_NE(columns.out.find("comment"), std::string::npos) << columns.out;
}

TEST_F(TrainVerb, ALanguageModelIsTrainedFromTextsAndMeasuredWithTheSameLoss) {
  write_text(folder_ / "text.txt", toy_text(200));
  const std::string flags =
      "language --data text.txt --tokenizer characters --n-layer 1 --n-head 2 --n-embd 16 --n-positions 32 "
      "--batch-tokens 256 --learning-rate 0.01 --warmup 5 --validate-every 20 --checkpoint-every 20";
  const Answer whole = run(flags + " -o whole --steps 60");
  ASSERT_EQ(whole.code, 0) << whole.out;
  ASSERT_EQ(run(flags + " -o half --steps 40").code, 0);
  ASSERT_EQ(run(flags + " -o half --steps 60 --resume").code, 0);
  expect_same("whole", "half");
  const auto program = [&](const std::string& arguments) {
    return run_program(arguments, {.folder = folder_.string()}).out;
  };
  const auto measured = nlohmann::json::parse(program("evaluate -m whole --part validation --json"));
  const auto logged = nlohmann::json::parse(
      read_text(folder_ / "whole/log.jsonl").substr(read_text(folder_ / "whole/log.jsonl").rfind("{\"step\"")));
  EXPECT_NEAR(measured["loss"], logged["validation"]["loss"], 1e-5);
  EXPECT_NEAR(measured["bits_per_byte"], logged["validation"]["bits_per_byte"], 1e-5);
  EXPECT_NEAR(std::log(measured["perplexity"].get<double>()), measured["loss"], 1e-9);
  const auto all = nlohmann::json::parse(program("evaluate -m whole --data text.txt --json"));
  EXPECT_EQ(all["bytes"], static_cast<int64_t>(toy_text(200).size())) << "nothing is kept for testing: all of it";
  EXPECT_NE(program("evaluate -m whole --data text.txt --stride 8 --json"),
            program("evaluate -m whole --data text.txt --json"));
  std::filesystem::remove(folder_ / "whole/best/recipe.yaml");
  const auto foreign = nlohmann::json::parse(program("evaluate -m whole/best --data text.txt --json"));
  EXPECT_EQ(foreign["loss"], all["loss"]) << "a folder of others has no recipe";
  EXPECT_NE(program("evaluate -m whole/best").find("expected --data"), std::string::npos);
  EXPECT_EQ(program("evaluate -m whole --data nowhere.txt"), "fovea: --data: found no file nowhere.txt\n");
  EXPECT_FALSE(program("generate -m half 'one two' --max-length 5").empty());
}

TEST_F(TrainVerb, AnotherTasksTextsAndTokenizersAreRefused) {
  write_text(folder_ / "text.txt", toy_text(20));
  EXPECT_NE(refused("language --data text.txt -o m --quiet --context 999").out.find("expected at most the 256 tokens"),
            std::string::npos);
  EXPECT_NE(refused("language --data text.txt -o m --quiet --documents words").out.find("--documents"),
            std::string::npos);
  EXPECT_NE(
      refused("masked --data text.txt -o m --quiet --lower-case=false --tokenizer bytes").out.find("without a mask"),
      std::string::npos);
  EXPECT_NE(refused("masked --data text.txt -o m --quiet --share 2").out.find("--share"), std::string::npos);
}

}  // namespace
}  // namespace fovea
