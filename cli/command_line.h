// Flags from a list of fields (through CLI11), a YAML recipe under them, help with examples.
//
//   AttendOptions options;
//   if (line.read(options)) …                          // false: help or the configuration was printed instead
//
// Every verb also takes --threads, --simd, --config FILE and --dump-config. An Options struct with a member
// `static constexpr const char* positional = "field"` takes that field without its flag. One whose defaults depend on what was
// typed (those of the model that is asked for) has a constructor that takes the CommandLine and looks there:
//
//   explicit TranslateOptions(const CommandLine& line) { if (auto model = line.peek("model")) … }
//
// and one with defaults that depend on its other fields, or on which of them were given, a `complete()` or `complete(line)`.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/fields.h"
#include "fovea/base/file.h"

namespace fovea {

struct Verb;

std::string long_flag(std::string_view name);  // of a field: head_width → --head-width

// A text field whose flag may stand without a value, which then is the first of these: `static constexpr BareFlag bare = …`
// in an Options struct.
struct BareFlag {
  const char *name, *first, *second;
};

class CommandLine final : public Fields {
 public:
  CommandLine(const Verb& verb, std::vector<std::string> arguments);
  ~CommandLine() override;

  template <class Options>
  bool read(Options& options) {
    if constexpr (requires { Options::positional; }) positional_ = Options::positional;
    if constexpr (requires { Options::bare; }) complete(Options::bare);
    if (const auto path = typed("config"))
      read_recipe(*path, [&](std::string_view text) { from_yaml(text, options, *path); });
    options.fields(*this);
    if (!parse()) return false;
    if constexpr (requires { options.complete(); }) options.complete();
    if constexpr (requires { options.complete(*this); }) options.complete(*this);
    if (dump_config_) print(to_yaml(options));
    return !dump_config_;
  }

  // The value that a text field will get from its flag or from the recipe, before anything is parsed.
  std::optional<std::string> peek(const char* name) const;
  bool typed_flag(std::string_view name) const;  // before anything is parsed: whether it was typed
  bool has(const char* name) const;  // once it was read: whether the flag was given, or the field without it
  // Removes the first argument and returns it; nothing if there is none or it is a flag.
  std::optional<std::string> take_first();
  void use_recipe(const std::string& path);  // as if --config had been typed

  void operator()(const char* name, bool& value, const char* help) override;
  void operator()(const char* name, int64_t& value, const char* help) override;
  void operator()(const char* name, double& value, const char* help) override;
  void operator()(const char* name, std::string& value, const char* help) override;
  void operator()(const char* name, std::vector<std::string>& value, const char* help) override;

 private:
  template <class Value>
  void add(const char* name, Value& value, const char* help);
  std::optional<std::string> typed(std::string_view name) const;  // the value behind a flag
  void complete(const BareFlag& flag);
  void read_recipe(const std::string& path, const std::function<void(std::string_view)>& read) const;
  bool parse();
  void refuse_extra_arguments() const;
  static void print(const std::string& text);

  struct App;
  std::unique_ptr<App> app_;
  const Verb& verb_;
  std::vector<std::string> arguments_;
  std::string_view positional_;
  bool dump_config_ = false;
};

}  // namespace fovea
