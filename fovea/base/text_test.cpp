#include "fovea/base/text.h"

#include <gtest/gtest.h>

namespace fovea {
namespace {

TEST(Text, PrintableIsOneLineWithoutEscapeCodes) {
  EXPECT_EQ(printable("plain ü 漢 👩"), "plain ü 漢 👩");
  EXPECT_EQ(printable("a\nb\tc\r"), "a\\nb\\tc\\r");
  EXPECT_EQ(printable("\x1b[31mred"), "\\x1b[31mred");
  EXPECT_EQ(printable(std::string_view("\0\x7f", 2)), "\\x00\\x7f");
  EXPECT_EQ(printable("caf\xe9"), "caf\\xe9");
  EXPECT_EQ(printable("\u009b31m"), "\\xc2\\x9b31m");  // the one-character form of ESC [
  EXPECT_EQ(printable("\u2028\u202e"), "\\xe2\\x80\\xa8\\xe2\\x80\\xae");
  EXPECT_EQ(printable(""), "");
}

}  // namespace
}  // namespace fovea
