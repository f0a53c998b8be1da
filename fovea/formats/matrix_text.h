// A matrix as a person types it: numbers with commas between them, rows with semicolons.
//
//   parse_matrix("1,0;0,1", "--keys")                  // [2, 2]
#pragma once

#include <string_view>

#include "fovea/tensor/tensor.h"

namespace fovea {

// f32 [rows, columns]. Text that is no number (or NaN or infinite), and rows of unequal length, are Errors that name `where`.
Tensor parse_matrix(std::string_view text, std::string_view where);

// The parts between the separators, without surrounding blanks.
std::vector<std::string> split_text(std::string_view text, char separator);

}  // namespace fovea
