// List once: a config names its fields in one place, and JSON, YAML, flags and help come from that list.
//
//   struct Config {
//     int64_t heads = 8;
//     void fields(Fields& f) { f("heads", heads, "attention heads"); }
//   };
//   from_json(text, config, "config.json");            // an unknown key is an Error that suggests the nearest
//
// A field's default is the value it has before it is read; null in a text leaves it so. A name with a dot, rope_scaling.factor, is
// a key of an object.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace fovea {

// Whoever visits a config's fields. The names are snake_case; a flag spells head_width as --head-width.
class Fields {
 public:
  virtual ~Fields() = default;
  virtual void operator()(const char* name, bool& value, const char* help) = 0;
  virtual void operator()(const char* name, int64_t& value, const char* help) = 0;
  virtual void operator()(const char* name, double& value, const char* help) = 0;
  virtual void operator()(const char* name, std::string& value, const char* help) = 0;
  virtual void operator()(const char* name, std::vector<std::string>& value, const char* help) = 0;

  // A field that nobody chooses because the data tells it: those who ask a person do not take it.
  template <class Value>
  void from_data(const char* name, Value& value, const char* help) {
    if (takes_data()) (*this)(name, value, help);
  }

  // What only files have. Ids: one, several, or null. Labels by their numbers: {"0": "negative", "1": "positive"}. Keys that
  // change nothing of what is computed: known, and neither read nor written. Keys that would change it as nothing here does:
  // an Error, unless they say that they are off (null, false, 0).
  virtual void ids(const char*, std::vector<int64_t>&) {}
  virtual void id_lists(const char*, std::vector<std::vector<int64_t>>&) {}
  virtual void numbers(const char*, std::vector<double>&) {}
  virtual void numbered(const char*, std::vector<std::string>&) {}
  virtual void passed_over(std::initializer_list<const char*>) {}
  virtual void refused(std::initializer_list<const char*>) {}
  virtual bool reads() const {
    return false;
  }  // a text: other spellings of a field are listed for those who read alone

 protected:
  virtual bool takes_data() const { return true; }
};

namespace detail {

class Document;  // a parsed JSON or YAML text

class Reader final : public Fields {
 public:
  enum Syntax { json, yaml };
  Reader(Syntax syntax, std::string_view text, std::string_view where);
  ~Reader() override;
  void operator()(const char* name, bool& value, const char* help) override;
  void operator()(const char* name, int64_t& value, const char* help) override;
  void operator()(const char* name, double& value, const char* help) override;
  void operator()(const char* name, std::string& value, const char* help) override;
  void operator()(const char* name, std::vector<std::string>& value, const char* help) override;
  void ids(const char* name, std::vector<int64_t>& value) override;
  void id_lists(const char* name, std::vector<std::vector<int64_t>>& value) override;
  void numbers(const char* name, std::vector<double>& value) override;
  void numbered(const char* name, std::vector<std::string>& value) override;
  void passed_over(std::initializer_list<const char*> names) override;
  void refused(std::initializer_list<const char*> names) override;
  bool reads() const override { return true; }
  std::vector<std::string> unknown() const;  // keys of the text that are not among the fields
  void finish() const;                       // an Error if there are any

 private:
  Document* document_;
};

class Writer final : public Fields {
 public:
  Writer();
  ~Writer() override;
  void operator()(const char* name, bool& value, const char* help) override;
  void operator()(const char* name, int64_t& value, const char* help) override;
  void operator()(const char* name, double& value, const char* help) override;
  void operator()(const char* name, std::string& value, const char* help) override;
  void operator()(const char* name, std::vector<std::string>& value, const char* help) override;
  void ids(const char* name, std::vector<int64_t>& value) override;
  void id_lists(const char* name, std::vector<std::vector<int64_t>>& value) override;
  void numbers(const char* name, std::vector<double>& value) override;
  void numbered(const char* name, std::vector<std::string>& value) override;
  std::string json() const;
  std::string yaml() const;  // each field under its help as a comment

 private:
  struct Entries;
  Entries* entries_;
};

template <class Config>
void read(Reader::Syntax syntax, std::string_view text, Config& config, std::string_view where) {
  Reader reader(syntax, text, where);
  config.fields(reader);
  reader.finish();
}

// A config that is constant is copied, because its fields are listed as variables.
template <class Config>
void write(Config& config, Writer& writer) {
  if constexpr (std::is_const_v<Config>) {
    std::remove_const_t<Config> copy = config;
    copy.fields(writer);
  } else {
    config.fields(writer);
  }
}

}  // namespace detail

// `where` names the source in errors. Keys that are not in the text leave their fields as they are.
template <class Config>
void from_json(std::string_view text, Config& config, std::string_view where) {
  detail::read(detail::Reader::json, text, config, where);
}
// The same, but keys that are no fields are returned instead of refused: files of others hold more than is known here.
template <class Config>
std::vector<std::string> from_foreign_json(std::string_view text, Config& config, std::string_view where) {
  detail::Reader reader(detail::Reader::json, text, where);
  config.fields(reader);
  return reader.unknown();
}
template <class Config>
void from_yaml(std::string_view text, Config& config, std::string_view where) {
  detail::read(detail::Reader::yaml, text, config, where);
}

template <class Config>
std::string to_json(Config&& config) {
  detail::Writer writer;
  detail::write(config, writer);
  return writer.json();
}
template <class Config>
std::string to_yaml(Config&& config) {
  detail::Writer writer;
  detail::write(config, writer);
  return writer.yaml();
}

// A text as a scalar of YAML: in quotes, unless it is a plain word that nobody takes for anything else.
std::string yaml_scalar(const std::string& text);

// A YAML text as JSON, for what is not a config with fields of its own.
std::string yaml_to_json(std::string_view text, std::string_view where);

}  // namespace fovea
