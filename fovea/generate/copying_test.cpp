// What models that copy write: words of the source that their vocabulary lacks, too.
#include <algorithm>

#include "fovea/generate/search.h"
#include "fovea/models/copiers.h"
#include "fovea/nn/golden.h"

namespace fovea {
namespace {

// What is written one after another, by the cache.
template <class M>
void check_greedy(M model, const std::string& name) {
  SCOPED_TRACE(name);
  const SafeTensors& file = pointer_file();
  load(model, golden(file, name + ".weight."));
  const Tensor expected = file[name + ".greedy"];
  std::vector<Request> requests;
  for (int64_t row = 0; row < 3; ++row) {
    const std::vector<int64_t> ids = file["source"].select(0, row).values<int64_t>();
    const int64_t length = file["lengths"].values<int64_t>()[static_cast<size_t>(row)];
    requests.push_back({.source = {ids.begin(), ids.begin() + length}});
  }
  const std::vector<Hypotheses> found = generate(model, requests, {.max_length = 6});
  for (int64_t row = 0; row < 3; ++row)
    EXPECT_EQ(found[static_cast<size_t>(row)][0].ids, expected.select(0, row).values<int64_t>()) << "row " << row;
}

TEST(CopyingSearch, GreedySearchWritesWhatPyTorchDoes) {
  for (const std::string norm : {"post", "pre"})
    check_greedy(Transformer(golden_transformer(norm)), "transformer_" + norm + "_pointer");
  for (const std::string order : {"bahdanau", "luong"}) {
    check_greedy(Seq2Seq(golden_recurrent(order, false)), order);
    check_greedy(Seq2Seq(golden_recurrent(order, true)), order + "_coverage");
  }
}

class EveryCopiersSearch : public testing::TestWithParam<Variant> {
 protected:
  std::shared_ptr<const Generator> model_ = GetParam().make_as<Generator>();
  StrangeSentences s_;
};
INSTANTIATE_TEST_SUITE_P(Search, EveryCopiersSearch, testing::ValuesIn(copiers()),
                         [](const auto& info) { return info.param.name; });

TEST_P(EveryCopiersSearch, HasTheSameBitsInAnyBatchAndSaysWhatWasCopied) {
  std::vector<Request> requests;
  for (int64_t row = 0; row < 4; ++row) requests.push_back({.source = s_.alone(row).ids.values<int64_t>()});
  for (const GenerationConfig& config : {GenerationConfig{.beam_size = 1, .max_length = 9},
                                         GenerationConfig{.beam_size = 3, .n_best = 2, .max_length = 9},
                                         GenerationConfig{.sample = true, .max_length = 9}}) {
    GenerationConfig small = config;
    small.batch_size = 2;
    const std::vector<Hypotheses> all = generate(*model_, requests, config, {.attention = true});
    const std::vector<Hypotheses> refilled = generate(*model_, requests, small);
    for (size_t row = 0; row < 4; ++row) {
      ASSERT_EQ(all[row].size(), refilled[row].size());
      for (size_t k = 0; k < all[row].size(); ++k) {
        const Hypothesis &h = all[row][k], &other = refilled[row][k];
        EXPECT_EQ(h.ids, other.ids);
        EXPECT_EQ(h.log_probabilities, other.log_probabilities);
        ASSERT_EQ(h.copied.size(), h.log_probabilities.size());
        EXPECT_TRUE(other.copied.empty());
        for (size_t i = 0; i < h.ids.size(); ++i) {
          const std::vector<int64_t>& source = requests[row].source;
          if (h.ids[i] >= 11) EXPECT_NEAR(h.copied[i], 1, 1e-4);
          if (std::find(source.begin(), source.end(), h.ids[i]) == source.end()) EXPECT_EQ(h.copied[i], 0);
        }
      }
    }
  }
}

}  // namespace
}  // namespace fovea
