#include "fovea/base/base64.h"

#include <gtest/gtest.h>

namespace fovea {
namespace {

TEST(Base64, IsWhatTheStandardHas) {
  const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) EXPECT_EQ(base64(bytes), text);
  EXPECT_EQ(base64(std::string_view("\xff\x00\xfb", 3)), "/wD7");
}

}  // namespace
}  // namespace fovea
