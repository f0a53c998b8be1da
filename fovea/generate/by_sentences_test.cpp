#include "fovea/generate/by_sentences.h"

#include <gtest/gtest.h>

#include "fovea/data/text/bytes.h"

namespace fovea {
namespace {

// Says what it read, except for a byte that it loses.
class Copier final : public Model, public Generator {
 public:
  Copier(int64_t vocabulary, int64_t lost) : vocabulary_(vocabulary), lost_(lost) {}

  struct Row {
    std::vector<int64_t> ids;
    size_t at = 0;
  };
  struct State final : DecoderState {
    std::vector<Row> all;
    int64_t rows() const override { return static_cast<int64_t>(all.size()); }
    void reorder(std::span<const int64_t> order) override {
      std::vector<Row> next;
      for (int64_t r : order) next.push_back(all[static_cast<size_t>(r)]);
      all = std::move(next);
    }
    void append(DecoderState&& other) override {
      for (Row& row : static_cast<State&>(other).all) all.push_back(std::move(row));
    }
  };

  Tensor logits(const Source&, const Tensor&, const Context&) const override { return {}; }
  std::unique_ptr<DecoderState> start(const Source& source, const Context&) const override {
    auto state = std::make_unique<State>();
    const int64_t width = source.ids.size(1);
    for (int64_t r = 0; r < source.ids.size(0); ++r) {
      const int64_t* ids = source.ids.data<int64_t>() + r * width;
      const int64_t length = source.lengths ? source.lengths.data<int64_t>()[r] : width;
      Row row;
      for (int64_t i = 0; i < length; ++i)
        if (ids[i] != lost_) row.ids.push_back(ids[i]);
      state->all.push_back(std::move(row));
    }
    return state;
  }
  Tensor steps(DecoderState& state, const Tensor&, std::span<const int64_t>, const Context&) const override {
    std::vector<Row>& rows = static_cast<State&>(state).all;
    Tensor logits = zeros({static_cast<int64_t>(rows.size()), vocabulary_});
    for (size_t r = 0; r < rows.size(); ++r)
      logits.data<float>()[static_cast<int64_t>(r) * vocabulary_ +
                           rows[r].ids[std::min(rows[r].at++, rows[r].ids.size() - 1)]] = 50;
    return logits;
  }
  void weights(Weights&) override {}
  std::string_view family() const override { return "copier"; }
  std::string config() const override { return "{}"; }
  int64_t vocabulary() const override { return vocabulary_; }
  SpecialIds special_ids() const override { return Bytes().special(); }
  std::string source_attention() const override { return ""; }

 private:
  int64_t vocabulary_, lost_;
};

class BySentencesTest : public testing::Test {
 protected:
  std::vector<Translations> translated(const std::vector<std::string>& texts, const char* lost = nullptr) {
    const Copier model(bytes_.size(), lost ? bytes_.encode(lost).ids[0] : -1);
    return translate(model, bytes_, texts, config_);
  }
  std::string text(const std::string& text, const char* lost = nullptr) {
    return translated({text}, lost)[0].found[0].text;
  }

  Bytes bytes_;
  GenerationConfig config_ = {.max_length = 200,
                              .piece_tokens = 200,
                              .source_language = "en",
                              .target_language = "de",
                              .carriers = {"text:Boston", "text:Tom", "number:30"}};
};

TEST_F(BySentencesTest, AddressesAndNumbersComeThrough) {
  EXPECT_EQ(text("Write to a@b.org. It weighs 2.5 tons."), "Write to a@b.org. It weighs 2,5 tons.");
  EXPECT_EQ(text("See www.example.org/x now."), "See www.example.org/x now.");
}

TEST_F(BySentencesTest, WhatIsLostIsTriedAgain) {
  EXPECT_EQ(text("Write to a@b.org now.", "B"), "Write to a@b.org now.") << "Tom instead of Boston";
}

TEST_F(BySentencesTest, WhatStaysLostStandsByItself) {
  EXPECT_EQ(text("Write to a@b.org now.", "o"), "Write t a@b.org nw.") << "no carrier comes through";
}

TEST_F(BySentencesTest, EmojiAreCutOutWhereNothingIsKnownAboutAttention) {
  EXPECT_EQ(text("A dog 🐕 sleeps. 😀 Yes"), "A dog 🐕 sleeps. 😀 Yes");
}

TEST_F(BySentencesTest, CapitalsAreSetAgain) { EXPECT_EQ(text("OPEN THE DOOR."), "OPEN THE DOOR."); }

TEST_F(BySentencesTest, WhiteSpaceAndTheOrderOfTextsStay) {
  std::vector<size_t> order;
  const Copier model(bytes_.size(), -1);
  const std::vector<std::string> texts = {" One two.\n\nThree  four. ", "", "  ", "Five."};
  const auto found = translate(model, bytes_, texts, config_,
                               {.on_result = [&](size_t i, const Translations&) { order.push_back(i); }});
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 2, 3}));
  EXPECT_EQ(found[0].found[0].text, "One two.\n\nThree  four.");
  EXPECT_EQ(found[1].found[0].text, "");
  EXPECT_EQ(found[2].found[0].text, "");
  EXPECT_EQ(found[3].found[0].text, "Five.");
}

TEST_F(BySentencesTest, TokensOfTheSourceAreBytesOfTheUsersText) {
  const std::string text = "Hm. Write to a@b.org!";
  const Translations t = translated({text})[0];
  std::string all;
  for (Span s : t.source) all += piece_of(text, s);
  EXPECT_EQ(all, "Hm.Write to a@b.org!");
  std::string said;
  for (Span s : t.found[0].tokens) said += piece_of(t.found[0].text, s);
  EXPECT_NE(said.find("a@b.org"), std::string::npos);
  EXPECT_EQ(t.found[0].tokens.size(), t.found[0].log_probabilities.size());
}

TEST_F(BySentencesTest, NothingIsChangedForUnknownLanguagesOrIfNotWanted) {
  config_.target_language = "xx";
  EXPECT_EQ(text("It weighs 2.5 tons."), "It weighs 2.5 tons.");
  config_.target_language = "de", config_.protect = false;
  EXPECT_EQ(text("It weighs 2.5 tons."), "It weighs 2.5 tons.");
}

}  // namespace
}  // namespace fovea
