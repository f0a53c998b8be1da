#include "fovea/data/text/jinja/format_time.h"

#include <iterator>
#include <locale>
#include <sstream>

#include "fovea/data/text/jinja/fault.h"

namespace fovea::jinja {
namespace {

std::string by_locale(char code, const std::tm& time) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  const char format[] = {'%', code};
  std::use_facet<std::time_put<char>>(std::locale::classic())
      .put(std::ostreambuf_iterator<char>(out), out, ' ', &time, format, format + 2);
  return out.str();
}

}  // namespace

std::string format_time(std::string_view format, const std::tm& time) {
  std::string result;
  for (size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%' || at + 1 == format.size()) {
      result += format[at];
      continue;
    }
    const bool bare = format[at + 1] == '-' && at + 2 < format.size();
    at += bare ? 2 : 1;
    const char code = format[at];
    if (code == 'f') {
      result += "000000";
    } else if (code == 'z' || code == 'Z') {
      continue;  // a time without a zone
    } else if (std::string_view("aAbBcCdDeFgGhHIjmMnprRStTuUVwWxXyY%").find(code) == std::string_view::npos) {
      throw Fault(Error::unsupported, "strftime_now: found %{} in the format", std::string_view(&code, 1));
    } else {
      std::string text = by_locale(code, time);
      if (bare) text.erase(0, std::min(text.find_first_not_of("0 "), text.size() - 1));
      result += text;
    }
  }
  return result;
}

}  // namespace fovea::jinja
