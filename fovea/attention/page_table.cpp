#include "fovea/attention/page_table.h"

#include <algorithm>

#include "fovea/base/error.h"

namespace fovea {

PageTable::PageTable(int64_t page_tokens) : page_tokens_(page_tokens) {
  require(page_tokens >= 16 && page_tokens % 16 == 0 && 256 % page_tokens == 0,
          "cache: found pages of {} tokens, expected 16, 32, 64, 128 or 256", page_tokens);
}

void PageTable::add_rows(int64_t count) {
  require(count >= 0, "cache: found {} new rows, expected 0 or more", count);
  rows_.resize(rows_.size() + static_cast<size_t>(count));
}

int64_t PageTable::take() {
  if (free_.empty()) {
    holders_.push_back(1);
    return pages() - 1;
  }
  const int64_t page = free_.back();
  free_.pop_back();
  holders_[static_cast<size_t>(page)] = 1;
  return page;
}

void PageTable::release(const Row& row) {
  for (int64_t page : row.pages)
    if (--holders_[static_cast<size_t>(page)] == 0) free_.push_back(page);
}

void PageTable::extend(std::span<const int64_t> starts) {
  require(starts.size() == rows_.size() + 1 && starts[0] == 0 && std::is_sorted(starts.begin(), starts.end()),
          "cache: found the starts of {} rows' tokens, expected rising ones from 0 of {} rows, and their end",
          static_cast<int64_t>(starts.size()) - 1, rows_.size());
  pieces_.clear(), copies_.clear(), ++steps_;
  for (size_t r = 0; r < rows_.size(); ++r) {
    Row& row = rows_[r];
    for (int64_t token = starts[r], n; token < starts[r + 1]; token += n, row.length += n) {
      const int64_t begin = row.length % page_tokens_;
      if (begin == 0) {
        row.pages.push_back(take());
      } else if (int64_t& last = row.pages.back(); holders_[static_cast<size_t>(last)] > 1) {
        copies_.push_back({last, take(), begin}), ++copied_;
        --holders_[static_cast<size_t>(last)];
        last = copies_.back().to;
      }
      n = std::min(starts[r + 1] - token, page_tokens_ - begin);
      pieces_.push_back({row.pages.back(), begin, n, token});
    }
  }
}

void PageTable::reorder(std::span<const int64_t> rows) {
  std::vector<Row> next;
  for (int64_t r : rows) {
    require(0 <= r && r < static_cast<int64_t>(rows_.size()), "cache: found row {}, expected 0 to {}", r,
            static_cast<int64_t>(rows_.size()) - 1);
    next.push_back(rows_[static_cast<size_t>(r)]);
  }
  for (const Row& row : next)
    for (int64_t page : row.pages) ++holders_[static_cast<size_t>(page)];
  for (const Row& row : rows_) release(row);
  rows_ = std::move(next);
}

std::vector<std::pair<int64_t, int64_t>> PageTable::append(const PageTable& other) {
  require(other.page_tokens_ == page_tokens_,
          "cache: found pages of {} tokens to append to pages of {}, expected equal ones", other.page_tokens_,
          page_tokens_);
  std::vector<std::pair<int64_t, int64_t>> became;
  std::vector<int64_t> numbers(other.holders_.size(), -1);
  for (Row row : other.rows_) {
    for (int64_t& page : row.pages) {
      int64_t& number = numbers[static_cast<size_t>(page)];
      if (number < 0)
        became.emplace_back(page, number = take());
      else
        ++holders_[static_cast<size_t>(number)];
      page = number;
    }
    rows_.push_back(std::move(row));
  }
  return became;
}

}  // namespace fovea
