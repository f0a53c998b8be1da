#include "cli/command_line.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "cli/verb.h"
#include "fovea/base/file.h"
#include "fovea/base/text.h"
#include "fovea/base/threads.h"
#include "fovea/base/watched.h"
#include "fovea/explain/profile.h"
#include "fovea/kernels/simd.h"

namespace fovea {

std::string long_flag(std::string_view name) {
  std::string flag = "--" + std::string(name);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

namespace {

// The letters that users of other tools know; every other flag has its long name only.
constexpr std::pair<std::string_view, char> letters[] = {
    {"model", 'm'}, {"input", 'i'}, {"output", 'o'}, {"threads", 't'}, {"beam_size", 'b'}};

std::string short_flag(std::string_view name) {
  for (auto [known, letter] : letters)
    if (known == name) return {'-', letter};
  return "";
}

std::string flag_of(std::string_view name) {
  const std::string letter = short_flag(name);
  return letter.empty() ? long_flag(name) : letter + "," + long_flag(name);
}

}  // namespace

// --profile: watches the verb from its flags to its end.
struct Profiling {
  Profile profile;
  Watched watched{&profile};

  ~Profiling() {
    if (profile.empty())
      fmt::print(stderr, "profile: no model ran\n");
    else
      fmt::print(stderr, "{}", to_text(profile.report()));
  }
};

struct CommandLine::App {
  CLI::App app;
  bool profile = false;
  std::optional<Profiling> profiling = {};
  int64_t threads = 0;
  std::string simd, config;
};

CommandLine::CommandLine(const Verb& verb, std::vector<std::string> arguments)
    : app_(std::make_unique<App>()), verb_(verb), arguments_(std::move(arguments)) {
  CLI::App& app = app_->app;
  app.name(fmt::format("fovea {}", verb.name));
  app.description(std::string(verb.help));
  std::string examples(verb.examples);
  for (size_t at = 0; (at = examples.find('\n', at)) != std::string::npos; at += 3) examples.replace(at, 1, "\n  ");
  app.footer("\nExamples:\n  " + examples);
  app.set_help_flag("-h,--help", "this text");
  app.get_formatter()->column_width(34);
  app.option_defaults()->always_capture_default();
}
CommandLine::~CommandLine() = default;

// A value that no configuration could hold is refused here, before any work is done.
template <class Value>
void CommandLine::add(const char* name, Value& value, const char* help) {
  const std::string flag = flag_of(name);
  CLI::Option* option = app_->app.add_option(positional_ == name ? std::string(name) + "," + flag : flag, value, help);
  const auto check = [](const std::string& typed) -> std::string {
    if (invalid_utf8(typed) != std::string::npos) return fmt::format("found '{}', expected UTF-8", typed);
    double number = 0;
    const bool finite =
        !std::is_same_v<Value, double> || !CLI::detail::lexical_cast(typed, number) || std::isfinite(number);
    return finite ? "" : fmt::format("found {}, expected a finite number", typed);
  };
  option->check(check, "");
}

void CommandLine::operator()(const char* name, bool& value, const char* help) {
  app_->app.add_flag(flag_of(name), value, help);
}
void CommandLine::operator()(const char* name, int64_t& value, const char* help) { add(name, value, help); }
void CommandLine::operator()(const char* name, double& value, const char* help) { add(name, value, help); }
void CommandLine::operator()(const char* name, std::string& value, const char* help) { add(name, value, help); }
void CommandLine::operator()(const char* name, std::vector<std::string>& value, const char* help) {
  add(name, value, help);
  // Where a text stands without a flag, a list takes one value for each flag: the text is none of them.
  if (!positional_.empty() && positional_ != name) app_->app.get_option(flag_of(name))->allow_extra_args(false);
}

// The recipe is read before the flags, which then override it.
std::optional<std::string> CommandLine::typed(std::string_view name) const {
  const std::string flag = long_flag(name), letter = short_flag(name);
  std::optional<std::string> value;
  for (size_t i = 0; i < arguments_.size() && arguments_[i] != "--"; ++i) {
    const std::string& argument = arguments_[i];
    const bool alone = argument == flag || (!letter.empty() && argument == letter);
    if (alone && i + 1 < arguments_.size())
      value = arguments_[++i];
    else if (argument.starts_with(flag + "="))
      value = argument.substr(flag.size() + 1);
    else if (!alone && !letter.empty() && argument.starts_with(letter))
      value = argument.substr(letter.size());
  }
  return value;
}

std::optional<std::string> CommandLine::peek(const char* name) const {
  if (auto value = typed(name)) return value;
  const auto path = typed("config");
  if (!path) return std::nullopt;
  std::string value;
  detail::Reader(detail::Reader::yaml, read_text(*path), *path)(name, value, "");
  return value.empty() ? std::nullopt : std::optional(value);
}

bool CommandLine::typed_flag(std::string_view name) const {
  const std::string flag = long_flag(name);
  return std::any_of(arguments_.begin(), arguments_.end(),
                     [&](const std::string& argument) { return argument == flag || argument.starts_with(flag + "="); });
}

std::optional<std::string> CommandLine::take_first() {
  if (arguments_.empty() || arguments_[0].starts_with('-')) return std::nullopt;
  std::string first = std::move(arguments_[0]);
  arguments_.erase(arguments_.begin());
  return first;
}

void CommandLine::complete(const BareFlag& flag) {
  for (size_t i = 0; i < arguments_.size() && arguments_[i] != "--"; ++i) {
    if (arguments_[i] != long_flag(flag.name)) continue;
    const std::string next = i + 1 < arguments_.size() ? arguments_[i + 1] : "";
    if (next != flag.first && next != flag.second) arguments_[i] += std::string("=") + flag.first;
  }
}

void CommandLine::use_recipe(const std::string& path) { arguments_.insert(arguments_.begin(), {"--config", path}); }

// A key that no field has is told with where the fields stand, which are flags too.
void CommandLine::read_recipe(const std::string& path, const std::function<void(std::string_view)>& read) const {
  try {
    read(read_text(path));
  } catch (const Error& e) {
    if (e.kind() != Error::not_found || !std::string_view(e.what()).starts_with("unknown key")) throw;
    throw Error(e.kind(), "{}; keys are the flags of fovea {} --help, as max_length is --max-length", e.what(),
                verb_.name);
  }
}

bool CommandLine::has(const char* name) const { return app_->app.get_option(long_flag(name))->count() > 0; }

// What was typed but is neither a flag nor its value: most often a text without quotes.
void CommandLine::refuse_extra_arguments() const {
  const std::vector<std::string> extra = app_->app.remaining();
  const CLI::Option* field = positional_.empty() ? nullptr : app_->app.get_option_no_throw(std::string(positional_));
  if (extra.empty() || !field || field->count() == 0 || extra[0].starts_with("-")) return;
  if (path_exists(field->results()[0]) && path_exists(extra[0]))
    throw Error(Error::invalid, "found {} files, expected one; give more as lines: ls {} … | fovea {}",
                1 + extra.size(), field->results()[0], verb_.name);
  std::string all = fmt::format("{}", fmt::join(field->results(), " "));
  for (const std::string& argument : extra) all += " " + argument;
  throw Error(Error::invalid, "put the {} in quotes: fovea {} \"{}\"; found {} of them, expected one", positional_,
              verb_.name, all, 1 + extra.size());
}

bool CommandLine::parse() {
  CLI::App& app = app_->app;
  if (!app.get_option_no_throw("--threads")) {  // unless the verb gives the flag a meaning of its own
    app.add_option("-t,--threads", app_->threads, "threads to use; 0: one for each core")->group("Everywhere");
  }
  app.add_option(
         "--simd", app_->simd,
         "instruction set: baseline, avx2, avx512, avx512bf16 or amx; the best one if not given (or FOVEA_SIMD)")
      ->group("Everywhere");
  app.add_option("--config", app_->config, "a YAML file with any of these options; flags override it")
      ->group("Everywhere");
  if (!app.get_option_no_throw("--profile"))
    app.add_flag("--profile", app_->profile, "where the time went, per layer and kind of work, on stderr")
        ->group("Everywhere");
  app.add_flag("--dump-config", dump_config_, "print the options as YAML and stop")->group("Everywhere");
  try {
    std::vector<std::string> reversed(arguments_.rbegin(), arguments_.rend());
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    print(app.help());
    return false;
  } catch (const CLI::ParseError& e) {
    std::string text = e.what();
    for (const std::string& argument : arguments_) {
      std::string flag = argument.substr(0, argument.find('='));
      if (!flag.starts_with("--") || app.get_option_no_throw(flag)) continue;
      std::vector<std::string> known;
      for (const CLI::Option* option : app.get_options()) known.push_back("--" + option->get_single_name());
      throw_unknown(fmt::format("flag of fovea {}", verb_.name), flag, known);
    }
    refuse_extra_arguments();
    throw Error(Error::invalid, "fovea {}: {}; see fovea {} --help", verb_.name, text, verb_.name);
  }
  require(app_->threads >= 0 && app_->threads <= 1024, "--threads: found {}, expected 0 to 1024", app_->threads);
  set_threads(static_cast<int>(app_->threads));
  const char* wanted = std::getenv("FOVEA_SIMD");
  if (app_->simd.empty() && wanted) app_->simd = wanted;
  if (!app_->simd.empty()) use_simd(parse_simd(app_->simd));
  if (app_->profile && !dump_config_) app_->profiling.emplace();
  return true;
}

void CommandLine::print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

}  // namespace fovea
