// What a head does, in numbers gathered over texts, and a name for it by rules from these numbers.
//
//   HeadMeasures measures;
//   for (const std::string& text : texts) measures.add(record(model, tokenizer, text));
//   measures.add_repeated(record_repeated(model, tokenizer, Random(1)));
//   for (const HeadMeasure& h : measures.heads()) h.place.path, h.head, h.name;        // "encoder.1.self", 3, "previous token"
//
// A share is the mean, over the rows that have such keys and others beside them, of the weight on these keys; its chance is what a
// head that looks everywhere alike would give them. What a row of self-attention has read is the column of its own number.
#pragma once

#include <array>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "fovea/explain/recording.h"
#include "fovea/train/metrics/alignment.h"

namespace fovea {

struct HeadShare {
  double weight = 0, chance = 0;
  int64_t rows = 0;  // 0: no row had such keys
};

// Kinds of keys. The first five are for attention of a sequence over itself alone.
enum class LookedAt { previous, next, same, duplicate, induction, first, separator, punctuation, position };
inline constexpr size_t looked_at_kinds = 9;
std::string_view name(LookedAt);

struct HeadMeasure {
  Place place = {};
  int64_t head = 0;
  int64_t texts = 0, rows = 0;

  double entropy = 0;   // −Σ w ln w as a share of ln(keys): 0 for one key, 1 for all alike
  double focus = 0;     // the mean of the rows' largest weights
  double distance = 0;  // Σ w |row − column|, in tokens; of attention of a sequence over itself
  // duplicate: the same token elsewhere. induction: what followed the same token before (Olsson et al. 2022). first: the first of all
  // columns. separator: special tokens behind it. position: the one other column that gets most, whatever the text.
  std::array<HeadShare, looked_at_kinds> shares = {};
  int64_t position = -1;  // that column
  // The same two on random tokens that come twice: nothing but copying makes a head look there.
  HeadShare repeated_duplicate = {}, repeated_induction = {};

  // Of cross-attention. diagonality: 1 − Σ w |row − column| by the same of a head that looks everywhere alike, both as parts of
  // their sequences: 1 on the diagonal, 0 by chance. monotonicity: Kendall's τ of the rows and the columns of their largest weights.
  // agreement: the share of the links that are known (a dictionary's, or gold ones) that its largest weights make; without a
  // target, of links within the text (of an object, source, from its verb …): a word's largest weight on another word.
  double diagonality = 0, monotonicity = 0;
  double agreement = std::numeric_limits<double>::quiet_NaN();

  std::string name = {};
  double strength = 0;  // the number that the name is given for

  const HeadShare& operator[](LookedAt kind) const { return shares[static_cast<size_t>(kind)]; }
};

// The rules. A kind of keys counts if it gets at least 0.3, at least twice what chance gives it, and a quarter
// of the rows has such keys:
//   induction, duplicate      on repeated random tokens, before all others; without these, on at least eight rows of the texts
//   alignment                 cross-attention: monotonicity at least 0.5 and diagonality at least 0.3, or agreement at least 0.5
//   otherwise                 the kind with the largest share: previous token, next token, same token, first token, separator,
//                             punctuation, or position n if there were at least four texts
//   broad                     entropy at least 0.8 of what it could be
//   mixed                     none of these
struct HeadName {
  std::string text;
  double strength;
};
HeadName name_of(const HeadMeasure&);

class HeadMeasures final {
 public:
  // What is known about which words belong together: columns as source, rows as target. None: agreement is not measured.
  using KnownLinks = std::function<Alignment(const Recording&)>;
  explicit HeadMeasures(KnownLinks known = {}) : known_(std::move(known)) {}

  void add(const Recording&);
  void add_repeated(const Recording&);  // of record_repeated(), given.h

  std::vector<HeadMeasure> heads() const;  // in the order of the places, with their names

 private:
  struct Sums {
    HeadMeasure total;  // sums, until heads() divides them
    std::vector<double> columns, visible;
    double diagonal_texts = 0, found = 0, known = 0;
  };
  struct Columns;
  class Row;
  void add_rows(const RecordedPlace&, size_t number, const Columns&, Sums&);
  Sums& sums_of(const RecordedPlace&, size_t number);

  KnownLinks known_;
  std::vector<Sums> all_;
};

}  // namespace fovea
