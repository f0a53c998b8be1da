// Attention through all layers: what a token of the last layer is made of, if each layer mixes by its weights and lets half past.
//
//   r ← r (½ A + ½ I) from the last layer to the first, A the mean over heads     (Abnar and Zuidema 2020)
//
// For one answer r is a row, so that memory grows with the number of tokens. A decoder's layers give half of what is left to the
// source at each attention to it, and the encoder's layers follow.
#include <map>

#include "fovea/explain/looked.h"
#include "fovea/explain/method.h"

namespace fovea::methods {
namespace {

constexpr int64_t most_cells = int64_t{1} << 20;  // of weights that are held at a time

using Row = std::vector<double>;

// r A, with A the mean over the heads of a place.
Row mixed(const Looked& looked, const std::string& place, const Row& r) {
  const int64_t heads = looked.heads(place);
  const auto count = static_cast<int64_t>(r.size());
  Row sum;
  for (int64_t begin = 0; begin < count;) {
    if (r[static_cast<size_t>(begin)] == 0) {
      ++begin;
      continue;
    }
    int64_t end = begin + 1;
    const int64_t most = std::max<int64_t>(1, most_cells / std::max<int64_t>(1, count));
    while (end < count && end - begin < most && r[static_cast<size_t>(end)] != 0) ++end;
    for (int64_t h = 0; h < heads; ++h) {
      const Tensor w = looked.rows(place, h, {begin, end});
      const auto columns = static_cast<size_t>(w.size(1));
      sum.resize(columns);
      const float* from = w.data<float>();
      for (int64_t i = begin; i < end; ++i, from += columns)
        for (size_t j = 0; j < columns; ++j)
          sum[j] += r[static_cast<size_t>(i)] * static_cast<double>(from[j]) / static_cast<double>(heads);
    }
    begin = end;
  }
  return sum;
}

void add(Row& to, const Row& what, double factor) {
  if (to.size() < what.size()) to.resize(what.size());
  for (size_t i = 0; i < what.size(); ++i) to[i] += factor * what[i];
}

// Only layers whose results are added to what goes past them are what the formula is about.
void require_layers(const std::vector<Place>& places) {
  bool any = false;
  for (const Place& p : places) {
    any = any || p.kind == Place::Kind::self;
    if (p.kind != Place::Kind::pooling && !p.residual)
      throw Error(Error::unsupported, "rollout goes through layers of attention alone; below {} the model is recurrent",
                  p.path);
  }
  if (!any) throw Error(Error::unsupported, "rollout goes through layers of self-attention, and this model has none");
}

Scores scores(const Question& question, const MethodOptions&) {
  const std::vector<Place> places = question.model().places();
  require_layers(places);
  const Question::Look& look = question.look();
  const Looked looked(question, {});
  std::map<std::string, Row> rows;
  for (const Place& p : places)
    if (p.path == look.place) rows[p.rows].resize(static_cast<size_t>(look.row) + 1), rows[p.rows].back() = 1;
  for (auto p = places.rbegin(); p != places.rend(); ++p) {
    const auto found = rows.find(p->rows);
    if (found == rows.end() || p->kind == Place::Kind::pointer) continue;
    const Row r = found->second, through = mixed(looked, p->path, r);
    if (p->kind == Place::Kind::pooling) {
      rows.erase(found);
      add(rows[p->columns], through, 1);
      continue;
    }
    for (double& x : found->second) x /= 2;
    add(p->kind == Place::Kind::self ? found->second : rows[p->columns], through, 0.5);
  }
  Scores s = {rows[question.sequence()]};
  s.tokens.resize(question.text().ids.size());
  return s;
}

}  // namespace

extern const Method rollout = {
    .name = "rollout", .formula = "Π (½ A + ½ I) over layers", .paper = "Abnar and Zuidema 2020", .scores = scores};

}  // namespace fovea::methods
