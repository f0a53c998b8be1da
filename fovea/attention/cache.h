// Keys and values of tokens seen so far, in pages as the fused kernel reads them: a prompt at once, in chunks or token by
// token gives the bits of the full pass.
//
//   Cache cache;   cache.begin({0, 7, 8});             // the step at hand: seven tokens of row 0, then one of row 1
//   Tensor y = model(tokens, {.cache = &cache});       // [1, 8, …]; each attention finds its own part
//
// Rows share the pages of what they have in common: reorder() moves no numbers, and only a page that two rows go on to write
// is copied, its filled part, when the first of them does. What no row holds any more is the next to be used.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "fovea/attention/form.h"
#include "fovea/attention/page_table.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

namespace kernels {
struct PageLayout;  // kernels/attention.h
}

// One attention's keys and values. Keys are stored projected, where the form projects them.
class KeyCache final {
 public:
  explicit KeyCache(std::shared_ptr<const PageTable>);

  // What the table was last extended by: k [1, tokens of all rows, key heads, width], v likewise. The first call says in which
  // precision all are kept, kernel_precision() of the attention (probe.h).
  void append(const Tensor& k, const Tensor& v, const Form&, const FormWeights&, Precision = Precision::f32);
  // Pages of another cache, by PageTable::append().
  void take(KeyCache& other, const std::vector<std::pair<int64_t, int64_t>>& became);

  const PageTable& table() const { return *table_; }
  kernels::PageLayout layout() const;
  int64_t key_width() const { return key_width_; }  // as given, for the form's scale
  const float* page(int64_t number) const;

 private:
  float* page(int64_t number);

  std::shared_ptr<const PageTable> table_;
  int64_t key_heads_ = 1, key_width_ = 0, panel_width_ = 0, value_width_ = 0, steps_ = 0;
  Precision precision_ = Precision::f32;
  std::vector<std::shared_ptr<std::byte>> pages_;  // by their numbers in the table
};

// Those of all attentions of a model, and of the memories that its rows look at.
class Cache final {
 public:
  static constexpr int64_t default_page = 16;  // tokens; long texts are read faster from long_page, short ones waste it
  static constexpr int64_t long_page = 64;
  explicit Cache(int64_t page_tokens = default_page);

  // Rows whose memories are the tokens [starts[r], starts[r + 1]) of what cross-attentions are given to remember next. Their
  // keys are projected and packed this once, and shared by all rows that go on from a row.
  void begin_memories(std::span<const int64_t> starts);

  void add_rows(int64_t count) { tokens_->add_rows(count); }  // without a memory

  // A step that adds the tokens [starts[r], starts[r + 1]) to row r. A cache without rows gets them here.
  void begin(std::span<const int64_t> starts);
  const std::vector<int64_t>& starts() const { return starts_; }
  const std::vector<int64_t>& positions() const { return positions_; }  // of each token of the step in its row

  void reorder(std::span<const int64_t> rows);  // row i goes on as row rows[i] was; what no row holds is free
  void append(Cache&& other);                   // its rows come behind
  void forget_tokens();                         // of all rows; their memories stay

  int64_t rows() const { return static_cast<int64_t>(tokens_->rows().size()); }
  int64_t length(int64_t row) const { return tokens_->rows().at(static_cast<size_t>(row)).length; }
  const PageTable& tokens() const { return *tokens_; }
  const PageTable& memories() const { return *memories_; }

  // Those of one attention, which is known by its address.
  KeyCache& at(const void* attention) { return keys_.try_emplace(attention, tokens_).first->second; }
  KeyCache& memory_at(const void* attention) { return memory_keys_.try_emplace(attention, memories_).first->second; }

 private:
  std::shared_ptr<PageTable> tokens_, memories_;
  std::map<const void*, KeyCache> keys_, memory_keys_;
  std::vector<int64_t> starts_, positions_;
};

}  // namespace fovea
