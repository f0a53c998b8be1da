// Bytes as text that any file may hold (RFC 4648).
//
//   "data:image/png;base64," + base64(png_bytes(picture))
#pragma once

#include <string>
#include <string_view>

namespace fovea {

std::string base64(std::string_view bytes);

}  // namespace fovea
