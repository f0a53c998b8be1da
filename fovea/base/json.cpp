#include "fovea/base/json.h"

#include <nlohmann/json.hpp>

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr int most_levels = 100;
constexpr size_t most_ordered_keys = 10'000;  // ordered_json looks a key up by going through all of them

}  // namespace

template <class Json>
Json parse_json(std::string_view text, std::string_view where) {
  // The library takes a NUL for the end of the text.
  if (const size_t at = text.find('\0'); at != text.npos)
    throw Error(Error::corrupt, "{}: not valid JSON: found a NUL at byte {}", where, at);
  size_t keys = 0;
  const auto check = [&](int depth, typename Json::parse_event_t event, Json&) {
    const bool opens = event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    if (opens && depth >= most_levels) throw Error(Error::corrupt, "{}: nested more than {} deep", where, most_levels);
    if (std::is_same_v<Json, nlohmann::ordered_json> && event == Json::parse_event_t::key &&
        ++keys > most_ordered_keys) {
      throw Error(Error::corrupt, "{}: found more than {} keys", where, most_ordered_keys);
    }
    return true;
  };
  try {
    return Json::parse(text, check);
  } catch (const typename Json::exception& e) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: …": the bracket tells a user nothing.
    std::string_view what = e.what();
    if (const size_t end = what.find("] "); end != what.npos) what.remove_prefix(end + 2);
    throw Error(Error::corrupt, "{}: not valid JSON: {}", where, what);
  }
}

template nlohmann::json parse_json<nlohmann::json>(std::string_view, std::string_view);
template nlohmann::ordered_json parse_json<nlohmann::ordered_json>(std::string_view, std::string_view);

}  // namespace fovea
