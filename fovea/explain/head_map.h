// What the heads of a model do, as a table, as JSON, and as one page: a row for each attention, a cell for each head, coloured by name.
//
//   const std::vector<HeadMeasure> heads = measures.heads();
//   to_text(heads);   to_json(heads);   write_text("map.svg", head_map("bert-base", heads));
#pragma once

#include <string>
#include <vector>

#include "fovea/explain/head_measures.h"

namespace fovea {

std::string to_text(const std::vector<HeadMeasure>&);
std::string to_json(const std::vector<HeadMeasure>&);
std::string head_map(const std::string& title, const std::vector<HeadMeasure>&);  // SVG

}  // namespace fovea
