#include "fovea/serve/session.h"

#include <algorithm>
#include <cstring>

#include "fovea/base/catalogue.h"
#include "fovea/base/text.h"
#include "fovea/explain/faithfulness.h"
#include "fovea/explain/record_file.h"
#include "fovea/generate/config.h"
#include "fovea/models/zoo.h"
#include "fovea/serve/page.h"

namespace fovea {
namespace {

constexpr size_t most_models = 2;
constexpr int64_t most_tile_squares = 4096, block_cells = int64_t{1} << 22;

void append(std::string& bytes, const void* data, size_t size) { bytes.append(static_cast<const char*>(data), size); }

}  // namespace

const Pretrained& ViewSession::loaded(const std::string& model) {
  if (std::find(options_.models.begin(), options_.models.end(), model) == options_.models.end())
    throw_unknown("model", model, options_.models);
  for (size_t i = 0; i < loaded_.size(); ++i) {
    if (loaded_[i].first != model) continue;
    std::rotate(loaded_.begin(), loaded_.begin() + static_cast<std::ptrdiff_t>(i),
                loaded_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    return *loaded_.front().second;
  }
  auto fresh = std::make_unique<Pretrained>(load_pretrained(find_model(model), options_.load));
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
  RecordOptions options;
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
  recordings_[number] = std::move(seen);
  if (recordings_.size() > options_.most_recordings) recordings_.erase(recordings_.begin());
  return json;
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
  const std::lock_guard lock(mutex_);
  const auto found = recordings_.find(t.run);
  if (found == recordings_.end())
    throw Error(Error::not_found, "view: found no run {}, expected one of the latest {}", t.run,
                options_.most_recordings);
  const RecordedPlace& p = found->second.at(t.place);
  require(0 <= t.head && t.head < static_cast<int64_t>(p.heads.size()) && 0 <= t.level && t.level <= 30 && 0 <= t.row &&
              t.row < p.rows() && 0 <= t.column && t.column < p.columns() && 0 < t.rows &&
              t.rows <= most_tile_squares && 0 < t.columns && t.columns <= most_tile_squares,
          "view: found a tile outside of the {} × {} weights of {}", p.rows(), p.columns(), t.place);
  const int64_t side = int64_t{1} << t.level, row_end = std::min(p.rows(), t.row + t.rows * side),
                column_end = std::min(p.columns(), t.column + t.columns * side);
  const int64_t rows = (row_end - t.row + side - 1) / side, columns = (column_end - t.column + side - 1) / side;
  std::vector<float> largest(static_cast<size_t>(rows * columns)), mean(largest.size());
  const int64_t block = std::max<int64_t>(1, block_cells / (column_end - t.column));
  for (int64_t begin = t.row; begin < row_end; begin += block) {
    const Tensor w =
        p.part(static_cast<size_t>(t.head), {begin, std::min(row_end, begin + block)}, {t.column, column_end});
    for (int64_t i = 0; i < w.size(0); ++i) {
      const float* row = w.data<float>() + i * w.size(1);
      const int64_t at = ((begin + i - t.row) >> t.level) * columns;
      for (int64_t j = 0; j < w.size(1); ++j) {
        const auto square = static_cast<size_t>(at + (j >> t.level));
        largest[square] = std::max(largest[square], row[j]), mean[square] += row[j];
      }
    }
  }
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      mean[static_cast<size_t>(i * columns + j)] /= static_cast<float>(
          std::min(side, row_end - t.row - i * side) * std::min(side, column_end - t.column - j * side));
  std::string bytes;
  const int32_t sizes[] = {static_cast<int32_t>(rows), static_cast<int32_t>(columns)};
  append(bytes, sizes, sizeof(sizes));
  append(bytes, largest.data(), largest.size() * sizeof(float));
  append(bytes, mean.data(), mean.size() * sizeof(float));
  return bytes;
}

}  // namespace fovea
