#include "fovea/data/text/jinja/arguments.h"

#include <algorithm>

namespace fovea::jinja {

Bound::Bound(const Arguments& arguments, std::string_view who, std::initializer_list<std::string_view> names)
    : who_(who), names_(names), given_(names.size(), nullptr) {
  if (arguments.list.size() > names_.size()) {
    throw Fault(Error::invalid, "{}: found {} arguments, expected at most {}", who, arguments.list.size(),
                names_.size());
  }
  for (size_t i = 0; i < arguments.list.size(); ++i) given_[i] = &arguments.list[i];
  for (const auto& [name, value] : arguments.named) {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end())
      throw Fault(Error::invalid, "{}: found an argument '{}', which it does not take", who, name);
    given_[static_cast<size_t>(found - names_.begin())] = &value;
  }
}

const Value& Bound::value(size_t i) const {
  if (!given_[i]) throw Fault(Error::invalid, "{}: expected an argument '{}'", who_, names_[i]);
  return *given_[i];
}

const std::string& Bound::text(size_t i) const {
  if (const std::string* text = value(i).text()) return *text;
  throw Fault(Error::invalid, "{}: found '{}' as '{}', expected a str", who_, type_name(value(i)), names_[i]);
}

int64_t Bound::whole(size_t i) const {
  if (value(i).is_whole()) return value(i).whole();
  throw Fault(Error::invalid, "{}: found '{}' as '{}', expected an int", who_, type_name(value(i)), names_[i]);
}

}  // namespace fovea::jinja
