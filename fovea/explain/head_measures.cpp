#include "fovea/explain/head_measures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "fovea/explain/alignment.h"

namespace fovea {
namespace {

constexpr int64_t most_columns = 1024;             // that a fixed position is looked for in
constexpr int64_t block_cells = int64_t{1} << 22;  // of weights that are looked at together
constexpr int64_t fewest_copies = 8;               // rows of ordinary text that repeat something
constexpr double counts_from = 0.3, above_chance = 2, broad_from = 0.8;

bool is_punctuation(const std::string& piece) {
  if (piece.empty() || invalid_utf8(piece) != std::string_view::npos) return false;
  const std::vector<CodePoint> points = code_points(piece);
  return std::none_of(points.begin(), points.end(),
                      [](const CodePoint& c) { return is_word_character(c.value) || is_space(c.value); });
}

void add_share(HeadShare& share, double weight, double keys, double visible) {
  if (keys <= 0 || visible <= keys) return;
  share.weight += weight, share.chance += keys / visible, ++share.rows;
}

}  // namespace

// What there is to know about the columns of a place.
struct HeadMeasures::Columns {
  std::vector<char> separator, punctuation;
  std::vector<int64_t> separators, punctuations;  // how many there are before each column, and at the end
  std::vector<std::vector<int64_t>> others;       // of each column: where the same token stands, too; in self-attention

  Columns(const RecordedSequence& s, int64_t count, bool self) {
    separators = punctuations = {0};
    std::map<int64_t, std::vector<int64_t>> places;
    for (int64_t j = 0; j < count; ++j) {
      const auto at = static_cast<size_t>(j);
      const bool special = s.spans[at].size() == 0;
      separator.push_back(special && j > 0);
      punctuation.push_back(!special && is_punctuation(s.pieces[at]));
      separators.push_back(separators.back() + separator.back());
      punctuations.push_back(punctuations.back() + punctuation.back());
      if (self && s.ids[at] >= 0) places[s.ids[at]].push_back(j);
    }
    others.resize(static_cast<size_t>(count));
    for (const auto& [id, where] : places)
      for (int64_t j : where)
        for (int64_t k : where)
          if (k != j && where.size() <= 64) others[static_cast<size_t>(j)].push_back(k);
  }
};

// One row of weights over `visible` columns, added to the sums of its head.
class HeadMeasures::Row final {
 public:
  Row(const float* weights, int64_t row, int64_t visible, const Columns& columns)
      : w_(weights), row_(row), visible_(visible), columns_(columns) {}

  void add_to(HeadMeasure& m, bool self) const {
    double entropy = 0, largest = 0, separators = 0, punctuation = 0;
    for (int64_t j = 0; j < visible_; ++j) {
      const double w = w_[j];
      entropy -= w > 0 ? w * std::log(w) : 0;
      largest = std::max(largest, w);
      if (columns_.separator[static_cast<size_t>(j)]) separators += w;
      if (columns_.punctuation[static_cast<size_t>(j)]) punctuation += w;
    }
    const auto end = static_cast<size_t>(visible_);
    const auto keys = static_cast<double>(visible_);
    ++m.rows;
    m.entropy += entropy / std::log(keys), m.focus += largest;
    share(m, LookedAt::first, w_[0], 1);
    share(m, LookedAt::separator, separators, static_cast<double>(columns_.separators[end]));
    share(m, LookedAt::punctuation, punctuation, static_cast<double>(columns_.punctuations[end]));
    if (self) add_self(m);
  }

 private:
  void share(HeadMeasure& m, LookedAt kind, double weight, double keys) const {
    add_share(m.shares[static_cast<size_t>(kind)], weight, keys, static_cast<double>(visible_));
  }

  void add_self(HeadMeasure& m) const {
    for (int64_t j = 0; j < visible_; ++j) m.distance += w_[j] * static_cast<double>(std::abs(row_ - j));
    if (row_ > 0) share(m, LookedAt::previous, w_[row_ - 1], 1);
    if (row_ + 1 < visible_) share(m, LookedAt::next, w_[row_ + 1], 1);
    share(m, LookedAt::same, w_[row_], 1);
    double duplicate = 0, followed = 0, duplicates = 0, followers = 0;
    for (int64_t j : columns_.others[static_cast<size_t>(row_)]) {
      if (j < visible_) duplicate += w_[j], ++duplicates;
      if (j + 1 < row_) followed += w_[j + 1], ++followers;
    }
    share(m, LookedAt::duplicate, duplicate, duplicates);
    share(m, LookedAt::induction, followed, followers);
  }

  const float* w_;
  int64_t row_, visible_;
  const Columns& columns_;
};

namespace {

// Kendall's τ of row numbers and these columns; equal ones count for nothing.
double kendall(const std::vector<int64_t>& columns) {
  double sum = 0, pairs = 0;
  for (size_t i = 0; i < columns.size(); ++i)
    for (size_t k = i + 1; k < columns.size(); ++k, ++pairs)
      sum += (columns[k] > columns[i]) - (columns[k] < columns[i]);
  return pairs > 0 ? sum / pairs : 0;
}

// Σ w |row − column| as parts of their sequences, and the same of weights that are all alike.
std::pair<double, double> beside_diagonal(const Tensor& w) {
  const int64_t rows = w.size(0), columns = w.size(1);
  double sum = 0, alike = 0;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      const double away = std::abs(static_cast<double>(i) / static_cast<double>(rows - 1) -
                                   static_cast<double>(j) / static_cast<double>(columns - 1));
      sum += w.data<float>()[i * columns + j] * away, alike += away / static_cast<double>(columns);
    }
  return {sum, alike};
}

// f(first row, weights [some rows, columns]) over all rows of a head.
template <class F>
void for_each_block(const RecordedPlace& p, size_t number, F&& f) {
  const int64_t step = std::max<int64_t>(1, block_cells / std::max<int64_t>(1, p.columns()));
  for (int64_t begin = 0; begin < p.rows(); begin += step)
    f(begin, p.part(number, {begin, std::min(p.rows(), begin + step)}, {}).to(DType::f32).contiguous());
}

template <class F>
void for_each_row(const RecordedPlace& p, size_t number, F&& f) {
  for_each_block(p, number, [&](int64_t begin, const Tensor& w) {
    for (int64_t i = 0; i < w.size(0); ++i) {
      const int64_t visible = p.place.causal ? std::min(begin + i + 1, w.size(1)) : w.size(1);
      if (visible > 1) f(w.data<float>() + i * w.size(1), begin + i, visible);
    }
  });
}

bool is_self(const RecordedPlace& p) { return p.place.kind == Place::Kind::self && p.rows() == p.columns(); }

HeadShare divided(HeadShare s) {
  if (s.rows > 0) s.weight /= static_cast<double>(s.rows), s.chance /= static_cast<double>(s.rows);
  return s;
}

bool counts(const HeadShare& s) { return s.weight >= counts_from && s.weight >= above_chance * s.chance; }

}  // namespace

std::string_view name(LookedAt kind) {
  constexpr std::string_view names[] = {"previous token", "next token", "same token",  "duplicate token", "induction",
                                        "first token",    "separator",  "punctuation", "position"};
  return names[static_cast<size_t>(kind)];
}

HeadName name_of(const HeadMeasure& h) {
  const auto called = [](LookedAt kind, const HeadShare& share) {
    return HeadName{std::string(name(kind)), share.weight};
  };
  if (counts(h.repeated_induction)) return called(LookedAt::induction, h.repeated_induction);
  if (counts(h.repeated_duplicate)) return called(LookedAt::duplicate, h.repeated_duplicate);
  const bool monotone = h.monotonicity >= 0.5 && h.diagonality >= 0.3;
  if (h.place.kind == Place::Kind::cross && (h.agreement >= 0.5 || monotone))
    return {"alignment", h.agreement >= 0.5 ? h.agreement : h.monotonicity};
  const HeadShare* best = nullptr;
  LookedAt kind = LookedAt::first;
  for (size_t i = 0; i < looked_at_kinds; ++i) {
    if (!counts(h.shares[i]) || (best && best->weight >= h.shares[i].weight)) continue;
    const auto looked_at = static_cast<LookedAt>(i);
    const bool copies = looked_at == LookedAt::induction || looked_at == LookedAt::duplicate;
    if (looked_at == LookedAt::position && h.texts < 4) continue;
    if (!copies && 4 * h.shares[i].rows < h.rows) continue;  // of a few rows alone
    if (copies && (h.repeated_induction.rows > 0 || h.shares[i].rows < fewest_copies)) continue;
    best = &h.shares[i], kind = looked_at;
  }
  if (best && kind == LookedAt::position) return {fmt::format("position {}", h.position), best->weight};
  if (best) return called(kind, *best);
  return {h.entropy >= broad_from ? "broad" : "mixed", h.entropy};
}

HeadMeasures::Sums& HeadMeasures::sums_of(const RecordedPlace& p, size_t number) {
  for (Sums& s : all_)
    if (s.total.place.path == p.place.path && s.total.head == p.heads[number]) return s;
  Sums& fresh = all_.emplace_back();
  fresh.total.place = p.place, fresh.total.head = p.heads[number];
  return fresh;
}

void HeadMeasures::add(const Recording& seen) {
  const Alignment known = known_ ? known_(seen) : Alignment();
  const bool translated = seen.sequences.contains("target");
  for (const RecordedPlace& p : seen.places) {
    const Columns columns(seen.columns_of(p), p.columns(), is_self(p));
    for (size_t n = 0; n < p.heads.size(); ++n) {
      Sums& s = sums_of(p, n);
      add_rows(p, n, columns, s);
      const bool related = translated ? p.place.kind == Place::Kind::cross : is_self(p);
      if (known.empty() || !related || p.rows() > most_columns || p.columns() > most_columns) continue;
      const RecordedSequence &rows = seen.rows_of(p), &looked_at = seen.columns_of(p);
      WordWeights w =
          by_words({rows.text, rows.spans}, {looked_at.text, looked_at.spans}, p.part(n, {}, {}).to(DType::f32));
      for (size_t i = 0; !translated && i < w.rows.size(); ++i) w.weights[i * w.columns.size() + i] = 0;
      const Alignment links = hard_alignment(w);
      s.known += static_cast<double>(known.size());
      for (const Link& link : known) s.found += links.contains(link) ? 1 : 0;
    }
  }
}

void HeadMeasures::add_rows(const RecordedPlace& p, size_t number, const Columns& columns, Sums& s) {
  ++s.total.texts;
  const bool self = is_self(p), cross = p.place.kind == Place::Kind::cross;
  const auto kept = static_cast<size_t>(std::min(p.columns(), most_columns));
  if (s.columns.size() < kept) s.columns.resize(kept), s.visible.resize(kept);
  std::vector<int64_t> largest;
  for_each_row(p, number, [&](const float* w, int64_t row, int64_t visible) {
    Row(w, row, visible, columns).add_to(s.total, self);
    for (size_t j = 0; j < std::min(kept, static_cast<size_t>(visible)); ++j) s.columns[j] += w[j], ++s.visible[j];
    if (cross) largest.push_back(std::max_element(w, w + visible) - w);
  });
  if (!cross || largest.size() < 2 || largest.size() > most_columns) return;
  const auto [beside, alike] = beside_diagonal(p.part(number, {}, {}).to(DType::f32).contiguous());
  s.total.monotonicity += kendall(largest), s.total.diagonality += alike > 0 ? 1 - beside / alike : 0;
  ++s.diagonal_texts;
}

// Row i of the second time has read what row i − n read; that is its duplicate, and what followed it stands behind.
void HeadMeasures::add_repeated(const Recording& seen) {
  for (const RecordedPlace& p : seen.places) {
    if (!is_self(p)) continue;
    const Columns columns(seen.columns_of(p), p.columns(), true);
    for (size_t n = 0; n < p.heads.size(); ++n) {
      Sums& s = sums_of(p, n);
      for_each_row(p, n, [&](const float* w, int64_t row, int64_t visible) {
        for (int64_t before : columns.others[static_cast<size_t>(row)]) {
          if (before + 1 >= row) continue;
          add_share(s.total.repeated_duplicate, w[before], 1, static_cast<double>(visible));
          add_share(s.total.repeated_induction, w[before + 1], 1, static_cast<double>(visible));
        }
      });
    }
  }
}

std::vector<HeadMeasure> HeadMeasures::heads() const {
  std::vector<HeadMeasure> result;
  for (const Sums& s : all_) {
    HeadMeasure m = s.total;
    const auto rows = static_cast<double>(std::max<int64_t>(1, m.rows));
    m.entropy /= rows, m.focus /= rows, m.distance /= rows;
    HeadShare& position = m.shares[static_cast<size_t>(LookedAt::position)];
    for (size_t j = 1; j < s.columns.size(); ++j) {
      if (2 * s.visible[j] < s.visible[0] || s.columns[j] / s.visible[j] <= position.weight) continue;
      position = {s.columns[j] / s.visible[j], 0, static_cast<int64_t>(s.visible[j])};
      m.position = static_cast<int64_t>(j);
    }
    position.chance = m[LookedAt::first].rows > 0 ? m[LookedAt::first].chance / rows : 0;
    for (size_t i = 0; i < looked_at_kinds; ++i)
      if (static_cast<LookedAt>(i) != LookedAt::position) m.shares[i] = divided(m.shares[i]);
    m.repeated_duplicate = divided(m.repeated_duplicate), m.repeated_induction = divided(m.repeated_induction);
    if (s.diagonal_texts > 0) m.diagonality /= s.diagonal_texts, m.monotonicity /= s.diagonal_texts;
    if (s.known > 0) m.agreement = s.found / s.known;
    const HeadName named = name_of(m);
    m.name = named.text, m.strength = named.strength;
    result.push_back(std::move(m));
  }
  return result;
}

}  // namespace fovea
