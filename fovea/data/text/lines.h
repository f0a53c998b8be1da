// The lines of a text file, plain, .gz or .zip, or of stdin ("-"), one at a time and without limit to their number.
//
//   Lines lines("pairs.zip:deu.txt");                  // or "pairs.tsv.gz", "-"; the member only if there are several
//   for (std::string line; lines.next(line);) …        // without \n or \r\n, valid UTF-8; lines.where() is "pairs.zip:17"
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace fovea {

class Lines final {
 public:
  class Source;                                        // where the bytes come from
  static constexpr size_t longest = size_t{16} << 20;  // bytes of a line; more is an Error

  // A gzip or zip is known by its first bytes. In a zip, members whose name begins with '_' or '.' are passed over.
  explicit Lines(const std::string& path);
  ~Lines();
  Lines(Lines&&) noexcept;
  Lines& operator=(Lines&&) noexcept;

  bool next(std::string& line);  // false at the end; an Error for invalid UTF-8 and for a damaged or cut file
  // Whether next() would answer at once, the end included: false while whoever writes into a pipe or types has not gone on.
  bool ready();
  int64_t number() const { return number_; }  // of the line that next() gave, from 1
  std::string where() const;

 private:
  bool fill();

  std::string name_, buffer_;
  std::unique_ptr<Source> source_;
  size_t at_ = 0;
  int64_t number_ = 0;
  bool ended_ = false;
};

}  // namespace fovea
