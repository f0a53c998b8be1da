#include "fovea/data/datasets/dataset.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "fovea/base/error.h"

namespace fovea {
namespace {

void put(std::string& bytes, std::string_view text) {
  const auto size = static_cast<uint32_t>(text.size());
  bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
  bytes.append(text);
}

void put(std::string& bytes, const std::vector<std::string>& texts) {
  const auto count = static_cast<uint32_t>(texts.size());
  bytes.append(reinterpret_cast<const char*>(&count), sizeof count);
  for (const std::string& text : texts) put(bytes, text);
}

uint32_t take_number(std::string_view& bytes) {
  uint32_t number;
  std::memcpy(&number, bytes.data(), sizeof number);
  bytes.remove_prefix(sizeof number);
  return number;
}

std::string take_text(std::string_view& bytes) {
  const uint32_t size = take_number(bytes);
  std::string text(bytes.substr(0, size));
  bytes.remove_prefix(size);
  return text;
}

std::vector<std::string> take_texts(std::string_view& bytes) {
  std::vector<std::string> texts(take_number(bytes));
  for (std::string& text : texts) text = take_text(bytes);
  return texts;
}

}  // namespace

std::string BadLines::text() const {
  if (count == 0) return {};
  return fmt::format("{} bad line{} passed over; {}{}", count, count == 1 ? "" : "s",
                     count == 1 ? "" : "the first: ", first);
}

Dataset::Dataset(const Options& options) : options_(options), records_({.memory = options.memory}) {
  for (const std::string& name : options.names) {
    const size_t equals = name.find('=');
    require(equals != 0 && equals != std::string::npos && equals + 1 < name.size(),
            "names: found '{}', expected a label and its other name, as 0=negative", name);
    names_[name.substr(0, equals)] = name.substr(equals + 1);
  }
}

std::string Dataset::named(const std::string& label) const {
  const auto found = names_.find(label);
  return found == names_.end() ? label : found->second;
}

std::string Dataset::named_tag(const std::string& tag) const {
  if (tag.size() < 3 || tag[1] != '-') return named(tag);
  const std::string kind = named(tag.substr(2));
  return kind == "O" ? kind : tag.substr(0, 2) + kind;
}

void Dataset::add(const Example& example) {
  std::string bytes;
  put(bytes, example.source);
  put(bytes, example.target);
  put(bytes, named(example.label));
  put(bytes, example.tokens);
  std::vector<std::string> tags;
  for (const std::string& tag : example.tags) tags.push_back(named_tag(tag));
  put(bytes, tags);
  put(bytes, example.text_b);
  std::vector<std::string> labels;
  for (const std::string& label : example.labels) labels.push_back(named(label));
  put(bytes, labels);
  records_.add(bytes);
  for (const char byte : bytes) fingerprint_ = (fingerprint_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
}

void Dataset::add_bad(const std::string& where, const std::string& why) {
  const std::string what = where + ": " + why;
  if (options_.strict) throw Error(Error::invalid, "{}", what);
  if (bad_.count++ == 0) bad_.first = what;
  bad_.last = what;
  const bool room = bad_.reasons.contains(why) || bad_.reasons.size() < BadLines::most_reasons;
  ++bad_.reasons[room ? why : "other"];
}

Example Dataset::operator[](int64_t index) const {
  std::string_view bytes = records_[index];
  Example example;
  example.source = take_text(bytes);
  example.target = take_text(bytes);
  example.label = take_text(bytes);
  example.tokens = take_texts(bytes);
  example.tags = take_texts(bytes);
  example.text_b = take_text(bytes);
  example.labels = take_texts(bytes);
  return example;
}

int64_t Dataset::duplicates() const {
  std::vector<size_t> hashes;
  for (int64_t i = 0; i < size(); ++i) hashes.push_back(std::hash<std::string_view>()(records_[i]));
  std::ranges::sort(hashes);
  return size() - (std::ranges::unique(hashes).begin() - hashes.begin());
}

Reading::Reading(Dataset& into, const std::string& path) : into_(into), size_(into.size()), bad_(into.bad().count) {
  file.path = path;
}

void Reading::finish(std::string_view expected) {
  file.good = into_.size() - size_;
  file.bad = into_.bad().count - bad_;
  if (file.good == 0 && file.bad > 0) {
    throw Error(Error::invalid, "{}: found no good line, expected {}; the last one: {}", file.path, expected,
                into_.bad().last);
  }
  require(file.good > 0, "{}: found no line at all, expected {}", file.path, expected);
  into_.add_file(file);
}

int64_t bucket_of(std::string_view text) {
  const uLong hash = crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size());
  return static_cast<int64_t>(hash % 100);
}

}  // namespace fovea
