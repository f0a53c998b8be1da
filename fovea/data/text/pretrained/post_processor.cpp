#include "fovea/data/text/pretrained/post_processor.h"

#include "fovea/base/error.h"

namespace fovea {

Tokens PostProcessor::frame(const Tokens& text, const Tokens* second) const {
  const std::vector<Item>& items = second ? pair : single;
  Tokens result;
  if (items.empty()) {
    require(!second, "tokenizer: found two texts, expected one; it has no mark to stand between them");
    result = text;
    result.types.assign(text.ids.size(), 0);
    return result;
  }
  int64_t at = 0;  // of the text that stands there
  for (const Item& item : items) {
    if (item.text < 0) {
      for (int64_t id : item.ids) {
        result.ids.push_back(id);
        result.spans.push_back({at, at});
        result.types.push_back(item.type);
      }
      continue;
    }
    const Tokens& from = item.text == 0 ? text : *second;
    result.ids.insert(result.ids.end(), from.ids.begin(), from.ids.end());
    result.spans.insert(result.spans.end(), from.spans.begin(), from.spans.end());
    result.types.insert(result.types.end(), from.ids.size(), item.type);
    if (!from.spans.empty()) at = from.spans.back().end;
  }
  return result;
}

PostProcessor bert_processor(FrameIds ids) {
  PostProcessor p;
  p.single = {{-1, {ids.cls}, 0}, {0, {}, 0}, {-1, {ids.sep}, 0}};
  p.pair = {{-1, {ids.cls}, 0}, {0, {}, 0}, {-1, {ids.sep}, 0}, {1, {}, 1}, {-1, {ids.sep}, 1}};
  return p;
}

PostProcessor roberta_processor(FrameIds ids) {
  PostProcessor p;
  p.single = {{-1, {ids.cls}, 0}, {0, {}, 0}, {-1, {ids.sep}, 0}};
  p.pair = {{-1, {ids.cls}, 0}, {0, {}, 0}, {-1, {ids.sep, ids.sep}, 0}, {1, {}, 0}, {-1, {ids.sep}, 0}};
  p.trim_offsets = p.add_prefix_space = true;
  return p;
}

}  // namespace fovea
