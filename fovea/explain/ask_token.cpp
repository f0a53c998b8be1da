// Questions about a token that a model writes: of a translation, or after a text.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "fovea/explain/question.h"
#include "fovea/explain/shown_pieces.h"
#include "fovea/generate/continue.h"
#include "fovea/generate/framed.h"
#include "fovea/generate/translate.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/softmax.h"

namespace fovea {
namespace {

size_t number_of(const std::string& text) {
  size_t number = 0;
  if (text.empty()) return number;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  require(error == std::errc() && end == text.data() + text.size() && number < (1u << 20),
          "--answer: found '{}', expected the number of a token that is written, from 0 on", text);
  return number;
}

class TokenQuestion : public Question {
 public:
  TokenQuestion(const Model& model, const Tokenizer& tokenizer)
      : Question(model, tokenizer),
        writer_(as<Generator>(model)),
        padding_(std::max<int64_t>(0, tokenizer.special().pad)) {}

  using Question::odds;
  // With a trace, or a way back, all steps at once; otherwise with the cache, which computes the logits of the last step alone.
  Tensor odds(const std::vector<Erased>& variants, Erasing erasing, const Context& c) const override {
    std::vector<Framed> sources;
    std::vector<std::vector<int64_t>> read;
    for (const Erased& erased : variants) arrange(left(erased, erasing), sources, read);
    const Source source = sources.empty() ? Source{} : source_of(sources, padding_);
    std::vector<int64_t> starts = {0}, all;
    size_t longest = 0;
    for (const auto& ids : read) {
      all.insert(all.end(), ids.begin(), ids.end()), starts.push_back(static_cast<int64_t>(all.size()));
      longest = std::max(longest, ids.size());
    }
    if (!c.trace && !c.entrance) {
      const auto state = writer_.start(source, c);
      return log_odds(writer_.steps(*state, tensor({starts.back()}, all), starts, c).detach(), wanted_);
    }
    const int64_t rows = static_cast<int64_t>(read.size()), steps = static_cast<int64_t>(longest);
    std::vector<int64_t> padded, last;
    for (auto& ids : read) {
      last.push_back(static_cast<int64_t>(padded.size() + ids.size()) - 1);
      ids.resize(longest, padding_);
      padded.insert(padded.end(), ids.begin(), ids.end());
    }
    const Tensor logits = writer_.logits(source, tensor({rows, steps}, padded), c);
    return log_odds(fovea::rows(logits.reshape({rows * steps, logits.size(-1)}), tensor({rows}, last)), wanted_);
  }

 protected:
  virtual void arrange(Tokens text, std::vector<Framed>& sources, std::vector<std::vector<int64_t>>& read) const = 0;
  static std::string shown(const Tokenizer& tokenizer, int64_t id) {
    return 0 <= id && id < tokenizer.size() ? shown_piece(tokenizer, id) : fmt::format("token {}", id);
  }
  void want(const Tokenizer& tokenizer, int64_t id) {
    wanted_ = id;
    answer_ = shown(tokenizer, id);
    probability_ = value_of(odds(std::vector<Erased>(1), Erasing::remove, {}).item());
  }

  const Generator& writer_;
  int64_t padding_, wanted_ = 0;
};

// The token stands behind a prefix that stays as it is; what is explained is the source.
class WrittenQuestion final : public TokenQuestion {
 public:
  WrittenQuestion(const Model& model, const Tokenizer& tokenizer, const std::string& text, const AskOptions& options)
      : TokenQuestion(model, tokenizer) {
    read(tokenizer, text, source_tokens(tokenizer, tokenizer.encode(text)));
    GenerationConfig config = options.generation;
    config.keep_wordless = false;
    Trace whole;  // so that the text is taken as one
    whole.places = {"nowhere"};
    const Translations t = translate(writer_, tokenizer, {text}, config, {.trace = &whole})[0];
    std::vector<int64_t> ids = t.found.empty() ? std::vector<int64_t>() : t.found[0].ids;
    ids.push_back(writer_.special_ids().eos);
    const size_t number = number_of(options.answer);
    require(number < ids.size(), "--answer: found token {}, expected one of the {} that are written: 0 to {}", number,
            ids.size(), ids.size() - 1);
    for (size_t i = 0; i < ids.size(); ++i) choices_.push_back({fmt::format("{}", i), shown(tokenizer, ids[i])});
    prefix_ = {config.start_id >= 0 ? config.start_id : writer_.special_ids().bos};
    prefix_.insert(prefix_.end(), ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(number));
    if (!writer_.source_attention().empty()) look_ = Look{writer_.source_attention(), static_cast<int64_t>(number)};
    want(tokenizer, ids[number]);
  }

 private:
  void arrange(Tokens text, std::vector<Framed>& sources, std::vector<std::vector<int64_t>>& read) const override {
    sources.push_back({std::move(text)}), read.push_back(prefix_);
  }

  std::vector<int64_t> prefix_;
};

// The token stands behind the text itself, and what was written after it before.
class NextQuestion final : public TokenQuestion {
 public:
  NextQuestion(const Model& model, const Tokenizer& tokenizer, const std::string& text, const AskOptions& options)
      : TokenQuestion(model, tokenizer) {
    sequence_ = "text";
    const size_t number = number_of(options.answer);
    const std::vector<int64_t> prompt = prompt_ids(writer_, tokenizer, text);
    GenerationConfig config = options.generation;
    config.beam_size = config.n_best = 1;
    config.sample = false;
    config.max_length = static_cast<int64_t>(number) + 1;
    const Continuation c = continue_texts(writer_, tokenizer, {text}, config)[0].at(0);
    require(number < c.ids.size(), "--answer: found token {}, expected one of the {} that are written", number,
            c.ids.size());
    Tokens all = {prompt, std::vector<Span>(prompt.size())};
    const Tokens given = tokenizer.encode(text);
    const auto at = std::search(prompt.begin(), prompt.end(), given.ids.begin(), given.ids.end());
    if (at != prompt.end())
      std::copy(given.spans.begin(), given.spans.end(), all.spans.begin() + (at - prompt.begin()));
    const auto offset = static_cast<int64_t>(text.size());
    for (size_t i = 0; i < number; ++i) {
      all.ids.push_back(c.ids[i]);
      all.spans.push_back({offset + c.tokens[i].begin, offset + c.tokens[i].end});
    }
    const int64_t end = number == 0 ? 0 : c.tokens[number - 1].end;
    read(tokenizer, text + c.text.substr(0, static_cast<size_t>(end)), all);
    for (const Place& place : model.places())
      if (place.columns == "text") look_ = Look{place.path, static_cast<int64_t>(all.ids.size()) - 1};
    want(tokenizer, c.ids[number]);
  }

 private:
  void arrange(Tokens text, std::vector<Framed>&, std::vector<std::vector<int64_t>>& read) const override {
    read.push_back(std::move(text.ids));
  }
};

}  // namespace

std::unique_ptr<Question> ask_token(const Model& model, const Tokenizer& tokenizer, const std::string& text,
                                    const AskOptions& options) {
  if (can<Encoder>(model)) return std::make_unique<WrittenQuestion>(model, tokenizer, text, options);
  return std::make_unique<NextQuestion>(model, tokenizer, text, options);
}

}  // namespace fovea
