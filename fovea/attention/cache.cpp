#include "fovea/attention/cache.h"

#include <algorithm>
#include <tuple>

#include "fovea/attention/probe.h"
#include "fovea/kernels/attention.h"
#include "fovea/tensor/lasting_storage.h"

namespace fovea {
namespace {

int64_t tokens_of(const PageTable& table) {
  int64_t sum = 0;
  for (const PageTable::Piece& piece : table.pieces()) sum += piece.tokens;
  return sum;
}

bool had_tokens(const PageTable& table) {
  int64_t sum = 0;
  for (const PageTable::Row& row : table.rows()) sum += row.length;
  return sum > tokens_of(table);
}

}  // namespace

KeyCache::KeyCache(std::shared_ptr<const PageTable> table) : table_(std::move(table)) {}

kernels::PageLayout KeyCache::layout() const {
  return {table_->page_tokens(), key_heads_, panel_width_, value_width_, precision_};
}

const float* KeyCache::page(int64_t number) const {
  const size_t n = static_cast<size_t>(number);
  require(n < pages_.size() && pages_[n],
          "cache: found an attention without the keys of a row, expected it to have run at each of the row's steps");
  return reinterpret_cast<const float*>(pages_[n].get());
}

float* KeyCache::page(int64_t number) {
  const size_t n = static_cast<size_t>(number);
  if (pages_.size() <= n) pages_.resize(n + 1);
  if (!pages_[n]) pages_[n] = allocate_lasting(static_cast<size_t>(layout().floats()) * sizeof(float));
  return reinterpret_cast<float*>(pages_[n].get());
}

void KeyCache::append(const Tensor& k, const Tensor& v, const Form& form, const FormWeights& weights,
                      Precision precision) {
  const int64_t tokens = tokens_of(*table_);
  require(k.rank() == 4 && v.rank() == 4 && k.size(0) == 1 && v.size(0) == 1 && k.size(1) == tokens &&
              v.size(1) == tokens && k.size(2) == v.size(2),
          "cache: found keys {} and values {}, expected [1, tokens, heads, width] of the {} tokens of a step",
          k.shape().text(), v.shape().text(), tokens);
  require(k.dtype() == DType::f32 && v.dtype() == DType::f32, "cache: found {} keys and {} values, expected F32",
          name(k.dtype()), name(v.dtype()));
  require(steps_ + 1 == table_->steps() || (steps_ < table_->steps() && !had_tokens(*table_)),
          "cache: found an attention that runs for the {}. time at step {}, expected each to run once a step",
          steps_ + 1, table_->steps());
  Tensor keys = form.fused_key(k.detach(), weights);
  if (keys.stride(-1) != 1) keys = keys.contiguous();
  Tensor values = repeat_heads(v.detach(), keys.size(2) / v.size(2));  // a form may project keys for each query head
  if (values.stride(-1) != 1) values = values.contiguous();
  if (pages_.empty()) {
    key_heads_ = keys.size(2), key_width_ = k.size(3), panel_width_ = keys.size(3), value_width_ = values.size(3);
    precision_ = precision;
  }
  require(keys.size(2) == key_heads_ && keys.size(3) == panel_width_ && values.size(3) == value_width_,
          "cache: found keys {} and values {}, expected {} heads and widths of {} and {}", keys.shape().text(),
          values.shape().text(), key_heads_, panel_width_, value_width_);
  for (const PageTable::Copy& copy : table_->copies())
    kernels::copy_page(layout(), page(copy.from), copy.tokens, page(copy.to));
  std::vector<kernels::PagePiece> pieces;
  for (const PageTable::Piece& piece : table_->pieces()) {
    pieces.push_back({page(piece.page), piece.begin, piece.tokens, keys.data<float>() + piece.token * keys.stride(1),
                      values.data<float>() + piece.token * values.stride(1)});
  }
  kernels::write_pages({.layout = layout(),
                        .pieces = pieces,
                        .k_token = keys.stride(1),
                        .k_head = keys.stride(2),
                        .v_token = values.stride(1),
                        .v_head = values.stride(2),
                        .score = kernel_score(form)});
  steps_ = table_->steps();
}

void KeyCache::take(KeyCache& other, const std::vector<std::pair<int64_t, int64_t>>& became) {
  if (other.pages_.empty()) return;
  auto sizes = [](const KeyCache& c) {
    return std::tuple(c.key_heads_, c.key_width_, c.panel_width_, c.value_width_, c.precision_);
  };
  if (pages_.empty())
    std::tie(key_heads_, key_width_, panel_width_, value_width_, precision_) = sizes(other), steps_ = table_->steps();
  require(sizes(*this) == sizes(other),
          "cache: found {} heads of widths {} and {} to append to {} of {} and {}, expected those of one model",
          other.key_heads_, other.key_width_, other.value_width_, key_heads_, key_width_, value_width_);
  for (const auto& [from, to] : became) {
    pages_.resize(std::max(pages_.size(), static_cast<size_t>(to) + 1));
    pages_[static_cast<size_t>(to)] = std::move(other.pages_.at(static_cast<size_t>(from)));
  }
}

Cache::Cache(int64_t page_tokens)
    : tokens_(std::make_shared<PageTable>(page_tokens)), memories_(std::make_shared<PageTable>(page_tokens)) {}

void Cache::begin_memories(std::span<const int64_t> starts) {
  require(!starts.empty() && tokens_->rows().empty() && memories_->rows().empty(),
          "cache: found {} rows before their memories, expected a new cache", rows());
  const int64_t count = static_cast<int64_t>(starts.size()) - 1;
  memories_->add_rows(count), tokens_->add_rows(count);
  memories_->extend(starts);
}

void Cache::begin(std::span<const int64_t> starts) {
  if (tokens_->rows().empty() && !starts.empty()) tokens_->add_rows(static_cast<int64_t>(starts.size()) - 1);
  const std::vector<PageTable::Row>& rows = tokens_->rows();
  tokens_->extend(starts);
  starts_.assign(starts.begin(), starts.end());
  positions_.clear();
  for (size_t r = 0; r < rows.size(); ++r)
    for (int64_t t = starts[r]; t < starts[r + 1]; ++t) positions_.push_back(rows[r].length - (starts[r + 1] - t));
}

void Cache::reorder(std::span<const int64_t> rows) {
  tokens_->reorder(rows);
  if (!memories_->rows().empty()) memories_->reorder(rows);
}

void Cache::forget_tokens() {
  const int64_t count = rows();
  tokens_->reorder({});
  tokens_->add_rows(count);
}

void Cache::append(Cache&& other) {
  require(rows() == 0 || memories_->rows().empty() == other.memories_->rows().empty(),
          "cache: found rows with memories and rows without, expected those of one model");
  const auto tokens = tokens_->append(*other.tokens_), memories = memories_->append(*other.memories_);
  for (auto& [attention, keys] : other.keys_) at(attention).take(keys, tokens);
  for (auto& [attention, keys] : other.memory_keys_) memory_at(attention).take(keys, memories);
}

}  // namespace fovea
