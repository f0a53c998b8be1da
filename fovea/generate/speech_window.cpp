#include "fovea/generate/speech_window.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "fovea/generate/followed.h"
#include "fovea/kernels/softmax.h"
#include "fovea/tensor/index.h"

namespace fovea {
namespace {

// log p of each entry of a row.
std::vector<float> log_softmax(const Tensor& logits) {
  std::vector<float> y(static_cast<size_t>(logits.elements()));
  kernels::log_softmax({.rows = 1, .width = logits.elements()}, logits.data<float>(), y.data());
  return y;
}

std::string cross(int64_t layer) { return fmt::format("decoder.{}.cross", layer); }

}  // namespace

// One way in which a window is written.
struct SpeechWindow::Attempt {
  std::vector<int64_t> ids = {};
  std::vector<double> log_probabilities = {};
  std::vector<int64_t> rows = {};  // in which row each step had it
  bool ended = false;

  double mean() const {
    const double sum = std::accumulate(log_probabilities.begin(), log_probabilities.end(), 0.0);
    return sum / static_cast<double>(ids.size() + 1);
  }
};

double WindowText::mean_log_probability() const {
  const double sum = std::accumulate(log_probabilities.begin(), log_probabilities.end(), 0.0);
  return sum / static_cast<double>(ids.size() + 1);
}

SpeechWindow::SpeechWindow(const Generator& model, const Listener& listener, const SpeechTokens& tokens, Tensor states)
    : model_(model), listener_(listener), tokens_(tokens), states_(std::move(states)) {}

void SpeechWindow::read_start() {
  if (first_logits_) return;
  state_ = model_.start({.states = states_}, {});
  first_logits_ = model_.step(*state_, tensor({1}, std::vector<int64_t>{tokens_.start}), {}).contiguous();
}

SpeechWindow::Language SpeechWindow::language() {
  if (tokens_.languages.empty()) return {"en", 1};
  read_start();
  const float* logits = first_logits_.data<float>();
  const auto& all = tokens_.languages;
  const auto best = std::max_element(all.begin(), all.end(),
                                     [&](const auto& a, const auto& b) { return logits[a.second] < logits[b.second]; });
  double sum = 0;
  for (const auto& [code, id] : all) sum += std::exp(double{logits[id]} - logits[best->second]);
  return {best->first, 1 / sum};
}

// All up to the start, behind which it is known whether nobody speaks; then the rest, whose last token is looked at. What the start saw
// is not known of a state that has read it already.
Tensor SpeechWindow::read(const std::vector<int64_t>& prompt, double& no_speech, FollowedTrace& followed) {
  const auto start = std::find(prompt.begin(), prompt.end(), tokens_.start);
  require(start != prompt.end(), "transcribe: found a prompt without a start");
  const auto some = [&](auto begin, auto end, Trace* seen) {
    const std::vector<int64_t> ids(begin, end);
    const auto count = static_cast<int64_t>(ids.size());
    return model_.steps(*state_, tensor({count}, ids), std::vector<int64_t>{0, count}, {.trace = seen}).contiguous();
  };
  const bool alone = start + 1 == prompt.end();
  Trace* const before = alone ? nullptr : followed.reading().trace;
  Trace* const trace = followed.next_step();
  Tensor logits;
  if (start == prompt.begin() && !alone && !before) {
    read_start();
    logits = first_logits_;
  } else {
    state_ = model_.start({.states = states_}, {});
    logits = some(prompt.begin(), start + 1, alone ? trace : before);
  }
  if (tokens_.no_speech >= 0) no_speech = std::exp(log_softmax(logits)[static_cast<size_t>(tokens_.no_speech)]);
  first_logits_ = {};
  return alone ? logits : some(start + 1, prompt.end(), trace);
}

// The next token of each open attempt, whose logits are the rows.
void SpeechWindow::step(std::vector<Attempt>& attempts, const std::vector<size_t>& open, Tensor& logits,
                        const WindowOptions& o) const {
  const int64_t width = logits.size(1);
  for (size_t r = 0; r < open.size(); ++r) {
    Attempt& attempt = attempts[open[r]];
    float* row = logits.data<float>() + static_cast<int64_t>(r) * width;
    const std::span<float> all(row, static_cast<size_t>(width));
    tokens_.exclude(all, attempt.ids);
    float sum = 0;
    kernels::log_sum_exp({.rows = 1, .width = width}, row, &sum);
    int64_t id = std::max_element(all.begin(), all.end()) - all.begin();
    if (o.temperature > 0) {
      const double top = row[id], u = o.random.fork(open[r]).uniform(attempt.ids.size());
      double whole = 0, passed = 0;
      for (float x : all) whole += std::exp((x - top) / o.temperature);
      for (int64_t i = 0; i < width; ++i) {
        passed += std::exp((row[i] - top) / o.temperature);
        if (passed > u * whole) {
          id = i;
          break;
        }
      }
    }
    attempt.log_probabilities.push_back(double{row[id]} - sum);
    attempt.ended = id == tokens_.end;
    if (!attempt.ended) attempt.ids.push_back(id);
  }
}

WindowText SpeechWindow::write(const std::vector<int64_t>& prompt, const WindowOptions& o) {
  WindowText text = {.temperature = o.temperature};
  const size_t rows = o.temperature > 0 ? static_cast<size_t>(std::max<int64_t>(1, o.attempts)) : 1;
  std::vector<Attempt> attempts(rows);
  std::vector<size_t> open(rows);
  std::iota(open.begin(), open.end(), size_t{0});
  FollowedTrace followed(o.trace);
  Tensor logits = read(prompt, text.no_speech, followed);
  for (Attempt& attempt : attempts) attempt.rows.push_back(0);
  if (rows > 1) {
    state_->reorder(std::vector<int64_t>(rows, 0));
    logits = logits.expand({static_cast<int64_t>(rows), logits.size(1)}).clone();
  }
  const int64_t most = std::min(o.most, model_.longest() - static_cast<int64_t>(prompt.size()));
  for (int64_t written = 0; written < most; ++written) {
    step(attempts, open, logits, o);
    std::vector<int64_t> going_on, ids, starts = {0};
    std::vector<size_t> still_open;
    for (size_t r = 0; r < open.size(); ++r) {
      if (attempts[open[r]].ended) continue;
      still_open.push_back(open[r]), going_on.push_back(static_cast<int64_t>(r));
      ids.push_back(attempts[open[r]].ids.back()), starts.push_back(static_cast<int64_t>(ids.size()));
    }
    if (still_open.empty() || written + 1 == most) break;
    if (still_open.size() < open.size()) state_->reorder(going_on);
    open = still_open;
    logits = model_.steps(*state_, tensor({starts.back()}, ids), starts, {.trace = followed.next_step()}).contiguous();
    for (size_t r = 0; r < open.size(); ++r) attempts[open[r]].rows.push_back(static_cast<int64_t>(r));
  }
  const auto best = std::max_element(attempts.begin(), attempts.end(),
                                     [](const Attempt& a, const Attempt& b) { return a.mean() < b.mean(); });
  followed.along(best->rows), followed.finish();
  text.ids = std::move(best->ids), text.log_probabilities = std::move(best->log_probabilities);
  return text;
}

Tensor SpeechWindow::look(const std::vector<int64_t>& ids, int64_t states) {
  const auto count = static_cast<int64_t>(ids.size());
  if (!state_) state_ = model_.start({.states = states_}, {});
  state_->reorder(std::vector<int64_t>{0});
  listener_.rewind(*state_);
  first_logits_ = {};
  Trace trace({.key_range = {0, states}, .weights = true});
  std::set<int64_t> layers;
  for (const AlignmentHead& head : tokens_.alignment_heads) layers.insert(head.layer);
  for (int64_t layer : layers) trace.places.push_back(cross(layer));
  model_.steps(*state_, tensor({count}, ids), std::vector<int64_t>{0, count}, {.trace = &trace});
  std::vector<Tensor> heads;
  for (const AlignmentHead& head : tokens_.alignment_heads)
    heads.push_back(trace[cross(head.layer)].weights.select(0, 0).select(0, head.head).unsqueeze(0));
  Tensor weights = concat(heads, 0);
  float* row = weights.data<float>();
  for (int64_t i = 0; i < weights.size(0) * count; ++i, row += states) {
    const float sum = std::accumulate(row, row + states, 0.0f);
    for (int64_t s = 0; s < states; ++s) row[s] = sum > 0 ? row[s] / sum : 0;
  }
  return weights;
}

}  // namespace fovea
