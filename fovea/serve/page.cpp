#include "fovea/serve/page.h"

#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "fovea/base/base64.h"
#include "fovea/explain/alignment.h"
#include "fovea/explain/head_measures.h"
#include "fovea/explain/recording_json.h"
#include "fovea/formats/matrix_text.h"
#include "fovea/serve/page_files.h"
#include "fovea/version.h"

namespace fovea {
namespace {

using Json = nlohmann::ordered_json;

std::string packed(const Tensor& numbers) {
  const Tensor all = numbers.contiguous();
  return base64(
      {reinterpret_cast<const char*>(all.data<float>()), static_cast<size_t>(all.elements()) * sizeof(float)});
}

// JSON inside of a script: nothing in it ends the script or begins another.
std::string in_script(std::string json) {
  std::string safe;
  for (const char c : json) {
    if (c == '<' || c == '>' || c == '&')
      safe += fmt::format("\\u{:04x}", static_cast<int>(c));
    else
      safe += c;
  }
  return safe;
}

std::string_view file_named(std::string_view name) {
  for (const EmbeddedFile& file : page_files())
    if (file.name == name) return file.text;
  throw Error(Error::not_found, "page: found no file '{}' among those that the program was built with", name);
}

void replace(std::string& text, std::string_view what, std::string_view by) {
  const size_t at = text.find(what);
  require(at != std::string::npos, "page.html: found no {}", what);
  text.replace(at, what.size(), by);
}

std::string nonce() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

// A module behind those that it imports, which it calls "fovea/NAME"; without the words import and export, since all of them stand in
// one script, which a browser has ready sooner than many.
void append_module(std::string& script, std::set<std::string>& known, const std::string& name) {
  if (!known.insert(name).second) return;
  std::string own;
  for (const std::string& line : split_text(file_named(name + ".js"), '\n')) {
    constexpr std::string_view from = " from \"fovea/", exported = "export ";
    if (line.starts_with("import ")) {
      const size_t at = line.find(from) + from.size();
      append_module(script, known, std::string(line.substr(at, line.find('"', at) - at)));
      continue;
    }
    own += line.substr(line.starts_with(exported) ? exported.size() : 0);
    own += '\n';
  }
  script += own;
}

std::string modules() {
  std::string script;
  std::set<std::string> known;
  append_module(script, known, "app");
  return script;
}

// What each head of a place did in this text, by its name; of long texts, whose weights are not here, nothing.
std::vector<std::string> names_of_heads(const std::vector<HeadMeasure>& heads, const RecordedPlace& p) {
  std::vector<std::string> names;
  for (const HeadMeasure& h : heads)
    if (h.place.path == p.place.path) names.push_back(h.name);
  return names;
}

std::vector<HeadMeasure> measured(const Recording& seen) {
  Recording whole = seen;
  std::erase_if(whole.places, [](const RecordedPlace& p) { return !p.weights; });
  HeadMeasures measures;
  measures.add(whole);
  return measures.heads();
}

}  // namespace

std::string explained_json(const PageExplanation& e) {
  Json json = Json::parse(e.attributions);
  if (!e.check.empty()) json["check"] = Json::parse(e.check);
  return json.dump();
}

std::string page_json(const Recording& seen, int64_t run, int64_t most_weights, const PageExplanation& explained) {
  Json json = to_json(seen);
  json["run"] = run;
  for (const auto& [name, s] : seen.sequences) json["sequences"][name]["words"] = words_of_tokens({s.text, s.spans});
  int64_t left = most_weights;
  const std::vector<HeadMeasure> heads = measured(seen);
  for (const RecordedPlace& p : seen.places) {
    Json place = place_json(p);
    const int64_t numbers = static_cast<int64_t>(p.heads.size()) * p.rows() * p.columns();
    if (p.weights && numbers <= left) place["weights"] = packed(p.weights), left -= numbers;
    if (p.weights) place["names"] = names_of_heads(heads, p);
    if (p.pooled.largest) place["tiles"] = p.pooled.level;
    json["places"].push_back(std::move(place));
  }
  if (!explained.attributions.empty()) json["explained"] = Json::parse(explained_json(explained));
  return json.dump();
}

std::string page(const PageContent& content) {
  std::vector<std::string> all;
  for (const Recording& r : content.recordings) all.push_back(page_json(r, static_cast<int64_t>(all.size())));
  all.insert(all.end(), content.told.begin(), content.told.end());
  const std::string recordings = fmt::format("{}", fmt::join(all, ","));
  const Json first = {{"model", content.first.first}, {"text", content.first.second}};
  const std::string data =
      fmt::format(R"({{"version":"{}","served":{},"models":{},"first":{},"recordings":[{}]}})", FOVEA_VERSION,
                  content.served, Json(content.models).dump(), first.dump(), recordings);
  std::string html(file_named("page.html"));
  const std::string secret = nonce();
  for (size_t at = html.find("{{nonce}}"); at != std::string::npos; at = html.find("{{nonce}}", at + 1))
    html.replace(at, 9, secret);
  replace(html, "{{style}}", file_named("style.css"));
  replace(html, "{{modules}}", modules());
  replace(html, "{{data}}", in_script(data));
  return html;
}

}  // namespace fovea
