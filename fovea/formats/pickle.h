// The little of Python's pickle that tensors are stored with: numbers, texts, tuples, lists, dictionaries, and tensors of PyTorch. Whatever
// else a pickle may ask for (calling functions, making objects) is an Error, and nothing of it is done.
//
//   const Pickle pickle(bytes, "model.pt");
//   for (const auto& [key, value] : pickle[pickle.root()].entries) pickle[key].text, pickle[value].integer;
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fovea {

class Pickle final {
 public:
  using Place = size_t;  // of a value among all values
  static constexpr Place nowhere = static_cast<Place>(-1);

  struct Value {
    enum Kind { none, flag, integer_number, number, text_value, list, dictionary, name, storage, tensor } kind = none;
    int64_t integer = 0;  // and 0 or 1 of a flag
    double real = 0;
    std::string text = {};                              // of a name: "torch HalfStorage"
    std::vector<Place> items = {};                      // of a list or tuple
    std::vector<std::pair<Place, Place>> entries = {};  // of a dictionary
    // Of a storage and of a tensor in it: the storage's type and key; and its place and shape there, counted in elements.
    std::string storage_type = {}, storage_key = {};
    int64_t offset = 0;
    std::vector<int64_t> shape = {}, strides = {};
  };

  Pickle(std::string_view bytes, std::string_view where);  // an Error for everything that is not known here

  Place root() const { return root_; }
  const Value& operator[](Place place) const { return values_[place]; }

 private:
  friend class PickleReader;
  std::deque<Value> values_;
  Place root_ = nowhere;
};

}  // namespace fovea
