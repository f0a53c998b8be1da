// Every token is predicted once, from as many before it as the window has.
#include "fovea/train/packing.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/data/text/bytes.h"
#include "fovea/models/family.h"

namespace fovea {
namespace {

std::unique_ptr<Model> small_gpt2() {
  auto config = find<Family>("gpt2").config();
  from_json(R"({"vocab_size": 260, "n_embd": 8, "n_layer": 1, "n_head": 2, "n_positions": 16, "bos_token_id": 2,
                "eos_token_id": 2})",
            *config, "test");
  return config->make();
}

TEST(Packing, WindowsCoverEachTokenOnceAsTheFormulaSays) {
  for (int64_t tokens = 0; tokens < 60; ++tokens) {
    for (int64_t context = 1; context < 12; ++context) {
      for (int64_t stride = 1; stride <= context; ++stride) {
        const std::vector<StreamWindow> all =
            windows(tokens, {.context = context, .stride = stride == context ? 0 : stride});
        int64_t predicted = 0;
        for (size_t k = 0; k < all.size(); ++k) {
          const StreamWindow& w = all[k];
          EXPECT_EQ(w.begin, static_cast<int64_t>(k) * stride);
          EXPECT_EQ(w.end, std::min(w.begin + context + 1, tokens));
          EXPECT_EQ(w.fresh, k == 0 ? 1 : all[k - 1].end);
          predicted += w.end - w.fresh;
        }
        EXPECT_EQ(predicted, std::max<int64_t>(tokens - 1, 0));
        const int64_t more = tokens - 1 - context;  // ⌈(N − 1 − C) / S⌉ windows behind the first
        const int64_t wanted = tokens < 2 ? 0 : 1 + (more > 0 ? (more + stride - 1) / stride : 0);
        EXPECT_EQ(static_cast<int64_t>(all.size()), wanted) << tokens << " " << context << " " << stride;
      }
    }
  }
  EXPECT_THROW(windows(5, {.context = 0}), Error);
  EXPECT_THROW(windows(5, {.context = 2, .stride = 3}), Error);
}

TEST(Packing, TheEndStandsBetweenDocuments) {
  const auto model = small_gpt2();
  const Bytes bytes;
  TokenStream text(as<Generator>(*model), bytes);
  text.add("ab");
  text.add("c");
  ASSERT_EQ(text.size(), 4);
  EXPECT_EQ(text.ids({0, 4, 1}), (std::vector<int64_t>{4 + 'a', 4 + 'b', 2, 4 + 'c'}));
  EXPECT_EQ(text.starts(), (std::vector<int64_t>{0, 3}));
}

}  // namespace
}  // namespace fovea
