// A recording without its weights, as JSON: what a trace file's metadata has, and what the page is told.
//
//   nlohmann::ordered_json json = to_json(recording);   json["places"].push_back(place_json(recording.places[0]));
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "fovea/explain/recording.h"

namespace fovea {

nlohmann::ordered_json to_json(const Recording&);  // "places" is an empty list
nlohmann::ordered_json place_json(const RecordedPlace&);
nlohmann::ordered_json alternatives_json(const std::vector<Alternative>&);

struct TraceJson {
  struct Place {
    fovea::Place place;
    std::vector<int64_t> heads;
    int64_t rows = 0, columns = 0;
    std::vector<std::string> kept;
    double scale = 1;
  };
  Recording recording;  // without places
  std::vector<Place> places;
};
// From outside: an Error of kind corrupt for whatever is missing, of another type, or does not go together.
TraceJson read_trace_json(std::string_view text, const std::string& where);

}  // namespace fovea
