#include "fovea/serve/session.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fovea/base/catalogue.h"
#include "fovea/base/text.h"
#include "fovea/explain/faithfulness.h"
#include "fovea/explain/record_file.h"
#include "fovea/explain/steps.h"
#include "fovea/explain/window.h"
#include "fovea/generate/config.h"
#include "fovea/models/zoo.h"
#include "fovea/serve/page.h"

namespace fovea {
namespace {

constexpr size_t most_models = 2;
constexpr std::string_view with_precision = " @ ";  // "en-de @ int8": a model with its weights in another precision

void append(std::string& bytes, const void* data, size_t size) { bytes.append(static_cast<const char*>(data), size); }

}  // namespace

const Pretrained& ViewSession::loaded(const std::string& model) {
  const size_t mark = model.rfind(with_precision);
  const std::string name = model.substr(0, mark);
  if (std::find(options_.models.begin(), options_.models.end(), name) == options_.models.end())
    throw_unknown("model", name, options_.models);
  for (size_t i = 0; i < loaded_.size(); ++i) {
    if (loaded_[i].first != model) continue;
    std::rotate(loaded_.begin(), loaded_.begin() + static_cast<std::ptrdiff_t>(i),
                loaded_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    return *loaded_.front().second;
  }
  LoadOptions load = options_.load;
  if (mark != std::string::npos) load.precision = parse_precision(model.substr(mark + with_precision.size()));
  auto fresh = std::make_unique<Pretrained>(load_pretrained(find_model(name), load));
  if (loaded_.size() == most_models) loaded_.pop_back();
  loaded_.emplace_front(model, std::move(fresh));
  return *loaded_.front().second;
}

void ViewSession::check_text(const std::string& text, size_t most_bytes) const {
  require(text.size() <= most_bytes, "view: found a text of {} bytes, expected at most {}", text.size(), most_bytes);
  require(invalid_utf8(text) == std::string_view::npos, "view: found a text that is not UTF-8");
}

Recording ViewSession::recorded(const std::string& model, const std::string& text) {
  check_text(text, options_.most_text_bytes);
  const Pretrained& p = loaded(model);
  RecordOptions options = {.keep = true};
  if (can<Generator>(*p.model)) options.generation = read_generation_config(p.folder);
  if (const Reads reads = what_is_read(*p.model); reads != Reads::texts) {
    const bool named = std::find(options_.files.begin(), options_.files.end(), text) != options_.files.end();
    const char* what = reads == Reads::pictures ? "picture" : "recording";
    require(named, "{} reads a {}, and only one that was named at the start: fovea view -m {} FILE", model, what,
            model);
    if (reads == Reads::sounds) options.places = {"encoder", "decoder"};
  }
  Recording seen = record(p, text, options);
  seen.model = model;
  return seen;
}

std::string ViewSession::run(const std::string& model, const std::string& text) {
  const std::lock_guard lock(mutex_);
  Recording seen = recorded(model, text);
  const int64_t number = next_++;
  std::string json = page_json(seen, number);
  recordings_[number] = std::make_shared<const Recording>(std::move(seen));
  drop_old();
  return json;
}

std::string ViewSession::open(Recording seen) {
  const std::lock_guard lock(mutex_);
  const int64_t number = next_++;
  std::string json = page_json(seen, number);
  opened_[number] = std::make_shared<const Recording>(std::move(seen));
  return json;
}

// Of the oldest first, until those that are left are few and short; the latest stays.
void ViewSession::drop_old() {
  auto tokens = [&] {
    size_t sum = 0;
    for (const auto& [number, seen] : recordings_)
      for (const auto& [name, sequence] : seen->sequences) sum += sequence.size();
    return sum;
  };
  while (recordings_.size() > 1 && (recordings_.size() > options_.most_recordings || tokens() > options_.most_tokens))
    recordings_.erase(recordings_.begin());
}

std::shared_ptr<const Recording> ViewSession::recording(int64_t run) {
  const std::lock_guard lock(mutex_);
  for (const auto* all : {&recordings_, &opened_})
    if (const auto found = all->find(run); found != all->end()) return found->second;
  throw Error(Error::not_found, "view: found no run {}, expected one of the latest {}", run, options_.most_recordings);
}

std::string ViewSession::explain(const Explain& e) {
  const std::lock_guard lock(mutex_);
  check_text(e.text, options_.most_explained_bytes);
  require(e.answer.size() <= 1000, "view: found an answer of {} bytes, expected at most 1000", e.answer.size());
  const Pretrained& p = loaded(e.model);
  require_texts(p, "explain");
  AskOptions options = {.answer = e.answer};
  if (can<Generator>(*p.model)) options.generation = read_generation_config(p.folder);
  const auto question = ask(*p.model, *p.tokenizer, e.text, options);
  const MethodOptions method = {.erasing = erasing_named(e.erase)};
  const Attributions found = attribute(*question, e.methods, method);
  if (!e.check) return explained_json({to_json(found), ""});
  const Faithfulness checked = check(*question, found, {.erasing = method.erasing, .method = method});
  return explained_json({to_json(found), to_json(checked)});
}

std::string ViewSession::tile(const Tile& t) {
  const std::shared_ptr<const Recording> seen = recording(t.run);
  const RecordedPlace& p = seen->at(t.place);
  require(0 <= t.head && t.head < static_cast<int64_t>(p.heads.size()) && 0 <= t.level && t.level <= 30 && 0 <= t.row &&
              t.row < p.rows() && 0 <= t.column && t.column < p.columns() && 0 < t.rows && t.rows <= most_squares &&
              0 < t.columns && t.columns <= most_squares,
          "view: found a tile outside of the {} × {} weights of {}", p.rows(), p.columns(), t.place);
  const int64_t rows = std::min(p.rows() - t.row, t.rows << t.level),
                columns = std::min(p.columns() - t.column, t.columns << t.level);
  const bool stored = p.pooled.largest && t.level >= p.pooled.level;
  require(((rows - 1) >> t.level) + 1 <= most_squares / (((columns - 1) >> t.level) + 1) &&
              (stored || rows <= most_cells / columns),
          "view: found a tile of {} × {} weights at level {}, expected at most {} squares of {} weights", rows, columns,
          t.level, most_squares, most_cells);
  const Pooled found = pooled(p, static_cast<size_t>(t.head), {t.level, t.row, t.column, t.rows, t.columns});
  std::string bytes;
  const int32_t sizes[] = {static_cast<int32_t>(found.rows), static_cast<int32_t>(found.columns)};
  append(bytes, sizes, sizeof(sizes));
  append(bytes, found.largest.data(), found.largest.size() * sizeof(float));
  if (t.level > 0) append(bytes, found.mean.data(), found.mean.size() * sizeof(float));
  return bytes;
}

std::string ViewSession::steps(const Row& r) {
  const std::shared_ptr<const Recording> seen = recording(r.run);
  require(0 <= r.head, "view: found head {}, expected 0 or more", r.head);
  const WorkedRow row = worked_row(seen->at(r.place), static_cast<size_t>(r.head), r.row);
  nlohmann::ordered_json json = {{"width", row.width},
                                 {"brought_width", row.brought_width},
                                 {"scale", row.scale},
                                 {"lse", row.lse},
                                 {"q", row.q},
                                 {"others", row.others},
                                 {"context", row.context}};
  for (const WorkedRow::Key& k : row.keys)
    json["keys"].push_back({{"column", k.column},
                            {"k", k.k},
                            {"brings", k.brings},
                            {"product", k.product},
                            {"score", k.score},
                            {"weight", k.weight}});
  return json.dump();
}

}  // namespace fovea
