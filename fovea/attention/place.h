// Where a model attends: every attention has a place, whose rows and columns are named sequences. A module lists its places under
// the names that its Context gets, as it lists its weights.
//
//   void EncoderLayer::places(const Places& p) const { self_.places(p.at("self"), {.rows = "source", .columns = "source"}); }
//   for (const Place& place : model.places()) …                    // {"encoder.0.self", self, 8 heads, "source" × "source"}
//
// The sequences: "source" is what an encoder reads; "target" is what a decoder writes, and "prefix" what it has read when it
// writes it: the start, and what was written before; "text" is what a language model reads and goes on with; "label" is the one
// answer of a model that pools; "patches" are the parts of a picture, behind the tokens that a model puts before them; "frames" are
// the parts of a sound.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

struct Place {
  enum class Kind { self, cross, pooling, pointer };  // a pointer says what may be copied, and is no layer

  std::string path = {};
  Kind kind = Kind::self;
  int64_t heads = 1, key_heads = 1;
  std::string rows = {}, columns = {};  // which sequence attends, and to which
  bool causal = false;                  // row i sees columns 0 to i alone
  bool residual = true;                 // what it gives is added to the row's own state, which goes past it
};

constexpr std::string_view name(Place::Kind kind) {
  constexpr std::string_view names[] = {"self", "cross", "pooling", "pointer"};
  return names[static_cast<int>(kind)];
}

// Whoever gathers places; at() names what is below, as Context::at() does.
class Places final {
 public:
  explicit Places(std::vector<Place>& all) : all_(&all) {}

  Places at(std::string_view name) const {
    Places below = *this;
    if (!path_.empty()) below.path_ += '.';
    below.path_ += name;
    return below;
  }
  template <class Layer>
  void layers(const std::vector<Layer>& layers) const {
    for (size_t i = 0; i < layers.size(); ++i) layers[i].places(at(std::to_string(i)));
  }
  void add(Place place) const {
    place.path = path_;
    all_->push_back(std::move(place));
  }

 private:
  std::vector<Place>* all_;
  std::string path_ = {};
};

// What decoders of encoder-decoders have at each layer.
inline const Place source_to_itself = {.rows = "source", .columns = "source"};
inline const Place target_to_prefix = {.rows = "target", .columns = "prefix", .causal = true};
inline const Place target_to_source = {.kind = Place::Kind::cross, .rows = "target", .columns = "source"};
inline const Place text_to_itself = {.rows = "text", .columns = "text", .causal = true};

}  // namespace fovea
