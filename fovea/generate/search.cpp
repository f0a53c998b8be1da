#include "fovea/generate/search.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>

#include "fovea/base/threads.h"
#include "fovea/generate/followed.h"
#include "fovea/generate/sentence.h"
#include "fovea/kernels/softmax.h"
#include "fovea/models/copying.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/work.h"

namespace fovea {
namespace {

using Numbers = std::vector<size_t>;

// The requests that wait, and the results, which are handed on in the order of the requests. Several flights share it.
class Queue final {
 public:
  Queue(const std::vector<Request>& requests, const GenerationOptions& options)
      : requests_(requests), options_(options), results_(requests.size()), finished_(requests.size()) {}

  const Request& operator[](size_t number) const { return requests_[number]; }

  // The numbers of the next requests, at most so many.
  Numbers take(size_t most) {
    const std::lock_guard lock(mutex_);
    Numbers numbers;
    for (; numbers.size() < most && next_ < requests_.size(); ++next_) numbers.push_back(next_);
    return numbers;
  }

  void finish(size_t number, Hypotheses found) {
    const std::lock_guard lock(mutex_);
    results_[number] = std::move(found), finished_[number] = true;
    for (; handed_on_ < results_.size() && finished_[handed_on_]; ++handed_on_) {
      if (options_.on_result) options_.on_result(handed_on_, results_[handed_on_]);
      if (!options_.keep) results_[handed_on_] = {};
    }
  }

  void abandon() {
    const std::lock_guard lock(mutex_);
    next_ = requests_.size();
  }

  std::vector<Hypotheses> results() { return std::move(results_); }

 private:
  const std::vector<Request>& requests_;
  const GenerationOptions& options_;
  std::mutex mutex_;
  std::vector<Hypotheses> results_;
  std::vector<bool> finished_;
  size_t next_ = 0, handed_on_ = 0;
};

// Where the targets look at the source, and by which heads; all if there are none.
struct SourcePlace {
  std::string path;
  std::vector<int64_t> heads;
};

// Those that the config names, or all of the model's own source_attention().
std::vector<SourcePlace> source_places(const Generator& model, const GenerationConfig& config) {
  std::vector<SourcePlace> places;
  const auto* whole = dynamic_cast<const Model*>(&model);
  std::vector<Place> layers = whole ? whole->places() : std::vector<Place>();
  std::erase_if(layers, [](const Place& p) { return p.kind != Place::Kind::cross; });
  for (const std::vector<int64_t>& head : config.alignment_heads) {
    const auto layer = static_cast<size_t>(head[0]);
    require(layer < layers.size() && head[1] < layers[layer].heads,
            "generation: found alignment_heads with layer {}, head {}, which the model has not", head[0], head[1]);
    const auto same = [&](const SourcePlace& p) { return p.path == layers[layer].path; };
    auto at = std::find_if(places.begin(), places.end(), same);
    if (at == places.end()) at = places.insert(at, {layers[layer].path, {}});
    at->heads.push_back(head[1]);
  }
  if (places.empty()) places.push_back({model.source_attention(), {}});
  return places;
}

constexpr int64_t most_at_once = 512;  // tokens of prompts in one pass, so that it takes no more memory

// All of one size.
Source picture_source(const Queue& queue, const Numbers& numbers) {
  std::vector<Tensor> pixels;
  for (size_t n : numbers) pixels.push_back(queue[n].pixels.unsqueeze(0));
  return {.pixels = concat(pixels, 0)};
}

Source padded_source(const Queue& queue, const Numbers& numbers, int64_t padding) {
  if (queue[numbers[0]].pixels) return picture_source(queue, numbers);
  int64_t longest = 1;
  for (size_t n : numbers) longest = std::max(longest, static_cast<int64_t>(queue[n].source.size()));
  const int64_t batch = static_cast<int64_t>(numbers.size());
  const double filling = static_cast<double>(std::max<int64_t>(padding, 0));
  Source source = {full({batch, longest}, filling, DType::i64), zeros({batch}, DType::i64)};
  for (int64_t i = 0; i < batch; ++i) {
    const std::vector<int64_t>& ids = queue[numbers[static_cast<size_t>(i)]].source;
    std::copy(ids.begin(), ids.end(), source.ids.data<int64_t>() + i * longest);
    source.lengths.data<int64_t>()[i] = static_cast<int64_t>(ids.size());
  }
  return source;
}

// The requests in flight at a time, the rows of their open hypotheses one after another: when some are done, others enter.
class Flight final {
 public:
  Flight(const Generator& model, const GenerationConfig& config, const GenerationOptions& options, Queue& queue)
      : model_(model),
        config_(config),
        queue_(queue),
        special_(model.special_ids()),
        followed_(options.trace),
        places_(options.attention ? source_places(model, config) : std::vector<SourcePlace>()),
        copies_(copies(model)) {
    special_.bos = config.start_id;
    special_.unk = options.unknown;
  }

  void run() {
    try {
      for (refill(); !searches_.empty(); refill()) step();
      followed_.finish();
    } catch (...) {
      queue_.abandon();
      throw;
    }
  }

 private:
  // Sources are encoded a few at a time, so that each weight serves several of them.
  void refill() {
    const size_t most = static_cast<size_t>(config_.batch_size), free = most - searches_.size();
    if (!searches_.empty() && free < (most + 7) / 8) return;
    const Numbers numbers = queue_.take(free);
    const bool prompts =
        std::any_of(numbers.begin(), numbers.end(), [&](size_t n) { return queue_[n].prompt.size() > 1; });
    if (numbers.empty()) return;
    if (!prompts) return enter(numbers);
    int64_t together = 0;
    for (size_t number : numbers) enter({number}, &together);
  }

  // Prompts that are short are read by the next step, together; a long one, and one that several rows go on from, is read here up
  // to its last token.
  void enter(const Numbers& numbers, int64_t* together = nullptr) {
    std::unique_ptr<DecoderState> fresh =
        model_.start(padded_source(queue_, numbers, special_.pad), followed_.reading());
    std::vector<int64_t> rows;
    for (size_t i = 0; i < numbers.size(); ++i) {
      const Request& request = queue_[numbers[i]];
      auto search = std::make_unique<SentenceSearch>(request, numbers[i], config_, special_, model_.longest());
      rows.insert(rows.end(), search->open(), static_cast<int64_t>(i));
      std::vector<int64_t> unread = {search->last_id(0)};
      if (together) {
        unread = request.prompt.empty() ? unread : request.prompt;
        *together += static_cast<int64_t>(unread.size());
        if (search->open() > 1 || !places_.empty() || *together > most_at_once) {
          *together -= static_cast<int64_t>(unread.size());
          read_tokens(model_, *fresh, std::span(unread).first(unread.size() - 1), followed_.reading());
          unread = {unread.back()};
        }
      }
      searches_.push_back({numbers[i], std::move(search), std::move(unread)});
    }
    if (rows.size() != numbers.size()) fresh->reorder(rows);
    if (searches_.size() == numbers.size())
      state_ = std::move(fresh);
    else
      state_->append(std::move(*fresh));
  }

  // What each row looked at, the mean over heads, without the padding, and what it might have copied.
  std::vector<SourceLook> looks_of(const Trace& trace) const {
    std::vector<SourceLook> looks;
    if (places_.empty()) return looks;
    for (const InFlight& one : searches_) looks.resize(looks.size() + one.search->open());
    add_means(trace, places_, &SourceLook::attention, looks);
    if (copies_ && trace.results().contains(copied_place))
      add_means(trace, {{copied_place, {}}}, &SourceLook::copied, looks);
    return looks;
  }

  void add_means(const Trace& trace, const std::vector<SourcePlace>& places, std::vector<float> SourceLook::*into,
                 std::vector<SourceLook>& looks) const {
    size_t count = 0;
    for (const SourcePlace& place : places) {
      const Tensor w = trace[place.path].weights.contiguous();  // [rows, heads, 1, keys of the longest]
      const int64_t heads = w.size(1), keys = w.size(3);
      std::vector<int64_t> chosen = place.heads;
      if (chosen.empty()) chosen.resize(static_cast<size_t>(heads)), std::iota(chosen.begin(), chosen.end(), 0);
      count += chosen.size();
      const float* row = w.data<float>();
      size_t at = 0;
      for (const InFlight& one : searches_) {
        for (size_t o = 0; o < one.search->open(); ++o, row += heads * keys) {
          const Request& request = queue_[one.number];
          std::vector<float>& sum = looks[at++].*into;
          sum.resize(request.pixels ? static_cast<size_t>(keys) : request.source.size());
          for (size_t j = 0; j < sum.size(); ++j)
            for (int64_t h : chosen) sum[j] += row[h * keys + static_cast<int64_t>(j)];
        }
      }
    }
    for (SourceLook& look : looks)
      for (float& weight : look.*into) weight /= static_cast<float>(count);
  }

  // One token for every open hypothesis.
  void step() {
    std::vector<int64_t> ids, starts = {0};
    for (InFlight& one : searches_) {
      for (size_t row = 0; row < one.search->open(); ++row) {
        if (one.unread.empty()) ids.push_back(one.search->last_id(row));
        ids.insert(ids.end(), one.unread.begin(), one.unread.end());
        starts.push_back(static_cast<int64_t>(ids.size()));
      }
      one.unread.clear();
    }
    Trace trace;
    for (const SourcePlace& place : places_) trace.places.push_back(place.path);
    trace.places.push_back(copied_place);
    Trace* const seen = followed_.next_step();
    const Context context = {.trace = seen ? seen : places_.empty() ? nullptr : &trace};
    Tensor logits = model_.steps(*state_, tensor({starts.back()}, ids), starts, context).detach().contiguous();
    TimedWork timed(Work::Kind::search);
    const std::vector<int64_t> next = advance(logits, looks_of(seen ? *seen : trace));
    if (timed) timed.done({.bytes = bytes_of(logits)});
    std::vector<int64_t> same(starts.size() - 1);
    std::iota(same.begin(), same.end(), int64_t{0});
    if (next != same) state_->reorder(next);
    for (InFlight& one : searches_)
      if (one.search->done()) queue_.finish(one.number, followed_.best_of(one.search->results()));
    std::erase_if(searches_, [](const InFlight& one) { return one.search->done(); });
  }

  // log Σ exp of each row. Where some have words that others have not, each row is summed up to its own last one: its bits are
  // those that it has alone.
  std::vector<float> log_sums(const Tensor& logits) const {
    const int64_t rows = logits.size(0), width = logits.size(1);
    std::vector<float> sums(static_cast<size_t>(rows));
    if (!copies_) {
      kernels::log_sum_exp({.rows = rows, .width = width}, logits.data<float>(), sums.data());
      return sums;
    }
    for (int64_t r = 0; r < rows; ++r) {
      const float* row = logits.data<float>() + r * width;
      int64_t own = width;
      while (own > 1 && row[own - 1] == -HUGE_VALF) --own;
      kernels::log_sum_exp({.rows = 1, .width = own}, row, &sums[static_cast<size_t>(r)]);
    }
    return sums;
  }

  // Every search with its own rows of the logits; which rows go on.
  std::vector<int64_t> advance(Tensor& logits, const std::vector<SourceLook>& looks) {
    const int64_t vocabulary = logits.size(1);
    std::vector<int64_t> first = {0};
    for (const InFlight& one : searches_) first.push_back(first.back() + static_cast<int64_t>(one.search->open()));
    auto rows_of = [&](size_t i) {
      return std::span(logits.data<float>() + first[i] * vocabulary,
                       static_cast<size_t>((first[i + 1] - first[i]) * vocabulary));
    };
    for (size_t i = 0; i < searches_.size(); ++i) searches_[i].search->penalise(rows_of(i));
    const std::vector<float> sums = log_sums(logits);
    followed_.saw(logits, sums);
    std::vector<std::vector<int64_t>> parents(searches_.size());
    parallel_for(static_cast<int64_t>(searches_.size()), [&](int64_t n) {
      const size_t i = static_cast<size_t>(n), begin = static_cast<size_t>(first[i]),
                   open = searches_[i].search->open();
      const auto seen = looks.empty() ? std::span<const SourceLook>() : std::span(looks).subspan(begin, open);
      parents[i] = searches_[i].search->advance(rows_of(i), std::span(sums).subspan(begin, open), seen);
    });
    std::vector<int64_t> next;
    for (size_t i = 0; i < searches_.size(); ++i)
      for (int64_t parent : parents[i]) next.push_back(first[i] + parent);
    return next;
  }

  struct InFlight {
    size_t number;
    std::unique_ptr<SentenceSearch> search;
    std::vector<int64_t> unread;  // what the next step reads; the last token written if there is nothing here
  };

  const Generator& model_;
  const GenerationConfig& config_;
  Queue& queue_;
  SpecialIds special_;
  FollowedTrace followed_;
  std::vector<SourcePlace> places_;
  const bool copies_;
  std::vector<InFlight> searches_;
  std::unique_ptr<DecoderState> state_;
};

}  // namespace

GenerationConfig for_model(const Generator& model, GenerationConfig config) {
  check(config);
  if (config.end_ids.empty()) config.end_ids = model.end_ids();
  std::erase(config.end_ids, -1);
  const SpecialIds special = model.special_ids();
  if (config.start_id < 0) config.start_id = special.bos;
  if (const auto* whole = dynamic_cast<const Model*>(&model); whole && whole->foreign()) {
    // They are searched as their makers do it.
    if (config.early_stopping.empty() && can<Encoder>(*whole)) config.early_stopping = "false";
    return config;
  }
  for (int64_t id : {special.pad, special.bos})
    if (id >= 0 && std::find(config.end_ids.begin(), config.end_ids.end(), id) == config.end_ids.end())
      config.never.push_back(id);
  return config;
}

void read_tokens(const Generator& model, DecoderState& state, std::span<const int64_t> ids, const Context& context) {
  for (size_t begin = 0; begin < ids.size(); begin += most_at_once) {
    const auto some = ids.subspan(begin, std::min<size_t>(most_at_once, ids.size() - begin));
    const auto count = static_cast<int64_t>(some.size());
    const std::vector<int64_t> starts = {0, count};
    model.steps(state, tensor({count}, std::vector<int64_t>(some.begin(), some.end())), starts, context);
  }
}

std::vector<Hypotheses> generate(const Generator& model, const std::vector<Request>& requests,
                                 const GenerationConfig& config, const GenerationOptions& options) {
  const GenerationConfig limited = for_model(model, config);
  if (const int64_t longest = model.longest(); longest > 0) {
    for (const Request& request : requests)
      require(static_cast<int64_t>(request.source.size()) <= longest,
              "generation: found a source of {} tokens, expected at most {} as the model has positions",
              request.source.size(), longest);
  }
  if (options.attention && model.source_attention().empty())
    throw Error(Error::unsupported,
                "generation: the model has no attention over a source, expected none to be asked for");
  require(!options.trace || requests.size() == 1, "generation: found a trace for {} requests, expected it for one",
          requests.size());
  // A batch for each core does more than one batch on all of them, if there are enough requests.
  Queue queue(requests, options);
  const int64_t flights = requests.size() >= static_cast<size_t>(threads()) ? threads() : 1;
  if (flights == 1)
    Flight(model, limited, options, queue).run();
  else
    parallel_for(flights, [&](int64_t) { Flight(model, limited, options, queue).run(); });
  return queue.results();
}

}  // namespace fovea
