// Examples as ids, and batches of them: by token budget, bucketed by length, in an order that the seed alone decides.
//
//   Samples samples;   samples.add({{.ids = source}, {.ids = target}});
//   Batches batches(samples, {.tokens = 4096, .seed = 1});
//   Batch b = batches.next();                          // b.columns[0].ids [batch, tokens], b.columns[0].lengths [batch]
//
// batches.restore(batches.state()) in another process goes on as if it had not been interrupted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/base/random.h"
#include "fovea/data/records.h"
#include "fovea/data/text/utf8.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// One sequence of one example: the source, the target, the characters of its words, its tags, or its one label.
struct Sequence {
  std::vector<int64_t> ids = {};
  std::vector<int64_t> groups = {};  // if given: ids of the first word, of the second word, … (their sum is ids.size())
  std::vector<Span> spans = {};      // if given: where in the text each id came from; Samples does not keep them
};

// The same sequence of each example of a batch, padded to the longest.
struct Column {
  Tensor ids;            // i64 [batch, tokens], or [batch, words, characters] if the sequences have groups
  Tensor lengths;        // i64 [batch], in tokens or words
  Tensor group_lengths;  // i64 [batch, words], only with groups
  std::vector<std::vector<Span>> spans;  // [batch][tokens], where the sequences have them
};
Column collate(std::span<const Sequence> sequences, int64_t pad = 0);

struct Batch {
  std::vector<int64_t> examples;  // their numbers in the Samples
  std::vector<Column> columns;
  int64_t tokens = 0;  // without padding, of all columns
};

// Ids of many examples, four bytes each, and beyond a limit on disk.
class Samples final {
 public:
  Samples() : Samples(Records::Options{}) {}
  explicit Samples(const Records::Options& options) : records_(options) {}

  void add(const std::vector<Sequence>& columns);  // as many columns as the first example has
  int64_t size() const { return records_.size(); }
  int64_t columns() const { return columns_; }
  std::vector<Sequence> operator[](int64_t index) const;
  std::span<const int32_t> lengths(int64_t index) const;  // of each column, in tokens or words

 private:
  Records records_;
  std::vector<int32_t> lengths_;
  int64_t columns_ = 0;
};

class Batches final {
 public:
  struct Options {
    int64_t tokens = 4096;  // at most so many, padding included, over all columns; a longer example stands alone
    int64_t examples = 0;   // at most so many; 0: any number
    int64_t longest = 0;    // examples with a longer column are left out; 0: none
    std::vector<int64_t> pad = {};  // of each column; 0 where not given
    uint64_t seed = 0;
    bool shuffle = true;  // false: in the order of the examples, once through and again
  };
  struct State {
    int64_t epoch = 0, batch = 0;  // of the next batch; the last one leaves batch == batches_in_epoch()
    int64_t examples = 0;          // of the Samples: resuming on other data is an Error
  };

  // The samples must live as long as this.
  Batches(const Samples& samples, const Options& options);

  Batch next();  // after an epoch's last batch comes the next epoch's first
  const State& state() const { return state_; }
  void restore(const State& state);
  int64_t batches_in_epoch() const { return static_cast<int64_t>(starts_.size()) - 1; }
  int64_t left_out() const { return samples_.size() - static_cast<int64_t>(kept_.size()); }

 private:
  void plan();  // the epoch's batches
  void shuffle_batches(const Random& random);

  const Samples& samples_;
  Options options_;
  State state_;
  std::vector<int64_t> kept_, order_, starts_;  // batch b is order_[starts_[b] … starts_[b + 1])
};

}  // namespace fovea
