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
// With early_stopping, as Transformers searches: of the 2 · places best continuations those among the first half that end are
// complete, and the best others go on, so that all places stay open; the best complete ones are kept, as many as places. It is
// over when there are as many and early_stopping says so. Tokens that are forced count nothing.
#pragma once

#include <memory>
#include <span>

#include "fovea/base/random.h"
#include "fovea/generate/rules.h"
#include "fovea/generate/search.h"
#include "fovea/kernels/select.h"

namespace fovea {

// What a row looked at among the source's tokens, and how probable it was that each of them was copied; empty: not known.
struct SourceLook {
  std::vector<float> attention = {}, copied = {};
};

class SentenceSearch final {
 public:
  // `positions`: how many tokens the model can read, the prompt counted; 0: any number.
  SentenceSearch(const Request&, size_t number, const GenerationConfig&, const SpecialIds&, int64_t positions = 0);

  bool done() const { return open_.empty(); }
  size_t open() const { return open_.size(); }
  int64_t last_id(size_t row) const;  // the last token of a row, of its prompt if nothing is written yet, or the start

  // Both take the rows of all open hypotheses, [open, vocabulary].
  void penalise(std::span<float> logits) const;
  // Returns for each hypothesis that is open now which of the open ones it continues. `sums` are the rows' log Σ exp;
  // `looks` holds what each row looked at, or nothing. Tokens that are excluded become −∞ in `logits`.
  std::vector<int64_t> advance(std::span<float> logits, std::span<const float> sums, std::span<const SourceLook> looks);

  // The token that came last, of a search for one hypothesis.
  struct Written {
    int64_t id;
    double log_probability;
    bool end;
  };
  Written newest() const;

  Hypotheses results() const;  // the n best

 private:
  struct Token {
    int64_t id;
    double log_probability;
    std::vector<float> attention;
    double copied;  // share of its probability; −1: not known
    int64_t row;    // of its step
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
  std::vector<int64_t> history_of(const Open&) const;  // with the prompt
  bool needs_history() const { return config_.no_repeat_ngram > 0 || !config_.never_in_a_row.empty(); }
  int64_t forced_id(const Open&) const;                            // what has to come next; −1: anything may
  bool counts_nothing(const Open&) const;                          // what is forced to come next
  bool theirs() const { return !config_.early_stopping.empty(); }  // as Transformers searches
  bool open_beam() const { return theirs() && config_.beam_size > 1 && !config_.sample; }
  void penalise_probabilities(std::span<float> row, const std::vector<int64_t>& ids, double sum) const;
  std::vector<kernels::Chosen> choices(const Open&, std::span<float> row, int64_t count) const;
  std::vector<Candidate> candidates(std::span<float> logits, std::span<const float> sums);
  double copied_share(const SourceLook&, int64_t id, double log_probability) const;
  double score(double sum, int64_t tokens) const;
  void complete(Open, bool ended);
  bool decided() const;

  const Request& request_;
  const GenerationConfig& config_;
  SpecialIds special_;
  Rules rules_;
  std::vector<int64_t> prefix_;  // the first token that the config forces, and the request's
  int64_t min_length_, max_length_;
  Random random_;
  std::vector<Open> open_;
  std::vector<Complete> complete_;  // best first
};

}  // namespace fovea
