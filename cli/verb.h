// A verb of the `fovea` program: one file each in verbs/, one constant each; its flags are the fields of its options.
//
//   extern const Verb attend = {.name = "attend", .help = "…", .examples = "…", .run = [](const AttendOptions& o) { … }};
#pragma once

#include <span>
#include <string_view>
#include <type_traits>

#include "cli/command_line.h"
#include "fovea/base/catalogue.h"

namespace fovea {

// Any lambda without captures that takes a struct of options; which struct is known to it alone.
class VerbRun final {
 public:
  template <class Lambda>
  constexpr VerbRun(Lambda) : run_([](CommandLine& line) { invoke(line, &Lambda::operator()); }) {}
  void operator()(CommandLine& line) const { run_(line); }

 private:
  template <class Lambda, class Options>
  static void invoke(CommandLine& line, void (Lambda::*)(const Options&) const) {
    if constexpr (std::is_constructible_v<Options, CommandLine&>) {
      Options options(line);
      if (line.read(options)) Lambda{}(options);
    } else {
      Options options;
      if (line.read(options)) Lambda{}(options);
    }
  }
  void (*run_)(CommandLine&);
};

struct Verb {
  static constexpr std::string_view noun = "verb";
  std::string_view name;
  std::string_view group;     // the heading under which `fovea` lists it
  std::string_view help;      // one line
  std::string_view examples;  // command lines as a user types them, one a line
  VerbRun run;
};

}  // namespace fovea
