#include "fovea/generate/fill.h"

#include <cmath>

#include "fovea/generate/framed.h"
#include "fovea/kernels/select.h"

namespace fovea {
namespace {

std::string with_own_mask(std::string text, const std::string& mask) {
  for (const std::string_view spelling : {"[MASK]", "<mask>"}) {
    if (spelling == mask) continue;
    for (size_t at = text.find(spelling); at != std::string::npos; at = text.find(spelling, at + mask.size()))
      text.replace(at, spelling.size(), mask);
  }
  return text;
}

std::string trimmed(std::string text) { return std::string(trim(text)); }

std::vector<Choice> choices_of(const Tokenizer& tokenizer, const Filled& f, Span gap, std::span<const float> logits,
                               int64_t top) {
  std::vector<float> row(logits.begin(), logits.end());
  row.resize(std::min(row.size(), static_cast<size_t>(tokenizer.size())));  // an embedding may have more entries
  double largest = -HUGE_VAL, sum = 0;
  for (float x : logits) largest = std::max(largest, static_cast<double>(x));
  for (float x : logits) sum += std::exp(x - largest);
  if (!std::isfinite(sum)) throw Error(Error::corrupt, "fill: the model gave NaN; its weights are damaged");
  std::vector<Choice> choices;
  for (const auto& [logit, id] : kernels::largest(row, top)) {
    const int64_t ids[] = {id};
    std::string token = trimmed(tokenizer.decode(ids));
    if (token.empty()) token = tokenizer.piece(id);
    std::string text = f.text;
    text.replace(static_cast<size_t>(gap.begin), static_cast<size_t>(gap.size()), token);
    choices.push_back({token, std::exp(logit - largest) / sum, text});
  }
  return choices;
}

}  // namespace

std::vector<Filled> fill(const GapFiller& model, const Tokenizer& tokenizer, const std::vector<std::string>& texts,
                         int64_t top, Trace* trace) {
  const int64_t mask = tokenizer.special().mask;
  require(mask >= 0, "fill: found a tokenizer without a mask, expected one");
  std::vector<Filled> results;
  for (const std::string& text : texts) {
    Filled f = {with_own_mask(text, tokenizer.piece(mask)), {}};
    const Framed read = framed(tokenizer, f.text, std::nullopt, model.longest());
    std::vector<int64_t> places;
    for (size_t i = 0; i < read.tokens.ids.size(); ++i) {
      if (read.tokens.ids[i] != mask) continue;
      places.push_back(static_cast<int64_t>(i));
      f.gaps.push_back({read.tokens.spans[i], {}});
    }
    require(!places.empty(), "fill: found no {} in \"{}\", expected it where a word is missing", tokenizer.piece(mask),
            text.substr(0, 60));
    const auto count = static_cast<int64_t>(places.size());
    const Tensor logits =
        model.gap_logits(source_of({read}, tokenizer.special().pad), tensor({count}, places), {.trace = trace})
            .detach()
            .contiguous();
    for (int64_t g = 0; g < count; ++g) {
      Gap& gap = f.gaps[static_cast<size_t>(g)];
      const std::span row(logits.data<float>() + g * logits.size(1), static_cast<size_t>(logits.size(1)));
      gap.choices = choices_of(tokenizer, f, gap.span, row, top);
    }
    results.push_back(std::move(f));
  }
  return results;
}

}  // namespace fovea
