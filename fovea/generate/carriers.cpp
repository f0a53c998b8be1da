#include "fovea/generate/carriers.h"

#include <algorithm>
#include <array>

#include "fovea/base/catalogue.h"
#include "fovea/base/error.h"
#include "fovea/formats/matrix_text.h"

namespace fovea {

std::vector<Carrier> parse_carriers(const std::vector<std::string>& lines) {
  constexpr std::array<std::string_view, 7> kinds = {"text", "name", "number", "amount", "date", "time", "place"};
  std::vector<Carrier> carriers;
  for (const std::string& line : lines) {
    const size_t colon = line.find(':'), equals = line.find('=', colon == line.npos ? 0 : colon);
    const auto kind = std::ranges::find(kinds, line.substr(0, colon));
    require(colon != line.npos && kind != kinds.end(),
            "carriers: found '{}', expected kind:text or kind:text=what comes of it, the kind text, name, number, "
            "amount, date, time or place",
            line);
    Carrier carrier = {
        static_cast<Carrier::Kind>(kind - kinds.begin()), line.substr(colon + 1, equals - colon - 1), {}};
    carrier.targets =
        equals == line.npos ? std::vector<std::string>{carrier.source} : split_text(line.substr(equals + 1), '|');
    for (const std::string& target : carrier.targets)
      require(!target.empty() && !carrier.source.empty(), "carriers: found '{}', expected nothing empty in it", line);
    carriers.push_back(std::move(carrier));
  }
  return carriers;
}

}  // namespace fovea
