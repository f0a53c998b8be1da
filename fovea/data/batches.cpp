#include "fovea/data/batches.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "fovea/base/random.h"

namespace fovea {
namespace {

int64_t length_of(const Sequence& s) { return static_cast<int64_t>(s.groups.empty() ? s.ids.size() : s.groups.size()); }

void check(const Sequence& s) {
  for (int64_t size : s.groups) require(size >= 0, "sequence: found a group of {} ids", size);
  const int64_t sum = std::accumulate(s.groups.begin(), s.groups.end(), int64_t{0});
  require(s.groups.empty() || sum == static_cast<int64_t>(s.ids.size()), "sequence: found groups of {} ids and {} ids",
          sum, s.ids.size());
}

void shuffle(std::vector<int64_t>& items, const Random& random) {
  for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i, i)]);
}

}  // namespace

Column collate(std::span<const Sequence> sequences, int64_t pad) {
  const auto batch = static_cast<int64_t>(sequences.size());
  int64_t longest = 0, widest = 0;
  bool grouped = false, spans = false;
  for (const Sequence& s : sequences) {
    check(s);
    longest = std::max(longest, length_of(s));
    for (int64_t size : s.groups) widest = std::max(widest, size);
    grouped = grouped || !s.groups.empty();
    spans = spans || !s.spans.empty();
  }
  Column column;
  column.lengths = Tensor({batch}, DType::i64);
  column.ids =
      full(grouped ? Shape{batch, longest, widest} : Shape{batch, longest}, static_cast<double>(pad), DType::i64);
  if (grouped) column.group_lengths = zeros({batch, longest}, DType::i64);
  for (int64_t b = 0; b < batch; ++b) {
    const Sequence& s = sequences[static_cast<size_t>(b)];
    require(!grouped || !s.groups.empty() || s.ids.empty(), "collate: found sequences with and without groups");
    column.lengths.data<int64_t>()[b] = length_of(s);
    if (spans) column.spans.push_back(s.spans);
    int64_t* row = column.ids.data<int64_t>() + b * longest * (grouped ? widest : 1);
    if (!grouped) std::copy(s.ids.begin(), s.ids.end(), row);
    const int64_t* ids = s.ids.data();
    for (size_t word = 0; word < s.groups.size(); ++word, row += widest) {
      column.group_lengths.data<int64_t>()[b * longest + static_cast<int64_t>(word)] = s.groups[word];
      std::copy(ids, ids + s.groups[word], row);
      ids += s.groups[word];
    }
  }
  return column;
}

void Samples::add(const std::vector<Sequence>& columns) {
  require(!columns.empty(), "samples: found an example without a column");
  if (columns_ == 0) columns_ = static_cast<int64_t>(columns.size());
  require(columns_ == static_cast<int64_t>(columns.size()), "samples: found {} columns after {}", columns.size(),
          columns_);
  std::vector<int32_t> numbers;
  for (const Sequence& s : columns) {
    check(s);
    require(s.ids.size() < size_t{1} << 30, "samples: found a sequence of {} ids", s.ids.size());
    numbers.push_back(static_cast<int32_t>(s.ids.size()));
    numbers.push_back(static_cast<int32_t>(s.groups.size()));
    for (int64_t size : s.groups) numbers.push_back(static_cast<int32_t>(size));
    for (int64_t id : s.ids) {
      require(id == static_cast<int32_t>(id), "samples: found id {}, expected 32 bits", id);
      numbers.push_back(static_cast<int32_t>(id));
    }
  }
  records_.add({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(int32_t)});
  for (const Sequence& s : columns) lengths_.push_back(static_cast<int32_t>(length_of(s)));
}

std::vector<Sequence> Samples::operator[](int64_t index) const {
  const std::string_view bytes = records_[index];
  std::vector<int32_t> numbers(bytes.size() / sizeof(int32_t));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  std::vector<Sequence> columns(static_cast<size_t>(columns_));
  auto at = numbers.begin();
  for (Sequence& s : columns) {
    const int32_t ids = *at++, groups = *at++;
    s.groups.assign(at, at + groups);
    at += groups;
    s.ids.assign(at, at + ids);
    at += ids;
  }
  return columns;
}

std::span<const int32_t> Samples::lengths(int64_t index) const {
  return {lengths_.data() + index * columns_, static_cast<size_t>(columns_)};
}

Batches::Batches(const Samples& samples, const Options& options) : samples_(samples), options_(options) {
  require(options.tokens > 0, "batches: found a budget of {} tokens, expected at least 1", options.tokens);
  require(options.examples >= 0 && options.longest >= 0, "batches: found a negative limit");
  for (int64_t i = 0; i < samples.size(); ++i) {
    const auto lengths = samples.lengths(i);
    if (options.longest == 0 || *std::max_element(lengths.begin(), lengths.end()) <= options.longest)
      kept_.push_back(i);
  }
  require(!kept_.empty(), "batches: found {} examples, of which none has at most {} tokens", samples.size(),
          options.longest);
  state_.examples = samples.size();
  plan();
}

// Sorted by the longest column, then by each: on pairs of sentences this leaves less padding than sorting by the sum or by
// the source. The first batch gets a random part of the budget, so that in each epoch the sorted examples are cut elsewhere.
void Batches::plan() {
  order_ = kept_;
  const Random random = Random(options_.seed).fork("batches").fork(static_cast<uint64_t>(state_.epoch));
  int64_t budget = options_.tokens;
  if (options_.shuffle) {
    shuffle(order_, random.fork("examples"));
    std::stable_sort(order_.begin(), order_.end(), [this](int64_t a, int64_t b) {
      const auto x = samples_.lengths(a), y = samples_.lengths(b);
      const int32_t longest_x = std::ranges::max(x), longest_y = std::ranges::max(y);
      return longest_x != longest_y ? longest_x < longest_y : std::ranges::lexicographical_compare(x, y);
    });
    budget = 1 + static_cast<int64_t>(random.fork("cut").below(static_cast<uint64_t>(options_.tokens), 0));
  }
  starts_ = {0};
  std::vector<int64_t> longest(static_cast<size_t>(samples_.columns()), 0);
  for (size_t i = 0; i < order_.size(); ++i) {
    const auto lengths = samples_.lengths(order_[i]);
    int64_t width = 0;
    for (size_t c = 0; c < longest.size(); ++c) width += std::max<int64_t>(longest[c], lengths[c]);
    const int64_t count = static_cast<int64_t>(i) - starts_.back() + 1;
    const bool full = width * count > budget || (options_.examples > 0 && count > options_.examples);
    if (full && count > 1) {
      starts_.push_back(static_cast<int64_t>(i));
      std::fill(longest.begin(), longest.end(), 0);
      budget = options_.tokens;
    }
    for (size_t c = 0; c < longest.size(); ++c) longest[c] = std::max<int64_t>(longest[c], lengths[c]);
  }
  starts_.push_back(static_cast<int64_t>(order_.size()));
  if (options_.shuffle) shuffle_batches(random.fork("order"));
}

void Batches::shuffle_batches(const Random& random) {
  std::vector<int64_t> turns(starts_.size() - 1), order, starts = {0};
  std::iota(turns.begin(), turns.end(), 0);
  shuffle(turns, random);
  for (int64_t b : turns) {
    order.insert(order.end(), order_.begin() + starts_[static_cast<size_t>(b)],
                 order_.begin() + starts_[static_cast<size_t>(b) + 1]);
    starts.push_back(static_cast<int64_t>(order.size()));
  }
  order_ = std::move(order);
  starts_ = std::move(starts);
}

Batch Batches::next() {
  if (state_.batch == batches_in_epoch()) {
    ++state_.epoch;
    state_.batch = 0;
    plan();
  }
  const auto b = static_cast<size_t>(state_.batch++);
  Batch batch;
  batch.examples.assign(order_.begin() + starts_[b], order_.begin() + starts_[b + 1]);
  std::vector<std::vector<Sequence>> columns(static_cast<size_t>(samples_.columns()));
  for (int64_t index : batch.examples) {
    std::vector<Sequence> example = samples_[index];
    for (size_t c = 0; c < columns.size(); ++c) columns[c].push_back(std::move(example[c]));
    for (int32_t length : samples_.lengths(index)) batch.tokens += length;
  }
  for (size_t c = 0; c < columns.size(); ++c) {
    batch.columns.push_back(collate(columns[c], c < options_.pad.size() ? options_.pad[c] : 0));
  }
  return batch;
}

void Batches::restore(const State& state) {
  require(state.examples == samples_.size(), "batches: found {} examples, but the interrupted run had {}",
          samples_.size(), state.examples);
  require(state.epoch >= 0 && state.batch >= 0, "batches: found epoch {} and batch {}", state.epoch, state.batch);
  state_ = state;
  plan();
  require(state.batch <= batches_in_epoch(), "batches: found batch {} of {}: other data or another budget", state.batch,
          batches_in_epoch());
}

}  // namespace fovea
