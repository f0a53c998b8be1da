// Where the tests find their data and the program. Their values stand in test_paths.cpp, which CMake writes, so that no test depends
// on where the source lies or which build it runs in.
#pragma once

#include <string>
#include <vector>

namespace fovea {

extern const char* const test_data;
extern const char* const test_program;
extern const char* const outside_program;
extern const bool test_sanitized;              // everything takes ten times as long
const std::vector<std::string>& test_verbs();  // the files of cli/verbs

}  // namespace fovea
