// Searches as Transformers runs them, by its own generation_config.json: the same ids and scores.
#include "fovea/base/file.h"
#include "fovea/generate/search.h"
#include "fovea/models/pretrained.h"
#include "fovea/models/seq2seq_golden.h"

namespace fovea {
namespace {

std::vector<Request> golden_requests() {
  const SafeTensors& file = seq2seq_golden_file();
  std::vector<Request> requests;
  const std::vector<int64_t> lengths = file["lengths"].values<int64_t>();
  for (size_t i = 0; i < lengths.size(); ++i)
    requests.push_back(
        {.source = file["source"].select(0, static_cast<int64_t>(i)).slice(0, 0, lengths[i]).values<int64_t>()});
  return requests;
}

// The tokens of a hypothesis, the end too.
std::vector<int64_t> written(const Hypothesis& h, int64_t end) {
  std::vector<int64_t> ids = h.ids;
  if (h.ended) ids.push_back(end);
  return ids;
}

GenerationConfig config_of(const Seq2SeqFolder& folder, const std::string& text) {
  write_text(folder.path / "generation_config.json", text);
  return read_generation_config(folder.path);
}

void expect_search(const Generator& model, const std::string& name, const std::string& search,
                   const Seq2SeqFolder& folder) {
  SCOPED_TRACE(search);
  const SafeTensors& file = seq2seq_golden_file();
  const std::string key = name + ".search." + search, text = file.metadata().at(key);
  const std::vector<Hypotheses> found = generate(model, golden_requests(), config_of(folder, text));
  const Tensor ids = file[key + ".ids"];
  ASSERT_EQ(static_cast<int64_t>(found.size()), ids.size(0));
  for (int64_t i = 0; i < ids.size(0); ++i) {
    const Hypotheses& some = found[static_cast<size_t>(i)];
    ASSERT_EQ(static_cast<int64_t>(some.size()), ids.size(1));
    for (int64_t k = 0; k < ids.size(1); ++k) {
      std::vector<int64_t> expected = ids.select(0, i).select(0, k).values<int64_t>();
      std::erase(expected, -1);
      const Hypothesis& h = some[static_cast<size_t>(k)];
      EXPECT_EQ(written(h, model.special_ids().eos), expected) << "source " << i << ", hypothesis " << k;
      if (search == "greedy") continue;
      EXPECT_NEAR(h.score, file[key + ".scores"].select(0, i).select(0, k).item(), 2e-4);
    }
  }
}

TEST(Transformers, SearchesFindItsIdsWithItsScores) {
  for (const std::string name : {"marian", "bart", "t5"}) {
    SCOPED_TRACE(name);
    const Seq2SeqFolder folder(name);
    const auto model = load_model(folder.path);
    for (const char* search : {"greedy", "beam", "early", "never", "forced", "penalised"})
      expect_search(as<Generator>(*model), name, search, folder);
  }
}

TEST(Transformers, ItsConfigIsReadFromAnyOfItsFiles) {
  const Seq2SeqFolder folder("marian");
  const std::string text =
      R"({"num_beams": 4, "max_length": 512, "min_length": 6, "early_stopping": true, "forced_bos_token_id": null,
          "forced_eos_token_id": 0, "bad_words_ids": [[96]], "suppress_tokens": [7], "length_penalty": 2.0,
          "transformers_version": "4.0"})";
  for (const char* file : {"config.json", "generation_config.json"}) {
    write_text(folder.path / file, text);
    const GenerationConfig c = read_generation_config(folder.path);
    EXPECT_EQ(c.beam_size, 4);
    EXPECT_EQ(c.max_length_after(0), 511);  // the start is counted
    EXPECT_EQ(c.min_length_after(0), 5);
    EXPECT_EQ(c.early_stopping, "true");
    EXPECT_EQ(c.first_id, -1);
    EXPECT_EQ(c.last_id, 0);
    EXPECT_EQ(c.never, std::vector<int64_t>{7});
    EXPECT_EQ(c.never_in_a_row, (std::vector<std::vector<int64_t>>{{96}}));
    EXPECT_EQ(c.length_penalty, 2);
  }
  for (const char* wrong : {R"({"num_beams": 4, "num_beam_groups": 2})", R"({"num_beams": 4, "early_stopping": 3})",
                            R"({"forced_eos_token_id": -3})", "[]", "{"})
    EXPECT_THROW(config_of(folder, wrong), Error) << wrong;
}

}  // namespace
}  // namespace fovea
