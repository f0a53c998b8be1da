// The files of viewer/, as the build put them into the program.
//
//   for (const EmbeddedFile& file : page_files()) file.name, file.text;             // "page.html", …
#pragma once

#include <span>
#include <string_view>

namespace fovea {

struct EmbeddedFile {
  std::string_view name, text;
};
std::span<const EmbeddedFile> page_files();

}  // namespace fovea
