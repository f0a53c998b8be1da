#include "fovea/models/families/bag_of_words.h"

#include <algorithm>
#include <cmath>

#include "fovea/models/padding.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/loss.h"
#include "fovea/tensor/matmul.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

using Config = BagOfWords::Config;

// The ids with padding beyond the lengths, and 1 / √tokens of its row where a token counts, [batch, 1, tokens].
struct Counted {
  Tensor ids, shares;
};

Counted counted(const Source& source, const Config& c, DType type) {
  require(source.ids && source.ids.rank() == 2 && source.ids.dtype() == DType::i64,
          "bag of words: found ids {}, expected I64 [batch, tokens]",
          source.ids ? source.ids.shape().text() : "missing");
  const int64_t batch = source.ids.size(0), tokens = source.ids.size(1);
  const Tensor ids = only_real(source.ids, source.lengths, c.padding);
  std::vector<double> shares(static_cast<size_t>(batch * tokens));
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t* id = ids.data<int64_t>() + b * tokens;
    const int64_t count = tokens - std::count(id, id + tokens, c.padding);
    for (int64_t t = 0; t < tokens; ++t)
      if (id[t] != c.padding) shares[static_cast<size_t>(b * tokens + t)] = 1 / std::sqrt(static_cast<double>(count));
  }
  return {ids, tensor({batch, 1, tokens}, shares).to(type)};
}

}  // namespace

void Config::fields(Fields& f) {
  f.from_data("vocabulary", vocabulary, "size of the vocabulary");
  f.from_data("labels", labels, "what a text can be");
  f.from_data("labelling", labelling, "one: a text has one of the labels, several: any of them, number: a value");
  f.from_data("mean", mean, "of the numbers");
  f.from_data("deviation", deviation, "of the numbers");
  f.from_data("pairs", pairs, "whether it reads two texts at a time");
  f.from_data("padding", padding, "id of padding");
}

BagOfWords::BagOfWords(const Config& c)
    : config_(c), labels_("bag of words", {c.labels, c.labelling, c.mean, c.deviation}) {
  check_size("bag of words", "vocabulary", c.vocabulary);
  require(0 <= c.padding && c.padding < c.vocabulary, "bag of words: found padding {}, expected 0 to {}", c.padding,
          c.vocabulary - 1);
  const int64_t labels = static_cast<int64_t>(c.labels.size());
  words_ = Weight({c.vocabulary, labels}), bias_ = Weight({labels});
}

void BagOfWords::weights(Weights& w) {
  w("words", words_, {Init::zeros});
  w("bias", bias_, {Init::zeros});
}

Tensor BagOfWords::logits(const Source& source, const Context&) const {
  const Counted x = counted(source, config_, words_.dtype());
  return matmul(x.shares, rows(words_, x.ids)).squeeze(1) + *bias_;
}

Tensor BagOfWords::loss(const Source& source, const WantedLabels& wanted, const Context& c) const {
  return sum(labels_.losses(logits(source, c), wanted));
}

Tensor BagOfWords::token_weights(const Source& source, const Context& c) const {
  const Counted x = counted(source, config_, words_.dtype());
  const std::vector<int64_t> best = argmax(logits(source, c), -1).values<int64_t>();
  const std::vector<double> w = rows(words_->detach(), x.ids).values<double>(), share = x.shares.values<double>();
  const int64_t labels = static_cast<int64_t>(config_.labels.size()), tokens = x.ids.size(1);
  std::vector<double> moved(share.size());
  for (size_t b = 0; b < best.size(); ++b) {
    const size_t first = b * static_cast<size_t>(tokens);
    double sum = 0, counts = 0;
    for (size_t i = first; i < first + static_cast<size_t>(tokens); ++i) {
      if (share[i] == 0) continue;
      const double* row = w.data() + static_cast<int64_t>(i) * labels;
      double mean = 0;
      for (int64_t l = 0; l < labels; ++l) mean += row[l] / static_cast<double>(labels);
      sum += moved[i] = std::abs(row[best[b]] - mean), counts += 1;
    }
    for (size_t i = first; i < first + static_cast<size_t>(tokens); ++i)
      if (share[i] != 0) moved[i] = sum > 0 ? moved[i] / sum : 1 / counts;
  }
  return tensor(x.ids.shape(), moved).to(words_.dtype());
}

extern const Family bag_of_words =
    family_of<BagOfWords>("bag-of-words", "labels for a text from the counts of its tokens: the baseline", "[{}]",
                          R"({"learning_rate": 1e-2, "weight_decay": 0.1})");

}  // namespace fovea
