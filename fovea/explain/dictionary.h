// Which words of two languages belong together: read from a file, or learned from pairs of sentences.
//
//   const Dictionary words = Dictionary::learned(pairs);               // IBM's model 1 (Brown et al. 1993), a few rounds of EM
//   words.links("The bank approved the loan.", "Die Bank genehmigte den Kredit.");       // {0-0, 1-1, 2-2, 3-3, 4-4}
//
// Words are what white space separates, without the marks around them and in lower case.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fovea/train/metrics/alignment.h"

namespace fovea {

class Dictionary final {
 public:
  // A word, a tab and a word of the other language on each line; a word may have several.
  static Dictionary read(const std::string& path);
  static Dictionary learned(const std::vector<std::pair<std::string, std::string>>& pairs);

  size_t size() const { return entries_.size(); }
  // Of each word of the target the word of the source that it is most probably from: none if no word of the source is in an entry
  // with it that is more probable than chance.
  Alignment links(std::string_view source, std::string_view target) const;

 private:
  std::map<std::pair<std::string, std::string>, double> entries_;  // p(target | source); 1 of those that were read
};

}  // namespace fovea
