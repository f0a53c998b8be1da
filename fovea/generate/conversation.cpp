#include "fovea/generate/conversation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/generate/followed.h"
#include "fovea/generate/sentence.h"
#include "fovea/generate/text_stream.h"
#include "fovea/kernels/softmax.h"

namespace fovea {

std::string_view name(Continuation::Stop stop) {
  switch (stop) {
    case Continuation::Stop::end:
      return "end";
    case Continuation::Stop::stop_string:
      return "stop";
    case Continuation::Stop::interrupted:
      return "interrupted";
    default:
      return "length";
  }
}

Conversation::Conversation(const Generator& model, const Tokenizer& tokenizer) : model_(model), tokenizer_(tokenizer) {}

void Conversation::read(const std::vector<int64_t>& ids) { ids_.insert(ids_.end(), ids.begin(), ids.end()); }

// A cache only grows, so a text that differs in what was read is read again.
void Conversation::become(const std::vector<int64_t>& ids) {
  const auto same = std::mismatch(ids_.begin(), ids_.end(), ids.begin(), ids.end()).first - ids_.begin();
  if (same < read_) state_.reset(), read_ = 0;
  ids_ = ids;
}

// After the last of the ids, all that are new being read.
Tensor Conversation::next_logits(FollowedTrace& followed) {
  const auto count = static_cast<int64_t>(ids_.size());
  if (!state_ || read_ == count) state_ = model_.start({.lengths = zeros({1}, DType::i64)}, {}), read_ = 0;
  const std::span<const int64_t> unread = std::span(ids_).subspan(static_cast<size_t>(read_));
  if (unread.size() > 1) read_tokens(model_, *state_, unread.first(unread.size() - 1), followed.reading());
  const Context context = {.trace = followed.next_step()};
  const Tensor logits = model_.step(*state_, tensor({1}, std::vector<int64_t>{unread.back()}), context);
  read_ = count;
  return logits.detach().contiguous();
}

Continuation Conversation::write(const GenerationConfig& given, const WriteOptions& options) {
  const GenerationConfig config = for_model(model_, given);
  require(config.beam_size == 1 && config.n_best == 1,
          "a text written as it comes: found beam_size {} and n_best {}, expected 1", config.beam_size, config.n_best);
  SpecialIds special = model_.special_ids();
  special.bos = config.start_id, special.unk = -1;
  if (ids_.empty() && special.bos >= 0) ids_ = {special.bos};
  const Request request = {.prompt = ids_};
  SentenceSearch search(request, options.number, config, special, model_.longest());
  TextStream stream(tokenizer_, ids_, options.stops);
  FollowedTrace followed(options.trace);
  Continuation c;
  auto hand_on = [&](const std::string& more) {
    if (options.on_text && !more.empty()) options.on_text(more);
  };
  while (!search.done() && !stream.stopped()) {
    if (options.interrupted && options.interrupted()) {
      c.stop = Continuation::Stop::interrupted;
      break;
    }
    Tensor logits = next_logits(followed);
    const std::span<float> row(logits.data<float>(), static_cast<size_t>(logits.elements()));
    search.penalise(row);
    float sum = 0;
    kernels::log_sum_exp({.rows = 1, .width = logits.elements()}, row.data(), &sum);
    followed.saw(logits, {sum});
    search.advance(row, {&sum, 1}, {});
    const SentenceSearch::Written next = search.newest();
    c.ids.push_back(next.id);
    c.log_probabilities.push_back(next.log_probability);
    ids_.push_back(next.id);
    if (next.end) {
      c.stop = Continuation::Stop::end;
    } else {
      hand_on(stream.add(next.id));
    }
  }
  followed.along(std::vector<int64_t>(c.ids.size())), followed.finish();
  hand_on(stream.finish());
  c.text = stream.text();
  c.tokens = stream.spans();
  const auto end = static_cast<int64_t>(c.text.size());
  c.tokens.resize(c.ids.size(), {end, end});
  if (stream.stopped()) c.stop = Continuation::Stop::stop_string;
  const double total = std::accumulate(c.log_probabilities.begin(), c.log_probabilities.end(), 0.0);
  c.score = c.ids.empty() ? 0 : total / std::pow(static_cast<double>(c.ids.size()), config.length_penalty);
  return c;
}

}  // namespace fovea
