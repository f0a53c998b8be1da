#include "fovea/explain/recording.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/catalogue.h"
#include "fovea/data/text/unknown_words.h"
#include "fovea/explain/entities.h"
#include "fovea/explain/shown_pieces.h"
#include "fovea/generate/followed.h"
#include "fovea/generate/framed.h"
#include "fovea/kernels/packed.h"
#include "fovea/kernels/select.h"
#include "fovea/kernels/softmax.h"
#include "fovea/models/long_reader.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

Probe probe_for(const RecordOptions& o, size_t tokens) {
  const bool whole = tokens <= o.most_whole_tokens;
  return {.heads = o.heads, .weights = whole, .keep = !whole || o.keep};
}

bool is_wanted(const std::vector<std::string>& wanted, const std::string& path) {
  return wanted.empty() || std::any_of(wanted.begin(), wanted.end(),
                                       [&](const std::string& p) { return path == p || path.starts_with(p + "."); });
}

// What was most probable at each step of a search; no tensors if there was none.
ProbeResult likely_in(const Trace& trace) {
  const auto found = trace.results().find(likely_place);
  return found == trace.results().end() ? ProbeResult{} : found->second.back();
}

void require_places(const Model& model, const std::vector<std::string>& wanted) {
  const std::vector<Place> places = model.places();
  for (const std::string& one : wanted)
    require(std::any_of(places.begin(), places.end(), [&](const Place& p) { return is_wanted({one}, p.path); }),
            "explain: found the place '{}', which the model has not; without places all of them are shown", one);
}

}  // namespace

Tensor RecordedPlace::part(size_t number, Range rows, Range columns) const {
  require(number < heads.size(), "{}: found head number {}, expected less than {}", place.path, number, heads.size());
  if (!weights) return kept->weights(0, heads[number], rows, columns);
  auto end = [&](const Range& r, int64_t size) {
    const int64_t e = r.end < 0 ? size : r.end;
    require(0 <= r.begin && r.begin <= e && e <= size, "{}: found {} to {}, expected them within 0 to {}", place.path,
            r.begin, r.end, size);
    return e;
  };
  return weights.select(0, static_cast<int64_t>(number))
      .slice(0, rows.begin, end(rows, weights.size(1)))
      .slice(1, columns.begin, end(columns, weights.size(2)))
      .contiguous();
}

const RecordedPlace& Recording::at(const std::string& path) const {
  std::vector<std::string> known;
  for (const RecordedPlace& p : places) {
    if (p.place.path == path) return p;
    known.push_back(p.place.path);
  }
  throw_unknown("place", path, known);
}

void name_model(Recording& seen, const Pretrained& p) {
  Precision found = Precision::f32;
  for_each_weight(*p.model, [&](const std::string&, const Weight& w, const Init&) {
    if (w.packed()) found = w.packed()->precision;
  });
  const std::filesystem::path folder = p.folder.has_filename() ? p.folder : p.folder.parent_path();
  seen.model = folder.filename().string(), seen.precision = name(found);
}

Recorder::Recorder(const Model& model, const Tokenizer& tokenizer, const RecordOptions& options,
                   const std::string& text)
    : Recorder(model, &tokenizer, options, text, tokenizer.encode(text).ids.size()) {}

Recorder::Recorder(const Model& model, const Tokenizer* tokenizer, const RecordOptions& options,
                   const std::string& text, size_t tokens)
    : model_(model), tokenizer_(tokenizer), heads_(options.heads), trace_(probe_for(options, tokens)) {
  require_places(model, options.places);
  trace_.places = options.places;
  recording_.family = model.family();
  recording_.text = text;
}

std::string Recorder::shown(int64_t id) const { return shown_piece(*tokenizer_, id); }

RecordedSequence Recorder::sequence(const Tokens& tokens, const std::string& text) const {
  RecordedSequence s = {.text = text, .ids = tokens.ids, .spans = tokens.spans};
  for (size_t i = 0; i < tokens.ids.size(); ++i)
    s.pieces.push_back(shown_piece(*tokenizer_, text, tokens.ids[i], tokens.spans[i]));
  return s;
}

void Recorder::read(const Tokens& framed, const std::string& text, const std::string& name) {
  recording_.sequences[name] = sequence(framed, text);
}

void Recorder::translated(const Translations& t, const std::string& task) {
  const auto* writer = can<Generator>(model_);
  const Tokens text = tokenizer_->encode(recording_.text);
  read(source_tokens(*tokenizer_, text, tokenizer_->encode(task).ids), recording_.text);
  if (!t.found.empty() && writer) wrote(t.found[0], *writer);
}

// Each part of the picture by its row and column, from 1, behind the token that the label is read off and DeiT's other one.
void Recorder::saw(const PictureShape& shape) {
  RecordedSequence& patches = recording_.sequences["patches"];
  patches.text = recording_.text;
  for (int64_t i = 0; i < shape.extra; ++i) patches.pieces.emplace_back(i == 0 ? "class" : "teacher");
  for (int64_t y = 1; y <= shape.patches_down; ++y)
    for (int64_t x = 1; x <= shape.patches_across; ++x) patches.pieces.push_back(fmt::format("patch {},{}", y, x));
  patches.ids.assign(patches.pieces.size(), -1), patches.spans.resize(patches.pieces.size());
}

void Recorder::captioned(const Translation& best, const PictureShape& shape) {
  saw(shape);
  wrote(best, as<Generator>(model_));
}

// A word of the source that a model may copy has an id behind the vocabulary.
std::string Recorder::piece_of_likely(int64_t id) const {
  if (id < tokenizer_->size()) return shown(id);
  UnknownWords words(*tokenizer_);
  words.add(recording_.text, tokenizer_->encode(recording_.text));
  return id - tokenizer_->size() < static_cast<int64_t>(words.size()) ? words.decode({id}).text : "";
}

std::vector<Alternative> Recorder::alternatives(const ProbeResult& likely, size_t step, int64_t written) const {
  std::vector<Alternative> others;
  if (!likely.top_keys || static_cast<int64_t>(step) >= likely.top_keys.size(2)) return others;
  const int64_t count = likely.top_keys.size(3), at = static_cast<int64_t>(step) * count;
  for (int64_t i = at; i < at + count && others.size() < most_alternatives; ++i) {
    const int64_t id = likely.top_keys.data<int64_t>()[i];
    if (id >= 0 && id != written)
      others.push_back({id, piece_of_likely(id), static_cast<double>(likely.top_weights.data<float>()[i])});
  }
  return others;
}

void Recorder::wrote(const Translation& best, const Generator& writer) {
  const int64_t start = writer.special_ids().bos, end = writer.special_ids().eos;
  const ProbeResult likely = likely_in(trace_);
  RecordedSequence target = {.text = best.text, .spans = best.tokens}, prefix = {.text = best.text};
  prefix.ids.push_back(start), prefix.pieces.push_back(start < 0 ? "" : shown(start)), prefix.spans.push_back({0, 0});
  for (size_t i = 0; i < best.tokens.size(); ++i) {
    const int64_t id = i < best.ids.size() ? best.ids[i] : end;
    // A word that only the source has is shown as it was written.
    const std::string piece = id < tokenizer_->size() ? shown(id) : std::string(piece_of(best.text, best.tokens[i]));
    target.ids.push_back(id), target.pieces.push_back(piece);
    target.probabilities.push_back(i < best.log_probabilities.size() ? std::exp(best.log_probabilities[i]) : 0);
    target.alternatives.push_back(alternatives(likely, i, id));
    if (i + 1 == best.tokens.size()) break;
    prefix.ids.push_back(id), prefix.pieces.push_back(piece), prefix.spans.push_back(best.tokens[i]);
  }
  recording_.sequences["target"] = std::move(target);
  recording_.sequences["prefix"] = std::move(prefix);
}

// Words have their bytes in the text; times and marks stand between.
void Recorder::heard(int64_t states, double seconds, const std::vector<int64_t>& prompt,
                     const std::vector<int64_t>& written, int64_t end) {
  RecordedSequence frames, prefix, target;
  for (int64_t i = 0; i < states; ++i) {
    frames.ids.push_back(-1), frames.spans.push_back({0, 0});
    frames.pieces.push_back(fmt::format("{:.2f}", static_cast<double>(i) * seconds));
  }
  std::vector<int64_t> all = prompt, words;
  all.insert(all.end(), written.begin(), written.end());
  std::copy_if(written.begin(), written.end(), std::back_inserter(words), [&](int64_t id) { return id < end; });
  const DecodedText said = decode_with_spans(*tokenizer_, words);
  prefix.text = target.text = said.text;
  Span span;
  for (size_t i = 0, word = 0; i < all.size(); ++i) {
    const std::string piece = all[i] < tokenizer_->size() ? shown(all[i]) : fmt::format("<|{}|>", all[i]);
    span = i >= prompt.size() && all[i] < end ? said.spans[word++] : Span{span.end, span.end};
    for (RecordedSequence* s : {&prefix, &target}) {
      if (s == &prefix ? i + 1 == all.size() : i == 0) continue;
      s->ids.push_back(all[i]), s->pieces.push_back(piece), s->spans.push_back(span);
    }
  }
  recording_.sequences["frames"] = std::move(frames);
  recording_.sequences["prefix"] = std::move(prefix);
  recording_.sequences["target"] = std::move(target);
}

void Recorder::classified(const Classified& c) {
  const auto& labeller = as<TextLabeller>(model_);
  read(labeller_tokens(*tokenizer_, recording_.text, labeller).tokens, recording_.text);
  const std::string label = to_text(c, labeller.labels());
  const std::string name = label.substr(0, label.find('\t'));
  recording_.sequences["label"] = {
      .text = name, .ids = {-1}, .pieces = {name}, .spans = {{0, static_cast<int64_t>(name.size())}}};
}

namespace {

// The first piece that a model reads which labels tokens, with the bytes that each token has in the text.
Tokens tokens_of(const TaggedText& t, const TokenLabeller& labeller, const Tokenizer& tokenizer) {
  Sentence words;
  for (Span span : t.words) words.emplace_back(piece_of(t.text, span));
  const std::vector<TokenWindow> windows = token_windows(tokenizer, words, labeller.longest());
  if (windows.empty()) return {};
  Tokens tokens = windows[0].read.tokens;
  for (size_t i = 0; i < windows[0].firsts.size(); ++i) {
    const std::string before = i == 0 ? "" : " ";
    const std::vector<Span> spans = tokenizer.encode(before + words[i]).spans;
    const size_t first = windows[0].firsts[i];
    for (size_t k = 0; k < spans.size() && first + k < tokens.spans.size() && tokens.spans[first + k].size() > 0; ++k) {
      const auto at = [&](int64_t byte) {
        return t.words[i].begin + std::max<int64_t>(0, byte - static_cast<int64_t>(before.size()));
      };
      tokens.spans[first + k] = {at(spans[k].begin), at(spans[k].end)};
    }
  }
  return tokens;
}

}  // namespace

void Recorder::tagged(const TaggedText& t) {
  if (const auto* labeller = can<TokenLabeller>(model_)) return read(tokens_of(t, *labeller, *tokenizer_), t.text);
  Tokens words = {{}, t.words};
  for (Span span : t.words) words.ids.push_back(tokenizer_->id_of(piece_of(t.text, span)));
  read(words, t.text);
}

// What was written last has not been read.
void Recorder::continued(const std::vector<int64_t>& prompt, const Continuation& c) {
  Tokens all = {prompt, std::vector<Span>(prompt.size())};
  const Tokens text = tokenizer_->encode(recording_.text);
  const auto at = std::search(prompt.begin(), prompt.end(), text.ids.begin(), text.ids.end());
  const auto before = static_cast<size_t>(at - prompt.begin());
  if (at != prompt.end()) std::copy(text.spans.begin(), text.spans.end(), all.spans.begin() + (at - prompt.begin()));
  const auto offset = static_cast<int64_t>(recording_.text.size());
  for (size_t i = 0; i + 1 < c.ids.size(); ++i) {
    all.ids.push_back(c.ids[i]);
    all.spans.push_back({offset + c.tokens[i].begin, offset + c.tokens[i].end});
  }
  read(all, recording_.text + c.text, "text");
  RecordedSequence& s = recording_.sequences["text"];
  for (size_t i = 0; i < std::min(before, s.size()); ++i) s.pieces[i] = shown(s.ids[i]);
  const ProbeResult likely = likely_in(trace_);
  if (!likely.top_keys) return;
  s.probabilities.resize(s.size(), NAN), s.alternatives.resize(s.size());
  for (size_t i = 0; prompt.size() + i < s.size() && i < c.log_probabilities.size(); ++i) {
    s.probabilities[prompt.size() + i] = std::exp(c.log_probabilities[i]);
    s.alternatives[prompt.size() + i] = alternatives(likely, i, c.ids[i]);
  }
}

// The first token stands before all that can be told.
void Recorder::foretold(int64_t begin, const Tensor& logits) {
  RecordedSequence& s = recording_.sequences["text"];
  if (s.size() < 2) return;
  const bool others = s.size() <= most_foretold;
  s.probabilities.resize(s.size(), NAN), s.alternatives.resize(others ? s.size() : 0);
  const Tensor rows = logits.detach().contiguous();
  const auto width = static_cast<size_t>(rows.size(-1)), count = static_cast<size_t>(rows.size(0));
  ProbeResult likely;
  likely.top_weights = zeros({1, 1, 1, likely_tokens});
  for (size_t row = 0, i = static_cast<size_t>(begin) + 1; row < count && i < s.size(); ++row, ++i) {
    const std::span<const float> scores(rows.data<float>() + row * width, width);
    float sum = 0;
    kernels::log_sum_exp({.rows = 1, .width = rows.size(-1)}, scores.data(), &sum);
    if (0 <= s.ids[i] && s.ids[i] < rows.size(-1))
      s.probabilities[i] =
          std::exp(static_cast<double>(scores[static_cast<size_t>(s.ids[i])]) - static_cast<double>(sum));
    if (!others) continue;
    likely.top_keys = full({1, 1, 1, likely_tokens}, -1, DType::i64);
    int64_t at = 0;
    for (const auto& [logit, id] : kernels::largest(scores, likely_tokens))
      likely.top_weights.data<float>()[at] = std::exp(logit - sum), likely.top_keys.data<int64_t>()[at++] = id;
    s.alternatives[i] = alternatives(likely, 0, s.ids[i]);
  }
}

Recording Recorder::finish(std::string answer) {
  recording_.answer = std::move(answer);
  for (const Place& place : model_.places()) {
    const auto found = trace_.results().find(place.path);
    if (!is_wanted(trace_.places, place.path) || found == trace_.results().end()) continue;
    RecordedPlace seen = {.place = place, .heads = heads_};
    if (heads_.empty()) {
      seen.heads.resize(static_cast<size_t>(place.heads));
      std::iota(seen.heads.begin(), seen.heads.end(), int64_t{0});
    }
    const ProbeResult& last = found->second.back();
    seen.kept = last.kept;
    if (!last.kept || last.weights) seen.weights = joined_weights(found->second).select(0, 0).contiguous();
    // A model reads the first so many tokens of a text.
    for (const auto& [name, count] : {std::pair{place.rows, seen.rows()}, {place.columns, seen.columns()}}) {
      RecordedSequence& s = recording_.sequences[name];
      const auto size = static_cast<size_t>(count);
      s.ids.resize(size, -1), s.pieces.resize(size), s.spans.resize(size);
      if (!s.probabilities.empty()) s.probabilities.resize(size, NAN);
      if (!s.alternatives.empty()) s.alternatives.resize(size);
    }
    recording_.places.push_back(std::move(seen));
  }
  return std::move(recording_);
}

namespace {

Recording record_writer(const Model& model, const Generator& writer, const Tokenizer& tokenizer,
                        const std::string& text, const RecordOptions& options) {
  Recorder recorder(model, tokenizer, options, text);
  GenerationConfig config = options.generation;
  config.keep_wordless = false;
  const Translations t = translate(writer, tokenizer, {text}, config, {.trace = recorder.trace()})[0];
  recorder.translated(t);
  return recorder.finish(t.found.empty() ? "" : t.found[0].text);
}

// A language model reads the text, and says what it thinks comes next.
Recording record_reader(const Model& model, const Generator& reader, const Tokenizer& tokenizer,
                        const std::string& text, const RecordOptions& options) {
  Recorder recorder(model, tokenizer, options, text);
  const std::vector<int64_t> ids = prompt_ids(reader, tokenizer, text);
  recorder.continued(ids, {});
  int64_t next[] = {0};
  const auto told = [&](int64_t begin, const Tensor& logits) {
    recorder.foretold(begin, logits);
    next[0] = argmax(logits.select(0, logits.size(0) - 1), -1).values<int64_t>()[0];
  };
  const Tensor row = tensor({1, static_cast<int64_t>(ids.size())}, ids);
  if (const auto* at_length = can<LongReader>(model))
    at_length->each_logits(row, {.trace = recorder.trace()}, told);
  else
    told(0, reader.logits({}, row, {.trace = recorder.trace()}).select(0, 0));
  return recorder.finish(next[0] < tokenizer.size() ? tokenizer.decode(next) : "");
}

Recording record_words(const Model& model, const WordLabeller& tagger, const Tokenizer& tokenizer,
                       const std::string& text, const RecordOptions& options) {
  const auto* vocabulary = dynamic_cast<const Words*>(&tokenizer);
  require(vocabulary, "explain: found a tagger with a tokenizer of kind '{}', expected words", tokenizer.kind());
  Recorder recorder(model, tokenizer, options, text);
  const TaggedText found = tag_texts(tagger, *vocabulary, {text}, {.trace = recorder.trace()})[0];
  recorder.tagged(found);
  return recorder.finish(marked(found));
}

}  // namespace

Recording record(const Model& model, const Tokenizer& tokenizer, const std::string& text,
                 const RecordOptions& options) {
  if (const auto* writer = can<Generator>(model); writer && !can<PictureEncoder>(model))
    return can<Encoder>(model) ? record_writer(model, *writer, tokenizer, text, options)
                               : record_reader(model, *writer, tokenizer, text, options);
  if (const auto* labeller = can<TextLabeller>(model)) {
    Recorder recorder(model, tokenizer, options, text);
    const Classified c = classify(*labeller, tokenizer, {text}, {.trace = recorder.trace()})[0];
    recorder.classified(c);
    return recorder.finish(to_text(c, labeller->labels()));
  }
  if (const auto* tagger = can<WordLabeller>(model)) return record_words(model, *tagger, tokenizer, text, options);
  if (const auto* labeller = can<TokenLabeller>(model)) {
    Recorder recorder(model, tokenizer, options, text);
    const TaggedText found = tag_texts(*labeller, tokenizer, {text}, {.trace = recorder.trace()})[0];
    recorder.tagged(found);
    return recorder.finish(marked(found));
  }
  if (const auto* encoder = can<Encoder>(model)) {
    Recorder recorder(model, tokenizer, options, text);
    const Framed f = framed(tokenizer, text, std::nullopt, encoder->longest());
    if (!f.tokens.ids.empty()) encoder->encode(source_of({f}, tokenizer.special().pad), {.trace = recorder.trace()});
    recorder.read(f.tokens, text);
    return recorder.finish("");
  }
  throw Error(Error::unsupported, "explain: found a model of family '{}', expected one that answers texts",
              model.family());
}

}  // namespace fovea
