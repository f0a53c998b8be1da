#include "fovea/explain/picture_looks.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/explain/alignment.h"
#include "fovea/tensor/index.h"

namespace fovea {
namespace {

// Of weights over all tokens those of the parts, added up into `sum`.
void add_parts(std::vector<double>& sum, const Tensor& row, const RecordedPicture& p, double share) {
  const float* weights = row.data<float>() + p.extra;
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += share * static_cast<double>(weights[i]);
}

PictureMap empty_map(const RecordedPicture& p, std::string title) {
  return {p.picture, p.parts_down, p.parts_across, std::vector<double>(static_cast<size_t>(p.parts())),
          std::move(title)};
}

PictureLooks of_words(const RecordedPicture& picture, const RecordedPlace& place, const RecordedSequence& target) {
  PictureLooks looks;
  const std::vector<Span> words = words_of(target.text);
  for (const Span word : words) {
    PictureMap map = empty_map(picture, std::string(piece_of(target.text, word)));
    std::vector<int64_t> rows;
    for (size_t i = 0; i < target.spans.size(); ++i)
      if (target.spans[i].begin >= word.begin && target.spans[i].begin < word.end && target.spans[i].size() > 0)
        rows.push_back(static_cast<int64_t>(i));
    const double share = 1.0 / static_cast<double>(std::max<size_t>(1, rows.size() * place.heads.size()));
    for (const int64_t row : rows)
      for (size_t head = 0; head < place.heads.size(); ++head)
        add_parts(map.weights, place.part(head, {row, row + 1}, {}), picture, share);
    looks.maps.push_back(std::move(map));
  }
  return looks;
}

PictureMap of_rows(const RecordedPicture& p, const Tensor& rows, std::string title) {
  PictureMap map = empty_map(p, std::move(title));
  const int64_t count = p.extra > 0 ? 1 : rows.size(0);
  for (int64_t i = 0; i < count; ++i)
    add_parts(map.weights, rows.slice(0, i, i + 1).contiguous(), p, 1.0 / static_cast<double>(count));
  return map;
}

}  // namespace

PictureLooks looks_at_picture(const Recording& seen) {
  require(seen.picture.has_value(), "picture: found a recording of '{}' without one", seen.text);
  const RecordedPicture& picture = *seen.picture;
  for (auto place = seen.places.rbegin(); place != seen.places.rend(); ++place)
    if (place->place.rows == "target" && place->place.columns == "patches")
      return of_words(picture, *place, seen.rows_of(*place));
  PictureLooks looks = {.maps = {}, .in_a_row = 1};
  for (const RecordedPlace& p : seen.places) {
    looks.in_a_row = std::max(looks.in_a_row, p.heads.size());
    for (size_t head = 0; head < p.heads.size(); ++head)
      looks.maps.push_back(of_rows(picture, p.part(head, {0, picture.extra > 0 ? 1 : p.rows()}, {}),
                                   fmt::format("{} {}", p.place.path, p.heads[head])));
  }
  if (picture.rollout) looks.maps.push_back(of_rows(picture, picture.rollout, "rollout"));
  return looks;
}

}  // namespace fovea
