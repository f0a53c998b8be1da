#include "fovea/explain/given.h"

#include <algorithm>

#include "fovea/generate/framed.h"

namespace fovea {
namespace {

Source source_of_ids(const std::vector<int64_t>& ids) {
  const auto count = static_cast<int64_t>(ids.size());
  return {tensor({1, count}, ids), tensor({1}, std::vector<int64_t>{count})};
}

// The start and what is written, which is what the decoder reads; the target has the end behind it instead.
void write_target(const Generator& writer, const Source& source, const Tokens& target, const std::string& text,
                  Recorder& recorder) {
  const SpecialIds special = writer.special_ids();
  const int64_t size = static_cast<int64_t>(text.size());
  Tokens prefix = {{special.bos}, {{0, 0}}}, written = target;
  prefix.ids.insert(prefix.ids.end(), target.ids.begin(), target.ids.end());
  prefix.spans.insert(prefix.spans.end(), target.spans.begin(), target.spans.end());
  const std::vector<int64_t> ends = writer.end_ids();
  written.ids.push_back(ends.empty() ? special.eos : ends[0]), written.spans.push_back({size, size});
  writer.logits(source, tensor({1, static_cast<int64_t>(prefix.ids.size())}, prefix.ids), {.trace = recorder.trace()});
  recorder.read(written, text, "target");
  recorder.read(prefix, text, "prefix");
}

// As many different tokens as there are, none of them special, spelled with spaces between.
Tokens random_tokens(const Tokenizer& tokenizer, const Random& random, int64_t length, std::string& text) {
  const SpecialIds& s = tokenizer.special();
  Tokens tokens;
  for (uint64_t draw = 0; static_cast<int64_t>(tokens.ids.size()) < length && draw < 1000; ++draw) {
    const auto id = static_cast<int64_t>(random.below(static_cast<uint64_t>(tokenizer.size()), draw));
    const std::string piece = tokenizer.piece(id);
    const bool special = id == s.pad || id == s.bos || id == s.eos || id == s.unk || id == s.mask || piece.empty() ||
                         piece.front() == '<' || piece.front() == '[' || invalid_utf8(piece) != std::string_view::npos;
    if (special || std::count(tokens.ids.begin(), tokens.ids.end(), id) > 0) continue;
    tokens.ids.push_back(id);
  }
  const std::vector<int64_t> once = tokens.ids;
  tokens.ids.insert(tokens.ids.end(), once.begin(), once.end());
  for (int64_t id : tokens.ids) {
    const auto begin = static_cast<int64_t>(text.size());
    text += tokenizer.piece(id) + " ";
    tokens.spans.push_back({begin, static_cast<int64_t>(text.size()) - 1});
  }
  return tokens;
}

bool reads(int64_t longest, size_t tokens) { return longest == 0 || static_cast<int64_t>(tokens) <= longest; }

// Whatever the model does with a text that it only reads.
void read_alone(const Model& model, const Source& source, const Context& c) {
  if (const auto* labeller = can<TextLabeller>(model))
    labeller->logits(source, c);
  else if (const auto* tokens = can<TokenLabeller>(model))
    tokens->token_logits(source, c);
  else if (const auto* encoder = can<Encoder>(model))
    encoder->encode(source, c);
}

}  // namespace

Recording record_pair(const Model& model, const Tokenizer& tokenizer, const std::string& source,
                      const std::string& target, const RecordOptions& options) {
  const auto& writer = as<Generator>(model);
  require(can<Encoder>(model) != nullptr, "explain: found a model of family '{}', expected one that translates",
          model.family());
  Recorder recorder(model, tokenizer, options, source);
  const Tokens read = source_tokens(tokenizer, tokenizer.encode(source));
  recorder.read(read, source);
  write_target(writer, source_of_ids(read.ids), tokenizer.encode(target), target, recorder);
  return recorder.finish(target);
}

Recording record_repeated(const Model& model, const Tokenizer& tokenizer, const Random& random, int64_t length) {
  std::string text;
  const Tokens tokens = random_tokens(tokenizer, random, length, text);
  Recorder recorder(model, tokenizer, {}, text);
  const Context c = {.trace = recorder.trace()};
  const auto* writer = can<Generator>(model);
  const auto* encoder = can<Encoder>(model);
  const bool word_by_word = can<WordLabeller>(model) != nullptr;
  const int64_t longest = writer ? writer->longest() : encoder ? encoder->longest() : 0;
  if (tokens.ids.empty() || word_by_word || !reads(longest, tokens.ids.size() + 3)) return recorder.finish("");
  if (writer && !encoder) {
    Tokens all = tokens;
    if (const int64_t bos = writer->special_ids().bos; bos >= 0)
      all.ids.insert(all.ids.begin(), bos), all.spans.insert(all.spans.begin(), {0, 0});
    writer->logits({}, tensor({1, static_cast<int64_t>(all.ids.size())}, all.ids), c);
    recorder.read(all, text, "text");
    return recorder.finish("");
  }
  const Tokens read = writer ? source_tokens(tokenizer, tokens) : tokenizer.frame(tokens);
  recorder.read(read, text);
  if (writer)
    write_target(*writer, source_of_ids(read.ids), tokens, text, recorder);
  else
    read_alone(model, source_of_ids(read.ids), c);
  return recorder.finish("");
}

}  // namespace fovea
