#include "fovea/generate/search.h"

#include <numeric>

#include "fovea/generate/batches_by_length.h"
#include "fovea/generate/sentence.h"
#include "fovea/tensor/softmax.h"

namespace fovea {
namespace {

using Numbers = std::vector<size_t>;

Source padded_source(const std::vector<Request>& requests, const Numbers& numbers, int64_t padding) {
  int64_t longest = 1;
  for (size_t n : numbers) longest = std::max(longest, static_cast<int64_t>(requests[n].source.size()));
  const int64_t batch = static_cast<int64_t>(numbers.size());
  Source source = {full({batch, longest}, static_cast<double>(padding), DType::i64), zeros({batch}, DType::i64)};
  for (int64_t i = 0; i < batch; ++i) {
    const std::vector<int64_t>& ids = requests[numbers[static_cast<size_t>(i)]].source;
    std::copy(ids.begin(), ids.end(), source.ids.data<int64_t>() + i * longest);
    source.lengths.data<int64_t>()[i] = static_cast<int64_t>(ids.size());
  }
  return source;
}

// The requests of one batch that are not done, the rows of their open hypotheses one after another.
class BatchSearch final {
 public:
  BatchSearch(const Generator& model, const GenerationConfig& config, const GenerationOptions& options)
      : model_(model),
        config_(config),
        special_(model.special_ids()),
        place_(options.attention ? model.source_attention() : "") {
    special_.unk = options.unknown;
  }

  std::vector<Hypotheses> run(const std::vector<Request>& requests, const Numbers& numbers) {
    for (size_t n : numbers) searches_.emplace_back(requests[n], n, config_, special_);
    for (size_t n : numbers) source_tokens_.push_back(requests[n].source.size());
    state_ = model_.start(padded_source(requests, numbers, special_.pad), {});
    std::vector<int64_t> rows;
    for (size_t i = 0; i < searches_.size(); ++i) rows.insert(rows.end(), searches_[i].open(), static_cast<int64_t>(i));
    if (rows.size() != searches_.size()) state_->reorder(rows);
    while (!rows.empty()) rows = step();
    std::vector<Hypotheses> results;
    for (const SentenceSearch& search : searches_) results.push_back(search.results());
    return results;
  }

 private:
  std::vector<int64_t> last_ids() const {
    std::vector<int64_t> ids;
    for (const SentenceSearch& search : searches_)
      for (size_t row = 0; row < search.open(); ++row) ids.push_back(search.last_id(row));
    return ids;
  }

  // What each row looked at, the mean over heads, without the padding.
  std::vector<std::vector<float>> attention_of(const Trace& trace) const {
    std::vector<std::vector<float>> result;
    if (place_.empty()) return result;
    const Tensor w = trace[place_].weights.contiguous();  // [rows, heads, 1, keys of the longest]
    const int64_t heads = w.size(1), keys = w.size(3);
    const float* row = w.data<float>();
    for (size_t i = 0; i < searches_.size(); ++i) {
      for (size_t o = 0; o < searches_[i].open(); ++o, row += heads * keys) {
        std::vector<float> mean(source_tokens_[i]);
        for (size_t j = 0; j < mean.size(); ++j) {
          for (int64_t h = 0; h < heads; ++h) mean[j] += row[h * keys + static_cast<int64_t>(j)];
          mean[j] /= static_cast<float>(heads);
        }
        result.push_back(std::move(mean));
      }
    }
    return result;
  }

  // One token for every open hypothesis; which rows go on.
  std::vector<int64_t> step() {
    const std::vector<int64_t> ids = last_ids();
    Trace trace;
    trace.places = {place_};
    const Context context = {.trace = place_.empty() ? nullptr : &trace};
    Tensor logits =
        model_.step(*state_, tensor({static_cast<int64_t>(ids.size())}, ids), context).detach().contiguous();
    const std::vector<std::vector<float>> attention = attention_of(trace);
    for_each_open(logits, [](SentenceSearch& search, std::span<float> rows, size_t) { search.penalise(rows); });
    Tensor log_probabilities = log_softmax(logits);
    std::vector<int64_t> next;
    for_each_open(log_probabilities, [&](SentenceSearch& search, std::span<float> rows, size_t first) {
      const auto seen =
          std::span(attention).subspan(attention.empty() ? 0 : first, attention.empty() ? 0 : search.open());
      for (int64_t parent : search.advance(rows, seen)) next.push_back(static_cast<int64_t>(first) + parent);
    });
    std::vector<int64_t> same(ids.size());
    std::iota(same.begin(), same.end(), int64_t{0});
    if (next != same) state_->reorder(next);
    return next;
  }

  // f(search, its rows of x [rows, vocabulary], the number of the first of them)
  template <class F>
  void for_each_open(Tensor& x, F&& f) {
    const size_t vocabulary = static_cast<size_t>(x.size(1));
    size_t first = 0;
    for (SentenceSearch& search : searches_) {
      const size_t open = search.open();
      if (open > 0) f(search, std::span(x.data<float>() + first * vocabulary, open * vocabulary), first);
      first += open;
    }
  }

  const Generator& model_;
  const GenerationConfig& config_;
  SpecialIds special_;
  std::string place_;
  std::vector<SentenceSearch> searches_;
  std::vector<size_t> source_tokens_;
  std::unique_ptr<DecoderState> state_;
};

}  // namespace

std::vector<Hypotheses> generate(const Generator& model, const std::vector<Request>& requests,
                                 const GenerationConfig& config, const GenerationOptions& options) {
  GenerationConfig limited = config;
  check(limited);
  if (const int64_t longest = model.longest(); longest > 0) {
    limited.max_length = std::min(config.max_length, longest);
    for (const Request& request : requests)
      require(static_cast<int64_t>(request.source.size()) <= longest,
              "generation: found a source of {} tokens, expected at most {} as the model has positions",
              request.source.size(), longest);
  }
  if (options.attention && model.source_attention().empty())
    throw Error(Error::unsupported,
                "generation: the model has no attention over a source, expected none to be asked for");
  std::vector<Hypotheses> results(requests.size());
  std::vector<bool> finished(requests.size());
  std::vector<size_t> sizes;
  for (const Request& request : requests) sizes.push_back(request.source.size());
  size_t handed_on = 0;
  for_each_batch_by_length(sizes, static_cast<size_t>(config.batch_size), [&](const Numbers& numbers) {
    std::vector<Hypotheses> found = BatchSearch(model, limited, options).run(requests, numbers);
    for (size_t j = 0; j < numbers.size(); ++j) results[numbers[j]] = std::move(found[j]), finished[numbers[j]] = true;
    for (; handed_on < results.size() && finished[handed_on]; ++handed_on) {
      if (options.on_result) options.on_result(handed_on, results[handed_on]);
      if (!options.keep) results[handed_on] = {};
    }
  });
  return results;
}

}  // namespace fovea
