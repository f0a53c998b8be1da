#include "fovea/base/error.h"

#include <gtest/gtest.h>

#include <string_view>

namespace fovea {
namespace {

TEST(Error, ShowsTheWholeTextWhateverItQuotes) {
  const std::string_view quoted("\0a\0\0b", 5);
  EXPECT_STREQ(Error(Error::corrupt, "x.bin: found '{}', expected JSON", quoted).what(),
               "x.bin: found '\\x00a\\x00\\x00b', expected JSON");
}

}  // namespace
}  // namespace fovea
