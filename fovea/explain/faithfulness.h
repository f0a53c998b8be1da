// Whether an explanation is true: how the answer's probability falls when the words that it ranks highest are gone.
//
//   const Faithfulness f = check(*question, methods_named({"all"}), {});
//   f.methods[0].comprehensiveness;                    // the larger, the more those words did; sufficiency: the smaller, the better
//
//   comprehensiveness = mean over k of  p(x) − p(x without the top k %)
//   sufficiency       = mean over k of  p(x) − p(the top k % alone),   k = 1, 5, 10, 20, 50     (ERASER, DeYoung et al. 2020)
//
// k % of the words are rounded up. Beside the methods stands a random order, the mean over several; lowest is comprehensiveness of
// the words that a method ranks last.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fovea/explain/attribution.h"

namespace fovea {

inline constexpr int erased_percents[] = {1, 5, 10, 20, 50};
inline constexpr size_t erased_steps = std::size(erased_percents);

struct CheckOptions {
  Erasing erasing = Erasing::replace;
  int64_t random_orders = 5;
  uint64_t seed = 0;
  MethodOptions method = {};
};

struct Faithful {
  std::string method = {};  // "random" at last
  double comprehensiveness = 0, sufficiency = 0, lowest = 0;
  // How far the probability falls at each of the percents: without the highest, with them alone, without the lowest.
  std::vector<double> without = {}, alone = {}, without_lowest = {};
  std::string unfit = {};
};

struct Faithfulness {
  size_t texts = 0, words = 0;
  double probability = 0;   // of the answers, the mean
  std::string erased = {};  // "replaced by [MASK]", "removed"
  std::vector<Faithful> methods = {};
};

// An Error for a text without words.
Faithfulness check(const Question&, const std::vector<const Method*>&, const CheckOptions& = {});
// The same, of scores that are there already: one for each of the words.
Faithfulness check(const Question&, const Attributions&, const CheckOptions& = {});

// The means over texts. A method that does not fit one of them does not fit.
class FaithfulnessMean final {
 public:
  void add(const Faithfulness&);
  Faithfulness mean() const;

 private:
  Faithfulness sum_;
};

std::string to_text(const Faithfulness&);  // a table
std::string to_json(const Faithfulness&);

}  // namespace fovea
