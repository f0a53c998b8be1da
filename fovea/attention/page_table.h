// Which pages hold the tokens of each row of a cache. Rows share pages: reordering them moves no numbers.
//
//   PageTable table(32);   table.add_rows(2);   table.extend({0, 5, 6});     // row 0 gets five tokens, row 1 one
//   table.reorder({0, 0});                             // both go on from row 0; row 1's pages are free
//
// The numbers themselves are elsewhere (key_cache.h), page by page under the same numbers for every attention of a model.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace fovea {

class PageTable final {
 public:
  explicit PageTable(int64_t page_tokens);  // 16, 32, 64, 128 or 256

  struct Row {
    std::vector<int64_t> pages = {};
    int64_t length = 0;
  };
  // Tokens [begin, begin + tokens) of a page; the first of them is number `token` of what the step adds.
  struct Piece {
    int64_t page, begin, tokens, token;
  };
  // A page that several rows hold and one of them goes on to write: its first tokens come along.
  struct Copy {
    int64_t from, to, tokens;
  };

  void add_rows(int64_t count);  // empty ones, behind the others

  // Row r gets the tokens [starts[r], starts[r + 1]), any number of them.
  void extend(std::span<const int64_t> starts);
  // What the last extend() asks of whoever keeps the numbers, the copies first.
  const std::vector<Piece>& pieces() const { return pieces_; }
  const std::vector<Copy>& copies() const { return copies_; }
  int64_t steps() const { return steps_; }  // how often it was extended

  void reorder(std::span<const int64_t> rows);  // row i goes on as row rows[i] was; what no row holds is free

  // The rows of another table come behind. Returns which of its pages became which.
  std::vector<std::pair<int64_t, int64_t>> append(const PageTable& other);

  const std::vector<Row>& rows() const { return rows_; }
  int64_t page_tokens() const { return page_tokens_; }
  int64_t pages() const { return static_cast<int64_t>(holders_.size()); }  // numbers given out so far
  int64_t pages_in_use() const { return pages() - static_cast<int64_t>(free_.size()); }
  int64_t copied() const { return copied_; }  // pages, since the beginning

 private:
  int64_t take();
  void release(const Row&);

  int64_t page_tokens_, steps_ = 0, copied_ = 0;
  std::vector<Row> rows_;
  std::vector<int64_t> holders_;  // of each page
  std::vector<int64_t> free_;     // the last one freed is the first to be used again
  std::vector<Piece> pieces_;
  std::vector<Copy> copies_;
};

}  // namespace fovea
