#include "fovea/explain/faithfulness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "fovea/base/random.h"
#include "fovea/explain/measure.h"

namespace fovea {
namespace {

using Json = nlohmann::ordered_json;
using Order = std::vector<size_t>;

// The words from the highest score to the lowest; of equals the first comes first.
Order ranked(const std::vector<double>& scores) {
  Order order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  return order;
}

Order shuffled(size_t count, const Random& random) {
  std::vector<double> keys(count);
  for (size_t i = 0; i < count; ++i) keys[i] = random.uniform(i);
  return ranked(keys);
}

size_t part_of(size_t words, int percent) { return (words * static_cast<size_t>(percent) + 99) / 100; }

Erased first_of(const Order& order, size_t count, bool gone) {
  Erased erased(order.size(), !gone);
  for (size_t i = 0; i < count; ++i) erased[order[i]] = gone;
  return erased;
}

double mean_of(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

void add(std::vector<double>& to, const std::vector<double>& what, double factor = 1) {
  to.resize(what.size());
  for (size_t i = 0; i < what.size(); ++i) to[i] += factor * what[i];
}

Faithful with_means(Faithful f) {
  f.comprehensiveness = mean_of(f.without), f.sufficiency = mean_of(f.alone), f.lowest = mean_of(f.without_lowest);
  return f;
}

class Checking final {
 public:
  Checking(const Question& question, const CheckOptions& options)
      : question_(question), options_(options), words_(question.text().words.size()) {
    require(words_ > 0, "explain --check: found a text without words, expected some");
    require(0 < options.random_orders && options.random_orders <= 100,
            "explain --check: found {} random orders, expected 1 to 100", options.random_orders);
  }

  // All variants of an order in one go.
  Faithful of(const Order& order) const {
    const Order reversed(order.rbegin(), order.rend());
    std::vector<Erased> variants;
    for (int percent : erased_percents) {
      const size_t count = part_of(words_, percent);
      variants.push_back(first_of(order, count, true));
      variants.push_back(first_of(order, count, false));
      variants.push_back(first_of(reversed, count, true));
    }
    const std::vector<double> p = question_.without(variants, options_.erasing);
    Faithful f;
    for (size_t k = 0; k < erased_steps; ++k) {
      f.without.push_back(question_.probability() - p[3 * k]);
      f.alone.push_back(question_.probability() - p[3 * k + 1]);
      f.without_lowest.push_back(question_.probability() - p[3 * k + 2]);
    }
    return with_means(std::move(f));
  }

  Faithful random() const {
    Faithful sum = {.method = "random"};
    const double share = 1 / static_cast<double>(options_.random_orders);
    for (int64_t i = 0; i < options_.random_orders; ++i) {
      const Faithful one = of(shuffled(words_, Random(options_.seed).fork(static_cast<uint64_t>(i))));
      add(sum.without, one.without, share), add(sum.alone, one.alone, share);
      add(sum.without_lowest, one.without_lowest, share);
    }
    return with_means(std::move(sum));
  }

  Faithfulness all(const std::vector<Attribution>& methods) const {
    Faithfulness result = {1, words_, question_.probability(), {}, {}};
    result.erased = options_.erasing == Erasing::remove ? "removed" : "replaced by " + question_.replacement_name();
    for (const Attribution& m : methods) {
      Faithful f = m.unfit.empty() ? of(ranked(m.words)) : Faithful{.unfit = m.unfit};
      f.method = m.method->name;
      result.methods.push_back(std::move(f));
    }
    result.methods.push_back(random());
    return result;
  }

 private:
  const Question& question_;
  const CheckOptions& options_;
  size_t words_;
};

Json rounded(const std::vector<double>& numbers) {
  Json list = Json::array();
  for (double x : numbers) list.push_back(std::round(x * 1e6) / 1e6);
  return list;
}

}  // namespace

Faithfulness check(const Question& question, const Attributions& scores, const CheckOptions& options) {
  return Checking(question, options).all(scores.methods);
}

Faithfulness check(const Question& question, const std::vector<const Method*>& methods, const CheckOptions& options) {
  const Checking checking(question, options);
  std::vector<Attribution> scores;
  for (const Method* m : methods) scores.push_back(attributed_by(question, *m, options.method));
  return checking.all(scores);
}

void FaithfulnessMean::add(const Faithfulness& f) {
  if (sum_.methods.empty()) sum_.methods.resize(f.methods.size());
  require(sum_.methods.size() == f.methods.size(), "faithfulness: found {} methods, expected {}", f.methods.size(),
          sum_.methods.size());
  sum_.texts += f.texts, sum_.words += f.words, sum_.probability += f.probability, sum_.erased = f.erased;
  for (size_t i = 0; i < f.methods.size(); ++i) {
    Faithful& to = sum_.methods[i];
    const Faithful& from = f.methods[i];
    to.method = from.method;
    if (!from.unfit.empty()) to.unfit = from.unfit;
    if (!to.unfit.empty()) continue;
    fovea::add(to.without, from.without), fovea::add(to.alone, from.alone);
    fovea::add(to.without_lowest, from.without_lowest);
  }
}

Faithfulness FaithfulnessMean::mean() const {
  Faithfulness f = sum_;
  if (f.texts == 0) return f;
  const double share = 1 / static_cast<double>(f.texts);
  f.probability *= share;
  for (Faithful& m : f.methods) {
    if (!m.unfit.empty()) continue;
    for (std::vector<double>* x : {&m.without, &m.alone, &m.without_lowest})
      for (double& value : *x) value *= share;
    m = with_means(std::move(m));
  }
  return f;
}

std::string to_text(const Faithfulness& f) {
  std::string text = fmt::format("{} {}, {} words {}; probability of the answer {:.4f}\n", f.texts,
                                 f.texts == 1 ? "text" : "texts", f.words, f.erased, f.probability);
  std::vector<std::string> names;
  for (const Faithful& m : f.methods) names.push_back(m.method);
  const int first = static_cast<int>(Measure::cells().widest(names));
  text += fmt::format("{}  comprehensiveness  sufficiency  lowest erased\n", padded("", first));
  std::string unfit;
  for (const Faithful& m : f.methods) {
    if (m.unfit.empty())
      text += fmt::format("{}  {:>17}  {:>11}  {:>13}\n", padded(m.method, first), shown_score(m.comprehensiveness),
                          shown_score(m.sufficiency), shown_score(m.lowest));
    else
      unfit += fmt::format("{}: does not fit: {}\n", m.method, m.unfit);
  }
  return text + unfit;
}

std::string to_json(const Faithfulness& f) {
  auto number = [](double x) { return std::round(x * 1e6) / 1e6; };
  Json json = {{"texts", f.texts},
               {"words", f.words},
               {"probability", number(f.probability)},
               {"erased", f.erased},
               {"percents", erased_percents},
               {"methods", Json::array()}};
  for (const Faithful& m : f.methods) {
    Json one = {{"name", m.method}};
    if (m.unfit.empty())
      one.update({{"comprehensiveness", number(m.comprehensiveness)},
                  {"sufficiency", number(m.sufficiency)},
                  {"lowest", number(m.lowest)},
                  {"without", rounded(m.without)},
                  {"alone", rounded(m.alone)},
                  {"without_lowest", rounded(m.without_lowest)}});
    else
      one["unfit"] = m.unfit;
    json["methods"].push_back(std::move(one));
  }
  return json.dump();
}

}  // namespace fovea
