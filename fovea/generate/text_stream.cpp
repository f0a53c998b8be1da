#include "fovea/generate/text_stream.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/text/utf8.h"

namespace fovea {
namespace {

constexpr size_t context = 4;       // tokens before that tell how one is spelled
constexpr size_t most_waiting = 8;  // tokens of one character; more are no character

// Whether more bytes can still change the last character: it is cut, or what a decoder writes for one that is.
bool ends_uncertain(std::string_view text) {
  if (text.ends_with("\uFFFD")) return true;
  for (size_t back = 1; back <= std::min<size_t>(4, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    const size_t length = byte < 0x80 ? 1 : byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
    return back < length;
  }
  return false;
}

}  // namespace

TextStream::TextStream(const Tokenizer& tokenizer, const std::vector<int64_t>& before, std::vector<std::string> stops)
    : tokenizer_(tokenizer), stops_(std::move(stops)) {
  for (const std::string& stop : stops_)
    require(!stop.empty(), "stop: found an empty text, expected at least a character");
  ids_.assign(before.end() - static_cast<std::ptrdiff_t>(std::min(context, before.size())), before.end());
  settled_ = ids_.size();
}

std::string TextStream::add(int64_t id) {
  if (stopped_) return {};
  ids_.push_back(id);
  const auto end = static_cast<int64_t>(text_.size());
  spans_.push_back({end, end});
  const std::string known = tokenizer_.decode(std::span(ids_).first(settled_)), whole = tokenizer_.decode(ids_);
  if (ends_uncertain(whole) && ids_.size() - settled_ < most_waiting) return {};
  take(whole.size() > known.size() ? whole.substr(known.size()) : "");
  ids_.erase(ids_.begin(), ids_.end() - static_cast<std::ptrdiff_t>(std::min(context, ids_.size())));
  settled_ = ids_.size();
  size_t held = 0;  // bytes that may begin a stop string
  for (const std::string& stop : stops_)
    for (size_t length = std::min(stop.size() - 1, text_.size()); length > held; --length)
      if (text_.ends_with(std::string_view(stop).substr(0, length))) held = length;
  return certain(stopped_ ? text_.size() : text_.size() - held);
}

// The text ends before the first stop string, wherever it begins.
void TextStream::take(const std::string& more) {
  const size_t before = text_.size();
  text_ += more;
  spans_.back().end = static_cast<int64_t>(text_.size());
  size_t cut = std::string::npos;
  for (const std::string& stop : stops_)
    cut = std::min(cut, text_.find(stop, before > stop.size() ? before - stop.size() : 0));
  if (cut == std::string::npos) return;
  stopped_ = true;
  text_.resize(cut);
  for (Span& span : spans_)
    span = {std::min<int64_t>(span.begin, static_cast<int64_t>(cut)),
            std::min<int64_t>(span.end, static_cast<int64_t>(cut))};
}

std::string TextStream::certain(size_t end) {
  if (end <= handed_on_) return {};
  const std::string more = text_.substr(handed_on_, end - handed_on_);
  handed_on_ = end;
  return more;
}

std::string TextStream::finish() {
  if (!stopped_ && ids_.size() > settled_) {
    const std::string known = tokenizer_.decode(std::span(ids_).first(settled_)), whole = tokenizer_.decode(ids_);
    if (whole.size() > known.size()) take(whole.substr(known.size()));
    settled_ = ids_.size();
  }
  return certain(text_.size());
}

}  // namespace fovea
