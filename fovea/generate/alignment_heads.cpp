#include "fovea/generate/alignment_heads.h"

#include <nlohmann/json.hpp>

#include "fovea/base/error.h"

namespace fovea {
namespace {

struct Published {
  size_t layers;
  int64_t heads;
  bool english;
  std::vector<AlignmentHead> found;
};

const std::vector<Published>& published() {
  static const std::vector<Published> all = {
      {4, 6, true, {{1, 0}, {2, 0}, {2, 5}, {3, 0}, {3, 1}, {3, 2}, {3, 3}, {3, 4}}},   // tiny.en
      {4, 6, false, {{2, 2}, {3, 0}, {3, 2}, {3, 3}, {3, 4}, {3, 5}}},                  // tiny
      {6, 8, true, {{3, 3}, {4, 7}, {5, 1}, {5, 5}, {5, 7}}},                           // base.en
      {6, 8, false, {{3, 1}, {4, 2}, {4, 3}, {4, 7}, {5, 1}, {5, 2}, {5, 4}, {5, 6}}},  // base
      {12,
       12,
       true,
       {{6, 6},
        {7, 0},
        {7, 3},
        {7, 8},
        {8, 2},
        {8, 5},
        {8, 7},
        {9, 0},
        {9, 4},
        {9, 8},
        {9, 10},
        {10, 0},
        {10, 1},
        {10, 2},
        {10, 3},
        {10, 6},
        {10, 11},
        {11, 2},
        {11, 4}}},                                                                                         // small.en
      {12, 12, false, {{5, 3}, {5, 9}, {8, 0}, {8, 4}, {8, 7}, {8, 8}, {9, 0}, {9, 7}, {9, 9}, {10, 5}}},  // small
      {24,
       16,
       true,
       {{11, 4},
        {14, 1},
        {14, 12},
        {14, 14},
        {15, 4},
        {16, 0},
        {16, 4},
        {16, 9},
        {17, 12},
        {17, 14},
        {18, 7},
        {18, 10},
        {18, 15},
        {20, 0},
        {20, 3},
        {20, 9},
        {20, 14},
        {21, 12}}},                                                               // medium.en
      {24, 16, false, {{13, 15}, {15, 4}, {15, 15}, {16, 1}, {20, 0}, {23, 4}}},  // medium
      {4, 20, false, {{2, 4}, {2, 11}, {3, 3}, {3, 6}, {3, 11}, {3, 14}}},        // large-v3-turbo
  };
  return all;
}

std::vector<int64_t> heads_of_layers(const Model& model) {
  std::vector<int64_t> heads;
  for (const Place& place : model.places())
    if (place.kind == Place::Kind::cross) heads.push_back(place.heads);
  return heads;
}

}  // namespace

std::vector<AlignmentHead> listed_heads(const nlohmann::json& list, const Model& model, const std::string& where) {
  const std::vector<int64_t> heads = heads_of_layers(model);
  std::vector<AlignmentHead> all;
  for (const auto& pair : list) {
    const bool numbers =
        pair.is_array() && pair.size() == 2 && pair[0].is_number_integer() && pair[1].is_number_integer();
    const int64_t layer = numbers ? pair[0].get<int64_t>() : -1, head = numbers ? pair[1].get<int64_t>() : -1;
    if (layer < 0 || layer >= static_cast<int64_t>(heads.size()) || head < 0 ||
        head >= heads[static_cast<size_t>(layer)])
      throw Error(Error::corrupt, "{}: found {} in \"alignment_heads\", expected a layer below {} and a head of it",
                  where, pair.dump(), heads.size());
    all.push_back({layer, head});
  }
  return all;
}

std::vector<AlignmentHead> usual_heads(const Model& model, bool english) {
  const std::vector<int64_t> heads = heads_of_layers(model);
  for (const Published& p : published())
    if (p.layers == heads.size() && p.heads == heads[0] && p.english == english) return p.found;
  std::vector<AlignmentHead> all;
  for (size_t layer = heads.size() / 2; layer < heads.size(); ++layer)
    for (int64_t head = 0; head < heads[layer]; ++head) all.push_back({static_cast<int64_t>(layer), head});
  return all;
}

}  // namespace fovea
