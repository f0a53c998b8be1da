// A recording without its weights, as JSON: what a trace file's metadata has, and what the page is told.
//
//   nlohmann::ordered_json json = to_json(recording);   json["places"].push_back(place_json(recording.places[0]));
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "fovea/explain/recording.h"

namespace fovea {

// "places" is an empty list. Of what was seen "picture": {"png": a data URL, "size": [width, height], "parts": [down, across], "extra",
// "rollout"}, of what was heard "sound": {"seconds", "size": [bands, frames], "spectrogram", "loudness", "words": [{"text", "start",
// "end", "probability", "rows"}], "state_seconds", "heard", "states"}; bytes and f32 (little endian) in base64.
nlohmann::ordered_json to_json(const Recording&);
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
