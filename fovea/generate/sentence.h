// The search for one request: which hypotheses are open, how they go on, which are complete.
//
//   SentenceSearch search(request, number, config, special_ids);
//   while (!search.done()) parents = search.advance(logits, sums, {});
//
// Beam search: of all open hypotheses' continuations the best ones, as many as the beam has places, are kept; one that ends
// is complete and its place is gone (Bahdanau, Cho and Bengio 2014), so that a beam of 1 is greedy search. It is over when no
// place is left, or earlier when no open hypothesis can still be among the n best: a sum s of log-probabilities only falls,
// so whatever continues an open one of n tokens scores at most max(s / (n + 1)^a, s / max_length^a).
//
// Open search, as Transformers has it: of the 2 · places best continuations those among the first half that end are complete,
// and the best others go on, so that all places stay open; the best complete ones are kept, as many as places. It is over when
// there are as many and early_stopping says so. Whatever token may come: padding and start too, if they are not suppressed.
#pragma once

#include <memory>
#include <span>

#include "fovea/base/random.h"
#include "fovea/generate/search.h"
#include "fovea/kernels/select.h"

namespace fovea {

// Logits of tokens that occurred become smaller.
void penalise_repetition(std::span<float> logits, const std::vector<int64_t>& ids, double penalty);

// The tokens that would complete an n-gram for the second time.
std::vector<int64_t> repeating(const std::vector<int64_t>& ids, int64_t n);

class SentenceSearch final {
 public:
  SentenceSearch(const Request&, size_t number, const GenerationConfig&, const SpecialIds&);

  bool done() const { return open_.empty(); }
  size_t open() const { return open_.size(); }
  int64_t last_id(size_t row) const { return open_[row].last ? open_[row].last->id : special_.bos; }

  // Both take the rows of all open hypotheses, [open, vocabulary].
  void penalise(std::span<float> logits) const;
  // Returns for each hypothesis that is open now which of the open ones it continues. `sums` are the rows' log Σ exp;
  // `attention` holds what each row looked at, or nothing. Tokens that are excluded become −∞ in `logits`.
  std::vector<int64_t> advance(std::span<float> logits, std::span<const float> sums,
                               std::span<const std::vector<float>> attention);

  Hypotheses results() const;  // the n best

 private:
  struct Token {
    int64_t id;
    double log_probability;
    std::vector<float> attention;
    std::shared_ptr<const Token> before;
  };
  struct Open {
    std::shared_ptr<const Token> last = {};
    double sum = 0;
    int64_t tokens = 0;
    uint64_t sample = 0;  // which of the samples it is
  };
  struct Complete {
    Open hypothesis;
    double score;
    bool ended;
  };
  struct Candidate {
    double sum;
    size_t parent;
    int64_t id;
    double log_probability;
  };

  static std::vector<int64_t> ids_of(const Open&);
  std::vector<kernels::Chosen> choices(const Open&, std::span<float> row, int64_t count) const;
  std::vector<Candidate> candidates(std::span<float> logits, std::span<const float> sums);
  double score(double sum, int64_t tokens) const;
  bool theirs() const { return !config_.early_stopping.empty(); }  // as Transformers searches
  bool open_beam() const { return theirs() && config_.beam_size > 1 && !config_.sample; }
  int64_t forced(const Open&) const;  // the id that counts nothing, −1 if there is none
  std::vector<int64_t> excluded_after(const Open&) const;
  void penalise_probabilities(std::span<float> row, const std::vector<int64_t>& ids, double sum) const;
  std::vector<int64_t> written(const Open&) const;  // as repetitions are counted
  void complete(Open, bool ended);
  bool decided() const;

  const Request& request_;
  const GenerationConfig& config_;
  SpecialIds special_;
  std::vector<int64_t> prefix_;
  int64_t max_length_;
  Random random_;
  std::vector<Open> open_;
  std::vector<Complete> complete_;  // best first
};

}  // namespace fovea
