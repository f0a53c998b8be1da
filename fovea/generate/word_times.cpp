#include "fovea/generate/word_times.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr int64_t smoothing = 7;  // states of the median

using Matrix = std::vector<double>;  // [tokens, states]

// [tokens, states] of one head, each column less its mean, divided by its deviation.
Matrix standing_out(const float* weights, int64_t tokens, int64_t states) {
  Matrix m(static_cast<size_t>(tokens * states));
  for (int64_t s = 0; s < states; ++s) {
    double sum = 0, squares = 0;
    for (int64_t t = 0; t < tokens; ++t) sum += weights[t * states + s];
    const double mean = sum / static_cast<double>(tokens);
    for (int64_t t = 0; t < tokens; ++t) squares += std::pow(weights[t * states + s] - mean, 2);
    const double deviation = std::sqrt(squares / static_cast<double>(tokens));
    for (int64_t t = 0; t < tokens; ++t)
      m[static_cast<size_t>(t * states + s)] = deviation > 0 ? (weights[t * states + s] - mean) / deviation : 0;
  }
  return m;
}

// The median of the seven around each; beyond the ends it is mirrored.
void add_smoothed(const Matrix& from, int64_t tokens, int64_t states, double share, Matrix& to) {
  constexpr int64_t half = smoothing / 2;
  std::vector<double> seven(smoothing);
  for (int64_t t = 0; t < tokens; ++t)
    for (int64_t s = 0; s < states; ++s) {
      const auto place = static_cast<size_t>(t * states + s);
      if (states <= half) {
        to[place] += share * from[place];
        continue;
      }
      for (int64_t i = -half; i <= half; ++i) {
        const int64_t at = std::abs(s + i), mirrored = at < states ? at : 2 * (states - 1) - at;
        seven[static_cast<size_t>(i + half)] = from[static_cast<size_t>(t * states + mirrored)];
      }
      std::nth_element(seven.begin(), seven.begin() + half, seven.end());
      to[place] += share * seven[half];
    }
}

// Of each token the first state on the cheapest way from the first token and state to the last ones.
std::vector<int64_t> warped(std::span<const double> costs, int64_t tokens, int64_t states) {
  enum Step : uint8_t { both, token, state };
  const auto place = [&](int64_t t, int64_t s) { return static_cast<size_t>(t * (states + 1) + s); };
  std::vector<float> cost(place(tokens, states) + 1, std::numeric_limits<float>::infinity());
  std::vector<Step> step(cost.size(), state);
  cost[0] = 0;
  for (int64_t s = 1; s <= states; ++s)
    for (int64_t t = 1; t <= tokens; ++t) {
      const float a = cost[place(t - 1, s - 1)], b = cost[place(t - 1, s)], c = cost[place(t, s - 1)];
      const Step taken = a < b && a < c ? both : b < a && b < c ? token : state;
      const float before = taken == both ? a : taken == token ? b : c;
      cost[place(t, s)] = static_cast<float>(costs[static_cast<size_t>((t - 1) * states + s - 1)] + before);
      step[place(t, s)] = taken;
    }
  std::vector<int64_t> first(static_cast<size_t>(tokens));
  for (int64_t t = tokens, s = states; t > 0;) {
    first[static_cast<size_t>(t - 1)] = std::max<int64_t>(s - 1, 0);
    const Step taken = s == 0 ? token : step[place(t, s)];
    if (taken != state) --t;
    if (taken != token) --s;
  }
  return first;
}

constexpr std::string_view unknown_character = "\uFFFD";
constexpr std::string_view ascii_marks = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
constexpr std::string_view marks_before = "\"'“¿([{-", marks_after = "\"'.。,，!！?？:：”)]}、", ends = ".。!！?？";

bool among(std::string_view text, std::string_view marks) { return marks.find(text) != marks.npos; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// The fewest tokens that spell whole characters.
std::vector<SpokenWord> whole_characters(const Tokenizer& tokenizer, const std::vector<int64_t>& ids) {
  const std::string full = tokenizer.decode(ids);
  std::vector<SpokenWord> parts;
  size_t written = 0, first = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::string text = tokenizer.decode(std::span(ids).subspan(first, i + 1 - first));
    const size_t broken = text.find(unknown_character);
    const bool whole =
        broken == text.npos || full.compare(std::min(written + broken, full.size()), 3, unknown_character) == 0;
    if (!whole && i + 1 < ids.size()) continue;
    parts.push_back({.text = text, .tokens = i + 1 - first});
    written += text.size(), first = i + 1;
  }
  return parts;
}

std::vector<SpokenWord> words_of(const Tokenizer& tokenizer, const SpokenTokens& given) {
  std::vector<SpokenWord> words;
  for (SpokenWord& part : whole_characters(tokenizer, given.ids)) {
    const bool begins = part.text.starts_with(' ') || among(trimmed(part.text), ascii_marks);
    if (!given.spaces || begins || words.empty()) {
      words.push_back(std::move(part));
    } else {
      words.back().text += part.text, words.back().tokens += part.tokens;
    }
  }
  return words;
}

void glue(SpokenWord& to, SpokenWord& from, bool before) {
  to.text = before ? from.text + to.text : to.text + from.text;
  to.tokens += from.tokens;
  for (size_t i = 0; i < to.heard.size() && i < from.heard.size(); ++i) to.heard[i] += from.heard[i];
  from.text.clear(), from.tokens = 0;
}

void glue_marks(std::vector<SpokenWord>& words) {
  for (size_t i = words.size(), next = i; i-- > 0;) {
    if (next < words.size() && words[i].text.starts_with(' ') && among(trimmed(words[i].text), marks_before))
      glue(words[next], words[i], true);
    else
      next = i;
  }
  for (size_t i = 1, last = 0; i < words.size(); ++i) {
    if (!words[i].text.empty() && !words[last].text.ends_with(' ') && among(words[i].text, marks_after))
      glue(words[last], words[i], false);
    else
      last = i;
  }
  std::erase_if(words, [](const SpokenWord& w) { return w.text.empty(); });
}

double usual_length(const std::vector<SpokenWord>& words) {
  std::vector<double> lengths;
  for (const SpokenWord& w : words)
    if (w.end > w.start) lengths.push_back(w.end - w.start);
  if (lengths.empty()) return 0;
  std::sort(lengths.begin(), lengths.end());
  const size_t n = lengths.size();
  return std::min(0.7, (lengths[(n - 1) / 2] + lengths[n / 2]) / 2);
}

void cut_pauses(std::vector<SpokenWord>& words, double most) {
  if (most <= 0) return;
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i].end - words[i].start <= most) continue;
    if (among(words[i].text, ends))
      words[i].end = words[i].start + most;
    else if (among(words[i - 1].text, ends))
      words[i].start = words[i].end - most;
  }
}

}  // namespace

std::vector<int64_t> said_at(const Tensor& given, int64_t first, int64_t count) {
  require(given.rank() == 3 && 0 <= first && 0 <= count && first + count <= given.size(1),
          "word times: found weights {}, expected [heads, tokens, states] of {} tokens and more", given.shape().text(),
          first + count);
  const Tensor weights = given.contiguous();
  const int64_t heads = weights.size(0), tokens = weights.size(1), states = weights.size(2);
  if (count == 0 || states == 0) return std::vector<int64_t>(static_cast<size_t>(count));
  Matrix costs(static_cast<size_t>(tokens * states));
  for (int64_t h = 0; h < heads; ++h)
    add_smoothed(standing_out(weights.data<float>() + h * tokens * states, tokens, states), tokens, states,
                 -1.0 / static_cast<double>(heads), costs);
  return warped(std::span(costs).subspan(static_cast<size_t>(first * states)), count, states);
}

SpokenWords spoken_words(const Tokenizer& tokenizer, const SpokenTokens& given) {
  require(given.probabilities.size() == given.ids.size(), "word times: found {} probabilities, expected {}",
          given.probabilities.size(), given.ids.size());
  const std::vector<int64_t> at = said_at(given.weights, given.before, std::ssize(given.ids) + 1);
  std::vector<SpokenWord> words = words_of(tokenizer, given);
  const Tensor weights = given.weights.contiguous();
  const int64_t heads = weights.size(0), rows = weights.size(1), states = weights.size(2);
  size_t first = 0;
  for (SpokenWord& word : words) {
    word.start = static_cast<double>(at[first]) * given.seconds_per_state;
    word.end = static_cast<double>(at[first + word.tokens]) * given.seconds_per_state;
    if (given.heard) word.heard.resize(static_cast<size_t>(states));
    for (size_t i = first; i < first + word.tokens; ++i) {
      word.probability += given.probabilities[i] / static_cast<double>(word.tokens);
      for (int64_t h = 0; given.heard && h < heads; ++h)
        for (int64_t s = 0; s < states; ++s)
          word.heard[static_cast<size_t>(s)] +=
              weights.data<float>()[(h * rows + given.before + static_cast<int64_t>(i)) * states + s];
    }
    first += word.tokens;
  }
  const double usual = usual_length(words);
  cut_pauses(words, 2 * usual);
  glue_marks(words);
  for (SpokenWord& word : words) {
    float sum = 0;
    for (float w : word.heard) sum += w;
    for (float& w : word.heard) w /= sum > 0 ? sum : 1;
  }
  return {std::move(words), usual};
}

void fit_words(std::span<SpokenWord> words, double usual, double before, double& start, double& end) {
  if (words.empty()) return;
  SpokenWord &first = words.front(), &last = words.back();
  const double most = 2 * usual;
  const bool second_long = words.size() > 1 && words[1].end - first.start > 2 * most;
  if (first.end - before > 4 * usual && (first.end - first.start > most || second_long)) {
    if (words.size() > 1 && words[1].end - words[1].start > most)
      first.end = words[1].start = std::max(words[1].end / 2, words[1].end - most);
    first.start = std::max(0.0, first.end - most);
  }
  if (start < first.end && start - 0.5 > first.start)
    first.start = std::max(0.0, std::min(first.end - usual, start));
  else
    start = first.start;
  if (end > last.start && end + 0.5 < last.end)
    last.end = std::max(last.start + usual, end);
  else
    end = last.end;
}

}  // namespace fovea
