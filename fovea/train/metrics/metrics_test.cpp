// Every metric against the package that people compare with: tests/golden/make_metrics.py wrote the numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/train/metrics/accuracy.h"
#include "fovea/train/metrics/alignment.h"
#include "fovea/train/metrics/bleu.h"
#include "fovea/train/metrics/chrf.h"
#include "fovea/train/metrics/entities.h"
#include "fovea/train/metrics/label_sets.h"
#include "fovea/train/metrics/perplexity.h"
#include "fovea/train/metrics/porter_stemmer.h"
#include "fovea/train/metrics/python_text.h"
#include "fovea/train/metrics/regression.h"
#include "fovea/train/metrics/rouge.h"
#include "test_paths.h"

namespace fovea {
namespace {

using nlohmann::json;
using Lines = std::vector<std::string>;

const json& golden() {
  static const json data = json::parse(read_text(std::string(test_data) + "/golden/metrics.json"));
  return data;
}

std::vector<Lines> words_of_lines(const json& lines) {
  std::vector<Lines> all;
  for (const std::string line : lines) {
    const auto words = python::split(line);
    all.emplace_back(words.begin(), words.end());
  }
  return all;
}

BleuOptions bleu_options(const json& given) {
  const std::map<std::string, BleuOptions::Tokenizer> tokenizers = {{"13a", BleuOptions::Tokenizer::mteval_13a},
                                                                    {"none", BleuOptions::Tokenizer::none},
                                                                    {"char", BleuOptions::Tokenizer::characters}};
  const std::map<std::string, BleuOptions::Smoothing> smoothings = {{"exp", BleuOptions::Smoothing::exponential},
                                                                    {"floor", BleuOptions::Smoothing::floor},
                                                                    {"add-k", BleuOptions::Smoothing::add_k},
                                                                    {"none", BleuOptions::Smoothing::none}};
  BleuOptions options = {.tokenizer = tokenizers.at(given.value("tokenize", "13a")),
                         .smoothing = smoothings.at(given.value("smooth_method", "exp")),
                         .lowercase = given.value("lowercase", false),
                         .effective_order = given.value("effective_order", false)};
  if (given.contains("smooth_value")) options.smoothing_value = given["smooth_value"];
  return options;
}

TEST(Bleu, EqualsSacreBleuToTheLastDigit) {
  ASSERT_GE(golden()["bleu"].size(), 50u);
  for (const json& c : golden()["bleu"]) {
    const json& corpus = golden()["corpora"][c["corpus"].get<size_t>()];
    const BleuOptions options = bleu_options(c["options"]);
    const std::vector<Lines> references = corpus["references"];
    const Bleu bleu = corpus_bleu(corpus["hypotheses"], references, options);
    EXPECT_EQ(bleu.text(), c["text"].get<std::string>()) << c;
    EXPECT_EQ(bleu_signature(options, references.size()), c["signature"].get<std::string>());
    EXPECT_DOUBLE_EQ(bleu.score, c["score"]) << c;
    for (size_t n = 0; n < 4; ++n) EXPECT_DOUBLE_EQ(bleu.precisions[n], c["precisions"][n]) << c;
    if (corpus["hypotheses"].size() > 1 || !options.effective_order) continue;
    Lines line;
    for (const Lines& reference : references) line.push_back(reference[0]);
    EXPECT_EQ(sentence_bleu(corpus["hypotheses"][0], line, options).text(), c["text"].get<std::string>());
  }
}

TEST(Bleu, TextWithASignatureIsTheLineOfSacreBleusProgram) {
  const Bleu bleu = corpus_bleu({"a b c d e"}, {{"a b c d e"}});
  EXPECT_EQ(bleu.text("nrefs:1"),
            "BLEU|nrefs:1 = 100.00 100.0/100.0/100.0/100.0 (BP = 1.000 ratio = 1.000 hyp_len = 5 ref_len = 5)");
}

TEST(Chrf, EqualsSacreBleuToTheLastDigit) {
  ASSERT_GE(golden()["chrf"].size(), 50u);
  for (const json& c : golden()["chrf"]) {
    const json &corpus = golden()["corpora"][c["corpus"].get<size_t>()], &given = c["options"];
    const ChrfOptions options = {.character_order = given.value("char_order", 6),
                                 .word_order = given.value("word_order", 0),
                                 .beta = given.value("beta", 2),
                                 .lowercase = given.value("lowercase", false),
                                 .whitespace = given.value("whitespace", false),
                                 .epsilon_smoothing = given.value("eps_smoothing", false)};
    const Chrf chrf = corpus_chrf(corpus["hypotheses"], corpus["references"], options);
    EXPECT_EQ(chrf.text(), c["text"].get<std::string>()) << c;
    EXPECT_EQ(chrf_signature(options, corpus["references"].size()), c["signature"].get<std::string>());
    EXPECT_DOUBLE_EQ(chrf.score, c["score"]) << c;
  }
}

TEST(Rouge, EqualsRougeScoreWithAndWithoutStemmer) {
  ASSERT_GE(golden()["rouge"].size(), 50u);
  for (const json& c : golden()["rouge"]) {
    const RougeScores scores = rouge(c["hypothesis"].get<std::string>(), c["references"], {.stemmer = c["stemmer"]});
    for (auto [name, score] : scores.named()) {
      const json& expected = c["scores"][std::string(name)];
      EXPECT_DOUBLE_EQ(score.precision, expected[0]) << name << c;
      EXPECT_DOUBLE_EQ(score.recall, expected[1]) << name << c;
      EXPECT_DOUBLE_EQ(score.f1, expected[2]) << name << c;
    }
  }
}

TEST(Rouge, ACorpusHasTheMeansOfItsTexts) {
  Lines hypotheses, references;
  double precision = 0, f1 = 0;
  for (const json& c : golden()["rouge"]) {
    if (c["stemmer"] || c["references"].size() != 1) continue;
    hypotheses.push_back(c["hypothesis"]);
    references.push_back(c["references"][0]);
    precision += c["scores"]["rouge2"][0].get<double>();
    f1 += c["scores"]["rougeLsum"][2].get<double>();
  }
  const RougeScores scores = corpus_rouge(hypotheses, {references});
  const double count = static_cast<double>(hypotheses.size());
  EXPECT_NEAR(scores.rouge_2.precision, precision / count, 1e-12);
  EXPECT_NEAR(scores.rouge_lsum.f1, f1 / count, 1e-12);
}

TEST(PorterStemmer, EqualsNltk) {
  ASSERT_GE(golden()["stems"].size(), 500u);
  for (const json& c : golden()["stems"])
    EXPECT_EQ(porter_stem(c[0].get<std::string>()), c[1].get<std::string>()) << c[0];
}

void expect_scores(const ClassScore& score, const json& expected) {
  EXPECT_DOUBLE_EQ(score.precision, expected[0]);
  EXPECT_DOUBLE_EQ(score.recall, expected[1]);
  EXPECT_DOUBLE_EQ(score.f1, expected[2]);
}

TEST(Entities, EqualSeqevalAndItsReport) {
  ASSERT_GE(golden()["entities"].size(), 50u);
  for (const json& c : golden()["entities"]) {
    SCOPED_TRACE(c.dump());
    const EntityScores scores = score_entities(words_of_lines(c["references"]), words_of_lines(c["hypotheses"]));
    EXPECT_DOUBLE_EQ(scores.accuracy, c["accuracy"]);
    expect_scores(scores.micro, c["micro"]);
    expect_scores(scores.macro, c["macro"]);
    expect_scores(scores.weighted, c["weighted"]);
    if (!c["report"].is_null()) {
      EXPECT_EQ(scores.report(c["digits"]), c["report"].get<std::string>());
    }
  }
}

TEST(Entities, AreFoundInEveryScheme) {
  EXPECT_EQ(find_entities({"B-PER", "I-PER", "O", "B-LOC"}), (std::vector<Entity>{{"PER", 0, 2}, {"LOC", 3, 4}}));
  EXPECT_EQ(find_entities({"I-PER", "I-PER", "I-LOC", "B-LOC"}),
            (std::vector<Entity>{{"PER", 0, 2}, {"LOC", 2, 3}, {"LOC", 3, 4}}));
  EXPECT_EQ(find_entities({"S-A", "B-A", "I-A", "E-A"}), (std::vector<Entity>{{"A", 0, 1}, {"A", 1, 4}}));
  EXPECT_TRUE(find_entities({}).empty());
  EXPECT_THROW(find_entities({""}), Error);
}

// As in the IOB1 of CoNLL-2003 against what a tagger says in IOB2.
TEST(Entities, AreTheSameForTagsOfEveryScheme) {
  const std::vector<Lines> iob1 = {{"I-PER", "I-PER", "O", "I-LOC", "B-LOC"}, {"I-LOC", "I-ORG"}},
                           iob2 = {{"B-PER", "I-PER", "O", "B-LOC", "B-LOC"}, {"B-LOC", "B-ORG"}},
                           iobes = {{"B-PER", "E-PER", "O", "S-LOC", "S-LOC"}, {"S-LOC", "S-ORG"}};
  for (const auto& gold : {iob1, iob2, iobes}) {
    for (const auto& found : {iob1, iob2, iobes}) {
      const EntityScores scores = score_entities(gold, found);
      EXPECT_EQ(scores.accuracy, 1);
      EXPECT_EQ(scores.micro.f1, 1);
    }
    EXPECT_DOUBLE_EQ(score_entities(gold, {{"B-PER", "O", "O", "B-LOC", "I-LOC"}, {"B-LOC", "B-LOC"}}).accuracy,
                     4.0 / 7);
  }
}

TEST(Labels, EqualScikitLearnAndItsReport) {
  ASSERT_GE(golden()["labels"].size(), 50u);
  for (const json& c : golden()["labels"]) {
    const LabelScores scores = score_labels(c["references"], c["hypotheses"]);
    EXPECT_DOUBLE_EQ(scores.accuracy, c["accuracy"]) << c;
    EXPECT_DOUBLE_EQ(scores.macro.f1, c["macro_f1"]) << c;
    if (!c["report"].is_null()) {
      EXPECT_EQ(scores.report(c["digits"]), c["report"].get<std::string>()) << c;
    }
  }
}

TEST(LabelSets, EqualScikitLearnAndItsReport) {
  ASSERT_GE(golden()["label_sets"].size(), 50u);
  for (const json& c : golden()["label_sets"]) {
    SCOPED_TRACE(c.dump());
    const LabelSetScores scores = score_label_sets(c["references"], c["hypotheses"]);
    EXPECT_DOUBLE_EQ(scores.exact_match, c["exact_match"]);
    expect_scores(scores.micro, c["micro"]);
    expect_scores(scores.macro, c["macro"]);
    expect_scores(scores.weighted, c["weighted"]);
    expect_scores(scores.samples, c["samples"]);
    EXPECT_EQ(scores.report(4), c["report"].get<std::string>());
  }
  EXPECT_EQ(score_label_sets({{"a", "a"}}, {{"a"}}).exact_match, 1);
  EXPECT_EQ(score_label_sets({}, {}).exact_match, 0);
}

TEST(Numbers, EqualSciPyAndScikitLearn) {
  ASSERT_GE(golden()["numbers"].size(), 50u);
  for (const json& c : golden()["numbers"]) {
    const NumberScores scores = score_numbers(c["references"], c["hypotheses"]);
    EXPECT_NEAR(scores.pearson, c["pearson"], 1e-12) << c;
    EXPECT_NEAR(scores.spearman, c["spearman"], 1e-12) << c;
    const double squared = c["mean_squared_error"], absolute = c["mean_absolute_error"];
    EXPECT_NEAR(scores.mean_squared_error, squared, 1e-12 * squared) << c;
    EXPECT_NEAR(scores.mean_absolute_error, absolute, 1e-12 * absolute) << c;
  }
}

TEST(Numbers, WithoutAnAnswerAndOutOfRange) {
  EXPECT_TRUE(std::isnan(score_numbers({1, 1}, {1, 2}).pearson));
  EXPECT_TRUE(std::isnan(score_numbers({1, 2}, {3, 3}).spearman));
  EXPECT_TRUE(std::isnan(score_numbers({1}, {1}).pearson));
  EXPECT_TRUE(std::isnan(score_numbers({}, {}).mean_squared_error));
  EXPECT_NEAR(score_numbers({1e200, -1e200, 3e200}, {1, -1, 3}).pearson, 1, 1e-12);
  EXPECT_EQ(ranks({3, 1, 3, 2}), (std::vector<double>{3.5, 1, 3.5, 2}));
  EXPECT_THROW(score_numbers({1}, {std::nan("")}), Error);
  EXPECT_EQ(parse_number(" -1.5e2 ", "x"), -150);
  for (const char* bad : {"", "a", "1a", "nan", "inf", "1,5", "1e999"})
    EXPECT_THROW(parse_number(bad, "x"), Error) << bad;
}

TEST(Perplexity, EqualsNltk) {
  ASSERT_GE(golden()["perplexity"].size(), 50u);
  for (const json& c : golden()["perplexity"]) {
    const double expected = c["perplexity"];
    EXPECT_NEAR(perplexity(c["logs"].get<std::vector<double>>()).of_tokens(), expected, 1e-12 * expected) << c;
  }
}

TEST(Perplexity, WordsBytesAndLimits) {
  const double half = std::log(0.5);
  const Perplexity p = perplexity({half, half, half, half}, {"für", "a b"});
  EXPECT_DOUBLE_EQ(p.of_tokens(), 2);
  EXPECT_DOUBLE_EQ(p.of_words(), std::pow(2.0, 4.0 / 3));
  EXPECT_DOUBLE_EQ(p.bits_per_byte(), 4.0 / 7);
  EXPECT_TRUE(std::isnan(perplexity(std::vector<double>{}).of_tokens()));
  EXPECT_EQ(perplexity({-1, -std::numeric_limits<double>::infinity(), -2}).of_tokens(),
            std::numeric_limits<double>::infinity());
  EXPECT_THROW(perplexity({0.1}), Error);
  EXPECT_THROW(perplexity({std::nan("")}), Error);
  EXPECT_EQ(parse_log_probabilities(" -1.5\t0 -inf", "x").size(), 3u);
  for (const char* bad : {"0.5", "nan", "-1x", "--1", "a"})
    EXPECT_THROW(parse_log_probabilities(bad, "x"), Error) << bad;
}

TEST(Alignment, EqualsNltk) {
  ASSERT_GE(golden()["alignment"].size(), 50u);
  for (const json& c : golden()["alignment"]) {
    std::vector<GoldAlignment> references;
    std::vector<Alignment> hypotheses;
    for (const std::string line : c["references"]) references.push_back(parse_gold_alignment(line, "gold"));
    for (const std::string line : c["hypotheses"]) hypotheses.push_back(parse_alignment(line, "found"));
    EXPECT_DOUBLE_EQ(score_alignments(references, hypotheses).error_rate(), c["error_rate"]) << c;
  }
}

TEST(Alignment, PrecisionRecallAndBadLinks) {
  const AlignmentScores s =
      score_alignments({parse_gold_alignment("0-0 1-1 2p1 2-2", "")}, {parse_alignment("0-0 2-1 3-3 0-0", "")});
  EXPECT_DOUBLE_EQ(s.precision(), 2.0 / 3);
  EXPECT_DOUBLE_EQ(s.recall(), 1.0 / 3);
  EXPECT_DOUBLE_EQ(s.error_rate(), 1 - 3.0 / 6);
  EXPECT_EQ(score_alignments({{}}, {{}}).error_rate(), 0);
  for (const char* bad : {"0", "0-", "-1-2", "a-b", "1-2-3", "0p0", "99999999999999999999-0", "+1-2"})
    EXPECT_THROW(parse_alignment(bad, "line"), Error) << bad;
}

TEST(PythonText, LowerAndSplitEqualPython) {
  for (const json& c : golden()["lower"]) EXPECT_EQ(python::lower(c[0].get<std::string>()), c[1].get<std::string>());
  for (const json& c : golden()["split"]) {
    const std::string text = c[0];
    const auto words = python::split(text);
    EXPECT_EQ(Lines(words.begin(), words.end()), c[1].get<Lines>()) << text;
  }
}

TEST(PythonText, WhatIsNotUtf8IsAnError) {
  EXPECT_THROW(corpus_bleu({"a\xffz"}, {{"a"}}), Error);
  EXPECT_THROW(corpus_chrf({"a\xffz"}, {{"a"}}), Error);
}

TEST(Metrics, DifferentNumbersOfLinesAreErrors) {
  EXPECT_THROW(corpus_bleu({"a", "b"}, {{"a"}}), Error);
  EXPECT_THROW(corpus_bleu({"a"}, {}), Error);
  EXPECT_THROW(corpus_chrf({"a", "b"}, {{"a", "b"}, {"a"}}), Error);
  EXPECT_THROW(corpus_rouge({"a"}, {}), Error);
  EXPECT_THROW(score_labels({"a"}, {}), Error);
  EXPECT_THROW(score_label_sets({{"a"}}, {}), Error);
  EXPECT_THROW(score_numbers({1}, {}), Error);
  EXPECT_THROW(score_entities({{"O", "O"}}, {{"O"}}), Error);
  EXPECT_THROW(score_alignments({{}}, {}), Error);
}

}  // namespace
}  // namespace fovea
