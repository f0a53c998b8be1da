#include "fovea/generate/answer.h"

#include <algorithm>
#include <cmath>

#include "fovea/generate/framed.h"

namespace fovea {
namespace {

// softmax over the tokens [begin, end) of one column of [tokens, 2].
std::vector<double> probabilities(const float* logits, int edge, size_t begin, size_t end) {
  std::vector<double> p;
  double largest = -HUGE_VAL, sum = 0;
  for (size_t i = begin; i < end; ++i) largest = std::max(largest, static_cast<double>(logits[2 * i + edge]));
  for (size_t i = begin; i < end; ++i) p.push_back(std::exp(logits[2 * i + edge] - largest)), sum += p.back();
  if (!std::isfinite(sum)) throw Error(Error::corrupt, "answer: the model gave NaN; its weights are damaged");
  for (double& x : p) x /= sum;
  return p;
}

Tokens part_of(const Tokens& all, size_t begin, size_t end) {
  const auto from = static_cast<std::ptrdiff_t>(begin), to = static_cast<std::ptrdiff_t>(end);
  return {{all.ids.begin() + from, all.ids.begin() + to}, {all.spans.begin() + from, all.spans.begin() + to}, {}};
}

void add_spans(const Framed& window, const float* logits, const std::string& text, const AnswerSearch& o,
               std::vector<FoundAnswer>& found) {
  const std::vector<Span>& spans = window.tokens.spans;
  size_t end = window.second;
  while (end < spans.size() && spans[end].size() > 0) ++end;
  const std::vector<double> first = probabilities(logits, 0, window.second, end),
                            last = probabilities(logits, 1, window.second, end);
  for (size_t a = 0; a < first.size(); ++a) {
    for (size_t b = a; b < std::min(first.size(), a + static_cast<size_t>(o.longest)); ++b) {
      const Span span = {spans[window.second + a].begin, spans[window.second + b].end};
      found.push_back({std::string(piece_of(text, span)), span, first[a] * last[b]});
    }
  }
  const auto more_probable = [](const FoundAnswer& a, const FoundAnswer& b) { return a.probability > b.probability; };
  std::stable_sort(found.begin(), found.end(), more_probable);
  std::vector<FoundAnswer> best;  // windows overlap: each span once
  for (FoundAnswer& f : found) {
    const auto same = [&](const FoundAnswer& other) { return other.span == f.span; };
    if (static_cast<int64_t>(best.size()) < o.top && std::none_of(best.begin(), best.end(), same))
      best.push_back(std::move(f));
  }
  found = std::move(best);
}

}  // namespace

std::vector<FoundAnswer> answer(const AnswerFinder& model, const Tokenizer& tokenizer, const std::string& question,
                                const std::string& text, const AnswerSearch& o) {
  require(o.top >= 1 && o.longest >= 1 && o.overlap >= 0,
          "answer: found top {}, longest {} and overlap {}, expected at least 1, 1 and 0", o.top, o.longest, o.overlap);
  const Tokens nothing, asked = tokenizer.encode(question), read = tokenizer.encode(text);
  const size_t frame = tokenizer.frame(nothing, &nothing).ids.size() + asked.ids.size();
  const size_t positions = model.longest() == 0 ? SIZE_MAX : static_cast<size_t>(model.longest());
  require(frame < positions, "answer: found a question of {} tokens, expected fewer than the model's {} positions",
          asked.ids.size(), positions);
  const size_t window = positions - frame, overlap = std::min(static_cast<size_t>(o.overlap), window - 1);
  std::vector<FoundAnswer> found;
  for (size_t begin = 0; begin < read.ids.size(); begin += window - overlap) {
    const size_t end = std::min(read.ids.size(), window > read.ids.size() ? read.ids.size() : begin + window);
    const Framed f = framed(tokenizer, asked, part_of(read, begin, end), 0);
    const Tensor edges =
        model.edge_logits(source_of({f}, tokenizer.special().pad), {.trace = o.trace}).detach().contiguous();
    add_spans(f, edges.data<float>(), text, o, found);
    if (end == read.ids.size()) break;
  }
  return found;
}

}  // namespace fovea
