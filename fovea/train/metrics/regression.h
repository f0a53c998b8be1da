// How near numbers are to numbers: Pearson's and Spearman's correlation and the mean squared error, equal to SciPy 1.17 and
// scikit-learn 1.9.1.
//
//   NumberScores scores = score_numbers({1, 2, 3}, {1.5, 2, 2.5});   // references, hypotheses
//   scores.pearson;  scores.spearman;  scores.mean_squared_error;
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fovea {

struct NumberScores {
  double pearson = 0,
         spearman = 0;  // NaN if all references or all hypotheses are equal, or if there are fewer than two
  double mean_squared_error = 0, mean_absolute_error = 0;  // NaN if there are none
  std::string text() const;                                // a line for each
};

// Numbers that are not finite are Errors.
NumberScores score_numbers(const std::vector<double>& references, const std::vector<double>& hypotheses);

// Places from 1 in rising order; equal numbers share the mean of theirs.
std::vector<double> ranks(const std::vector<double>& numbers);

// A label that is a number: finite, with nothing behind it. `where` names it in the Error.
double parse_number(std::string_view text, std::string_view where);

}  // namespace fovea
