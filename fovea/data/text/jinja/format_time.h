// A time by strftime's codes, in English whatever the locale.
//
//   format_time("%d %b %Y", time)          // "26 Jul 2024"; %-d is the day without a zero before it
#pragma once

#include <ctime>
#include <string>
#include <string_view>

namespace fovea::jinja {

std::string format_time(std::string_view format, const std::tm& time);

}  // namespace fovea::jinja
