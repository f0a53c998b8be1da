#include "fovea/base/precision.h"

#include <gtest/gtest.h>

#include <string>

#include "fovea/base/error.h"

namespace fovea {
namespace {

TEST(Precision, NamesComeBackAndAnUnknownOneIsToldTheKnownOnes) {
  for (const char* text : {"f32", "bf16", "int8"}) EXPECT_EQ(name(parse_precision(text)), text);
  try {
    parse_precision("int7");
    FAIL() << "int7 was accepted";
  } catch (const Error& e) {
    const std::string text = e.what();
    for (const char* part : {"int7", "f32", "bf16", "int8"}) EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace fovea
