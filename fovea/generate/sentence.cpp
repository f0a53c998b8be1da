#include "fovea/generate/sentence.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

namespace fovea {
namespace {

constexpr float excluded = -std::numeric_limits<float>::infinity();

// The number of the token that is drawn among those of one row, of which at least one is not excluded.
int64_t draw(std::span<const float> row, const GenerationConfig& c, double uniform) {
  std::vector<int64_t> order;
  for (size_t id = 0; id < row.size(); ++id)
    if (row[id] > excluded) order.push_back(static_cast<int64_t>(id));
  auto more_probable = [&](int64_t a, int64_t b) {
    const float x = row[static_cast<size_t>(a)], y = row[static_cast<size_t>(b)];
    return x > y || (x == y && a < b);
  };
  const size_t kept = c.top_k > 0 ? std::min(order.size(), static_cast<size_t>(c.top_k)) : order.size();
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(), more_probable);
  order.resize(kept);
  const double largest = row[static_cast<size_t>(order[0])];
  std::vector<double> running;  // sums of unnormalised probabilities
  double sum = 0;
  for (int64_t id : order) running.push_back(sum += std::exp((row[static_cast<size_t>(id)] - largest) / c.temperature));
  size_t last = 0;
  while (last + 1 < running.size() && running[last] < c.top_p * sum) ++last;
  while (last > 0 && running[last] - running[last - 1] < c.min_p * running[0]) --last;
  const double threshold = uniform * running[last];
  const auto chosen = std::upper_bound(running.begin(), running.begin() + static_cast<std::ptrdiff_t>(last), threshold);
  return order[static_cast<size_t>(chosen - running.begin())];
}

std::vector<int64_t> prefix_of(const Request& request, const GenerationConfig& config) {
  std::vector<int64_t> prefix = request.prefix;
  if (config.first_id >= 0) prefix.insert(prefix.begin(), config.first_id);
  return prefix;
}

// Never less than what a prefix needs, nor more than the model can read: all but the last token, which nothing follows.
int64_t max_length(const Request& request, const GenerationConfig& config, int64_t positions) {
  const auto prompt = static_cast<int64_t>(request.prompt.size());
  int64_t most = config.max_length_after(prompt);
  if (positions > 0) most = std::min(most, positions + 1 - std::max<int64_t>(prompt, 1));
  if (config.max_ratio == 0) return most;
  const int64_t by_ratio = 16 + static_cast<int64_t>(config.max_ratio * static_cast<double>(request.source.size()));
  return std::min(most, std::max(by_ratio, static_cast<int64_t>(request.prefix.size())));
}

}  // namespace

SentenceSearch::SentenceSearch(const Request& request, size_t number, const GenerationConfig& config,
                               const SpecialIds& special, int64_t positions)
    : request_(request),
      config_(config),
      special_(special),
      rules_(config, special),
      prefix_(prefix_of(request, config)),
      min_length_(config.min_length_after(static_cast<int64_t>(request.prompt.size()))),
      max_length_(max_length(request, config, positions)),
      random_(Random(static_cast<uint64_t>(config.seed)).fork(static_cast<uint64_t>(number))) {
  const auto prompt = static_cast<int64_t>(request.prompt.size());
  require(positions == 0 || prompt <= positions,
          "generation: found a prompt of {} tokens, expected at most {} as the model has positions", prompt, positions);
  require(prompt > 0 || special.bos >= 0,
          "generation: found no prompt, expected one: the model has no token that starts a text");
  require(static_cast<int64_t>(prefix_.size()) <= config.max_length,
          "generation: found a prefix of {} tokens, expected at most max_length {}", prefix_.size(), config.max_length);
  for (int64_t id : request.prefix)
    require(id >= 0 && !rules_.is_end(id), "generation: found {} in a prefix, expected ids other than the end's", id);
  open_.resize(config.sample ? static_cast<size_t>(config.n_best) : 1);
  for (size_t i = 0; i < open_.size(); ++i) open_[i].sample = i;
}

int64_t SentenceSearch::last_id(size_t row) const {
  if (open_[row].last) return open_[row].last->id;
  return request_.prompt.empty() ? special_.bos : request_.prompt.back();
}

std::vector<int64_t> SentenceSearch::history_of(const Open& hypothesis) const {
  std::vector<int64_t> all = request_.prompt;
  if (theirs() && all.empty()) all.push_back(special_.bos);
  const std::vector<int64_t> written = ids_of(hypothesis);
  all.insert(all.end(), written.begin(), written.end());
  return all;
}

int64_t SentenceSearch::forced_id(const Open& hypothesis) const {
  if (hypothesis.tokens < static_cast<int64_t>(prefix_.size())) return prefix_[static_cast<size_t>(hypothesis.tokens)];
  return hypothesis.tokens + 1 == max_length_ ? config_.last_id : -1;
}

bool SentenceSearch::counts_nothing(const Open& hypothesis) const {
  if (!theirs()) return false;
  return (hypothesis.tokens == 0 && config_.first_id >= 0) ||
         (hypothesis.tokens + 1 == max_length_ && config_.last_id >= 0);
}

std::vector<int64_t> SentenceSearch::ids_of(const Open& hypothesis) {
  std::vector<int64_t> ids;
  for (const Token* token = hypothesis.last.get(); token; token = token->before.get()) ids.push_back(token->id);
  std::reverse(ids.begin(), ids.end());
  return ids;
}

void SentenceSearch::penalise(std::span<float> logits) const {
  if (config_.repetition_penalty == 1 || open_beam()) return;
  const size_t vocabulary = logits.size() / open_.size();
  for (size_t i = 0; i < open_.size(); ++i)
    penalise_repetition(logits.subspan(i * vocabulary, vocabulary), history_of(open_[i]), config_.repetition_penalty);
}

// The same of log-probabilities, which stand in the row as logits.
void SentenceSearch::penalise_probabilities(std::span<float> row, const std::vector<int64_t>& ids, double sum) const {
  for (int64_t id : std::set<int64_t>(ids.begin(), ids.end())) {
    float& logit = row[static_cast<size_t>(id)];
    logit = static_cast<float>(sum + (logit - sum) * config_.repetition_penalty);
  }
}

// The best tokens after a hypothesis, at most `count` of them; none if nothing may follow.
std::vector<kernels::Chosen> SentenceSearch::choices(const Open& hypothesis, std::span<float> row,
                                                     int64_t count) const {
  if (const int64_t forced = forced_id(hypothesis); forced >= 0) {
    require(forced < static_cast<int64_t>(row.size()),
            "generation: found id {} to begin or to end with, expected less than {}", forced, row.size());
    const float kept = row[static_cast<size_t>(forced)];
    std::fill(row.begin(), row.end(), excluded);
    row[static_cast<size_t>(forced)] = kept;
    if (kept == excluded) return {};
    return {{kept, forced}};
  }
  std::vector<kernels::Chosen> endings;
  for (int64_t id : rules_.ends())
    if (id < static_cast<int64_t>(row.size())) endings.push_back({row[static_cast<size_t>(id)], id});
  rules_.exclude(row, needs_history() ? history_of(hypothesis) : std::vector<int64_t>(), hypothesis.tokens,
                 min_length_);
  std::vector<kernels::Chosen> best = kernels::largest(row, count);
  if (!best.empty() || endings.empty()) return best;
  const auto likeliest =
      std::max_element(endings.begin(), endings.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  if (likeliest->value == excluded) return best;
  row[static_cast<size_t>(likeliest->index)] = likeliest->value;  // where nothing else may follow, the end may
  return {*likeliest};
}

// How each open hypothesis may go on, best first, equal ones in the order of the beam and of the vocabulary: the best of all
// together, or a draw for each.
std::vector<SentenceSearch::Candidate> SentenceSearch::candidates(std::span<float> logits,
                                                                  std::span<const float> sums) {
  const size_t vocabulary = logits.size() / open_.size();
  const int64_t places = config_.sample ? 1
                         : open_beam()  ? 2 * config_.beam_size
                                        : config_.beam_size - static_cast<int64_t>(complete_.size());
  std::vector<Candidate> all;
  for (size_t parent = 0; parent < open_.size(); ++parent) {
    const Open& o = open_[parent];
    const std::span<float> row = logits.subspan(parent * vocabulary, vocabulary);
    const double sum = sums[parent];
    require(!std::isnan(sum) && sum < HUGE_VAL, "generation: the model gave NaN; its weights or inputs are damaged");
    if (counts_nothing(o)) {
      const int64_t id = forced_id(o);
      require(id < static_cast<int64_t>(vocabulary), "generation: found a forced id {}, expected less than {}", id,
              vocabulary);
      all.push_back({o.sum, parent, id, 0});
      continue;
    }
    if (open_beam() && config_.repetition_penalty != 1) penalise_probabilities(row, history_of(o), sum);
    std::vector<kernels::Chosen> chosen = choices(o, row, places);
    if (chosen.empty()) complete(o, false);
    if (config_.sample && !chosen.empty()) {
      const int64_t id = draw(row, config_, random_.fork(o.sample).uniform(static_cast<uint64_t>(o.tokens)));
      chosen = {{row[static_cast<size_t>(id)], id}};
    }
    for (const auto& [logit, id] : chosen) all.push_back({o.sum + (logit - sum), parent, id, logit - sum});
  }
  if (config_.sample) return all;
  auto better = [](const Candidate& a, const Candidate& b) {
    if (a.sum != b.sum) return a.sum > b.sum;
    return a.parent != b.parent ? a.parent < b.parent : a.id < b.id;
  };
  const size_t kept = std::min(all.size(), static_cast<size_t>(std::max<int64_t>(0, places)));
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept), all.end(), better);
  all.resize(kept);
  return all;
}

double SentenceSearch::copied_share(const SourceLook& look, int64_t id, double log_probability) const {
  if (look.copied.empty()) return -1;
  double sum = 0;
  for (size_t j = 0; j < look.copied.size(); ++j) sum += request_.source[j] == id ? look.copied[j] : 0;
  return std::min(1.0, sum / std::max(std::exp(log_probability), 1e-300));
}

std::vector<int64_t> SentenceSearch::advance(std::span<float> logits, std::span<const float> sums,
                                             std::span<const SourceLook> looks) {
  const std::vector<Candidate> chosen = candidates(logits, sums);
  const std::vector<Open> before = std::exchange(open_, {});
  const size_t beam = static_cast<size_t>(config_.beam_size);
  std::vector<int64_t> parents;
  for (size_t rank = 0; rank < chosen.size(); ++rank) {
    const Candidate& c = chosen[rank];
    const Open& parent = before[c.parent];
    const SourceLook look = looks.empty() ? SourceLook{} : looks[c.parent];
    Open next = {std::make_shared<const Token>(Token{c.id, c.log_probability, look.attention,
                                                     copied_share(look, c.id, c.log_probability),
                                                     static_cast<int64_t>(c.parent), parent.last}),
                 c.sum, parent.tokens + 1, parent.sample};
    if (rules_.is_end(c.id) || next.tokens == max_length_) {
      if (!open_beam() || rank < beam) complete(std::move(next), rules_.is_end(c.id));
      continue;
    }
    if (open_beam() && open_.size() == beam) continue;
    open_.push_back(std::move(next));
    parents.push_back(static_cast<int64_t>(c.parent));
  }
  if (decided()) open_.clear(), parents.clear();
  return parents;
}

SentenceSearch::Written SentenceSearch::newest() const {
  const Open& one = open_.empty() ? complete_.front().hypothesis : open_.front();
  require(one.last != nullptr, "generation: the model gave no token that may be written");
  return {one.last->id, one.last->log_probability, rules_.is_end(one.last->id)};
}

double SentenceSearch::score(double sum, int64_t tokens) const {
  return sum / std::pow(static_cast<double>(tokens), config_.length_penalty);
}

void SentenceSearch::complete(Open hypothesis, bool ended) {
  const double s = score(hypothesis.sum, std::max<int64_t>(hypothesis.tokens, 1));
  const auto place = std::upper_bound(complete_.begin(), complete_.end(), s,
                                      [](double value, const Complete& c) { return value > c.score; });
  complete_.insert(place, {std::move(hypothesis), s, ended});
  if (open_beam() && complete_.size() > static_cast<size_t>(config_.beam_size)) complete_.pop_back();
}

bool SentenceSearch::decided() const {
  if (open_beam()) {
    if (open_.empty() || complete_.size() < static_cast<size_t>(config_.beam_size)) return false;
    const bool to_the_end = config_.early_stopping == "never" && config_.length_penalty > 0;
    const Open& best = open_.front();
    return config_.early_stopping == "true" ||
           score(best.sum, to_the_end ? max_length_ : best.tokens) <= complete_.back().score;
  }
  if (config_.sample || complete_.size() < static_cast<size_t>(config_.n_best)) return false;
  const double worst = complete_[static_cast<size_t>(config_.n_best) - 1].score;
  return std::all_of(open_.begin(), open_.end(), [&](const Open& o) {
    return std::max(score(o.sum, o.tokens + 1), score(o.sum, max_length_)) <= worst;
  });
}

Hypotheses SentenceSearch::results() const {
  Hypotheses found;
  for (const Complete& c : complete_) {
    if (found.size() == static_cast<size_t>(config_.n_best)) break;
    Hypothesis h = {ids_of(c.hypothesis), c.score, {}, c.ended, {}, -1};
    if (c.ended) h.end_id = h.ids.back(), h.ids.pop_back();
    std::vector<const Token*> tokens;
    for (const Token* t = c.hypothesis.last.get(); t; t = t->before.get()) tokens.push_back(t);
    std::vector<float> attention;
    for (auto t = tokens.rbegin(); t != tokens.rend(); ++t) {
      h.log_probabilities.push_back((*t)->log_probability);
      h.rows.push_back((*t)->row);
      attention.insert(attention.end(), (*t)->attention.begin(), (*t)->attention.end());
      if ((*t)->copied >= 0) h.copied.push_back((*t)->copied);
    }
    const auto count = static_cast<int64_t>(tokens.size()), weights = static_cast<int64_t>(attention.size());
    if (weights > 0) h.attention = tensor({count, weights / count}, attention);
    found.push_back(std::move(h));
  }
  return found;
}

}  // namespace fovea
