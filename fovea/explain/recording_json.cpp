#include "fovea/explain/recording_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "fovea/base/base64.h"
#include "fovea/base/json.h"

namespace fovea {
namespace {

using Json = nlohmann::ordered_json;
using Read = nlohmann::json;

double rounded(double p) { return std::round(p * 1e6) / 1e6; }

Json sequence_json(const RecordedSequence& s) {
  Json spans = Json::array();
  for (Span span : s.spans) spans.push_back({span.begin, span.end});
  Json json = {{"text", s.text}, {"ids", s.ids}, {"pieces", s.pieces}, {"spans", spans}};
  if (!s.probabilities.empty()) {
    json["probabilities"] = Json::array();
    for (double p : s.probabilities) json["probabilities"].push_back(std::isnan(p) ? Json() : Json(rounded(p)));
  }
  if (!s.alternatives.empty()) {
    json["alternatives"] = Json::array();
    for (const std::vector<Alternative>& each : s.alternatives) json["alternatives"].push_back(alternatives_json(each));
  }
  return json;
}

std::string packed(const Tensor& numbers) {
  const Tensor all = numbers.contiguous();
  return base64(
      {reinterpret_cast<const char*>(all.data<float>()), static_cast<size_t>(all.elements()) * sizeof(float)});
}

std::string packed(const std::vector<uint8_t>& bytes) {
  return base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Json picture_json(const RecordedPicture& p) {
  Json json = {{"png", "data:image/png;base64," + base64(png_bytes(p.picture))},
               {"size", {p.picture.width, p.picture.height}},
               {"parts", {p.parts_down, p.parts_across}},
               {"extra", p.extra}};
  if (p.rollout) json["rollout"] = packed(p.rollout);
  return json;
}

Json sound_json(const RecordedSound& s) {
  Json words = Json::array();
  for (const RecordedSound::Word& w : s.words)
    words.push_back({{"text", w.text},
                     {"start", std::round(w.start * 1e3) / 1e3},
                     {"end", std::round(w.end * 1e3) / 1e3},
                     {"probability", std::round(w.probability * 1e6) / 1e6},
                     {"rows", w.rows}});
  Json json = {{"seconds", s.seconds},
               {"size", {s.bands, s.frames}},
               {"spectrogram", packed(s.spectrogram)},
               {"loudness", packed(s.loudness)},
               {"words", words},
               {"state_seconds", s.state_seconds}};
  if (s.heard) json["heard"] = packed(s.heard), json["states"] = s.heard.size(1);
  return json;
}

// Members of objects, by their types; whatever is not as it should be is an Error.
class Reader final {
 public:
  Reader(const Read& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json.is_object()) fail("", json.type_name(), "an object");
  }

  const Read& at(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end()) fail(key, "nothing", "a value");
    return *found;
  }
  bool has(const char* key) const { return json_.contains(key); }
  std::string text(const char* key) const {
    if (!at(key).is_string()) fail(key, at(key).type_name(), "a text");
    return at(key).get<std::string>();
  }
  bool flag(const char* key) const {
    if (!at(key).is_boolean()) fail(key, at(key).type_name(), "true or false");
    return at(key).get<bool>();
  }
  double number(const char* key) const {
    if (!at(key).is_number()) fail(key, at(key).type_name(), "a number");
    return at(key).get<double>();
  }
  int64_t count(const char* key) const { return count_of(at(key), key); }
  int64_t count_of(const Read& j, const char* key, int64_t least = 0) const {
    if (!j.is_number_integer() || (j.is_number_unsigned() && j.get<uint64_t>() > uint64_t{1} << 40) ||
        j.get<int64_t>() < least || j.get<int64_t>() > int64_t{1} << 40)
      fail(key, j.dump().substr(0, 40), "a count");
    return j.get<int64_t>();
  }
  template <class F>
  void each(const char* key, F&& f) const {
    if (!at(key).is_array()) fail(key, at(key).type_name(), "a list");
    for (const Read& item : at(key)) f(item);
  }
  std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> all;
    each(key, [&](const Read& j) {
      if (!j.is_string()) fail(key, j.type_name(), "texts");
      all.push_back(j.get<std::string>());
    });
    return all;
  }
  std::vector<int64_t> counts(const char* key, int64_t least = 0) const {
    std::vector<int64_t> all;
    each(key, [&](const Read& j) { all.push_back(count_of(j, key, least)); });
    return all;
  }
  [[noreturn]] void fail(const char* key, std::string_view found, std::string_view expected) const {
    throw Error(Error::corrupt, "{}: \"{}\": found {}, expected {}", where_, key, found, expected);
  }
  const std::string& where() const { return where_; }

 private:
  const Read& json_;
  std::string where_;
};

RecordedSequence read_sequence(const Reader& r) {
  RecordedSequence s = {.text = r.text("text"), .ids = r.counts("ids", -1), .pieces = r.texts("pieces")};
  const auto size = static_cast<int64_t>(s.text.size());
  r.each("spans", [&](const Read& j) {
    if (!j.is_array() || j.size() != 2) r.fail("spans", j.type_name(), "pairs");
    const Span span = {r.count_of(j[0], "spans"), r.count_of(j[1], "spans")};
    if (span.begin > span.end || span.end > size) r.fail("spans", j.dump(), "bytes of the text");
    s.spans.push_back(span);
  });
  if (r.has("probabilities")) {
    r.each("probabilities", [&](const Read& j) {
      if (!j.is_number() && !j.is_null()) r.fail("probabilities", j.type_name(), "numbers");
      s.probabilities.push_back(j.is_null() ? NAN : j.get<double>());
    });
  }
  if (r.has("alternatives")) {
    r.each("alternatives", [&](const Read& each) {
      if (!each.is_array()) r.fail("alternatives", each.type_name(), "lists");
      s.alternatives.emplace_back();
      for (const Read& j : each) {
        const Reader one(j, r.where() + ": alternatives");
        s.alternatives.back().push_back({one.count("id"), one.text("piece"), one.number("probability")});
      }
    });
  }
  if (s.ids.size() != s.pieces.size() || s.spans.size() != s.pieces.size() ||
      (!s.probabilities.empty() && s.probabilities.size() != s.pieces.size()) ||
      (!s.alternatives.empty() && s.alternatives.size() != s.pieces.size()))
    r.fail("pieces", fmt::format("{} beside {} ids and {} spans", s.pieces.size(), s.ids.size(), s.spans.size()),
           "as many of each");
  return s;
}

Place::Kind kind_named(const Reader& r) {
  for (Place::Kind kind : {Place::Kind::self, Place::Kind::cross, Place::Kind::pooling, Place::Kind::pointer})
    if (name(kind) == r.text("kind")) return kind;
  r.fail("kind", r.text("kind"), "self, cross, pooling or pointer");
}

TraceJson::Place read_place(const Reader& r, const Recording& recording) {
  TraceJson::Place p;
  p.place = {r.text("path"),    kind_named(r),   0, r.count("key_heads"), r.text("rows"),
             r.text("columns"), r.flag("causal")};
  p.heads = r.counts("heads");
  p.place.heads = static_cast<int64_t>(p.heads.size());
  const std::vector<int64_t> size = r.counts("size");
  if (size.size() != 2) r.fail("size", fmt::format("{} numbers", size.size()), "rows and columns");
  p.rows = size[0], p.columns = size[1];
  for (const auto& [sequence, count] : {std::pair{p.place.rows, p.rows}, {p.place.columns, p.columns}}) {
    const auto found = recording.sequences.find(sequence);
    if (found == recording.sequences.end() || static_cast<int64_t>(found->second.size()) != count)
      r.fail("size", fmt::format("{} of \"{}\"", count, sequence), "as many as the sequence has");
  }
  p.kept = r.texts("kept");
  if (r.has("scale")) p.scale = r.number("scale");
  return p;
}

}  // namespace

Json alternatives_json(const std::vector<Alternative>& all) {
  Json json = Json::array();
  for (const Alternative& a : all)
    json.push_back({{"id", a.id}, {"piece", a.piece}, {"probability", rounded(a.probability)}});
  return json;
}

Json to_json(const Recording& seen) {
  Json json = {{"format", 1},       {"model", seen.model},  {"family", seen.family}, {"precision", seen.precision},
               {"text", seen.text}, {"answer", seen.answer}};
  json["sequences"] = Json::object();
  for (const auto& [name, sequence] : seen.sequences) json["sequences"][name] = sequence_json(sequence);
  if (seen.picture) json["picture"] = picture_json(*seen.picture);
  if (seen.sound) json["sound"] = sound_json(*seen.sound);
  json["places"] = Json::array();
  return json;
}

Json place_json(const RecordedPlace& p) {
  return {{"path", p.place.path},           {"kind", name(p.place.kind)},     {"heads", p.heads},
          {"key_heads", p.place.key_heads}, {"rows", p.place.rows},           {"columns", p.place.columns},
          {"causal", p.place.causal},       {"size", {p.rows(), p.columns()}}};
}

TraceJson read_trace_json(std::string_view text, const std::string& where) {
  const Read json = parse_json(text, where);
  const Reader r(json, where);
  if (const int64_t format = r.count("format"); format != 1)
    throw Error(Error::unsupported, "{}: found a trace of format {}, expected 1", where, format);
  TraceJson t;
  t.recording = {
      r.text("model"), r.text("family"), r.text("precision"), r.text("text"), r.text("answer"), {}, {}, {}, {}};
  if (!r.at("sequences").is_object()) r.fail("sequences", r.at("sequences").type_name(), "an object");
  for (const auto& [name, sequence] : r.at("sequences").items())
    t.recording.sequences[name] = read_sequence(Reader(sequence, where + ": " + name));
  r.each("places", [&](const Read& j) { t.places.push_back(read_place(Reader(j, where), t.recording)); });
  return t;
}

}  // namespace fovea
