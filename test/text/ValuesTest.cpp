//===- ValuesTest.cpp - what a tag of a template may print in its place -------------------------------------------===//

#include "translator/emit/render/Values.h"

#include <gtest/gtest.h>

#include <stdexcept>

using namespace ml2k;

namespace {

TEST(Values, NothingIsPrintedUnseen) {
  for (char const *tag : {"name", "code value", "#section", "/section", ">file", "! why"})
    EXPECT_TRUE(isTag(tag)) << tag;
  for (char const *tag : {"", "{name", "&name", "& name", "=<% %>="})
    EXPECT_FALSE(isTag(tag)) << tag;
}

TEST(Values, PlacesFollowFromTheLine) {
  EXPECT_EQ(placeBehind(""), TagPlace::Word);
  EXPECT_EQ(placeBehind("static void "), TagPlace::Word);
  EXPECT_EQ(placeBehind("// "), TagPlace::Comment);
  EXPECT_EQ(placeBehind("int n; // of \""), TagPlace::Comment);
  EXPECT_EQ(placeBehind("#include \""), TagPlace::Literal);
  EXPECT_EQ(placeBehind("f(\"//\", "), TagPlace::Word);
  EXPECT_EQ(placeBehind("f(\"a\\\"//"), TagPlace::Literal);
}

TEST(Values, CommentsAndLiteralsAreEscaped) {
  EXPECT_EQ(printedAt(TagPlace::Comment, "relu\\\nint x;"), "relu<U+005C><U+000A>int x;");
  EXPECT_EQ(printedAt(TagPlace::Literal, "a\" + f() + \""), "a\\\" + f() + \\\"");
}

TEST(Values, WordsAreRefusedIfTheyAreMore) {
  for (char const *word : {"", "conv1", "conv1.rows", "std::uint16_t", "cuda/std/array", "mma.h", "1024", "0x1fu"})
    EXPECT_EQ(printedAt(TagPlace::Word, word), word);
  for (char const *more : {"exit()", "a b", "a;", "a//b", "a::", ".a", "a\"", "a\n", "\u00e4", "a-b", "a,b", "a\\"})
    EXPECT_THROW(printedAt(TagPlace::Word, more), std::runtime_error) << more;
}

TEST(Values, CodeClosesWhatItOpens) {
  for (char const *code :
       {"", "a + b(c[0], {1, 2})", "f(\"(//#\\\"\", ')')", ", int n", "int /*n*/, int", "Tensor<float const **[3]>"})
    EXPECT_EQ(printedAt(TagPlace::Code, code), code);
  for (char const *open : {"a)", "(a", "(a]", "\"a", "'", "a // b", "a /* b */", "/**/", "/*a*", "#define a", "a\\",
                           "a\nb", "\u00e4", "@a"})
    EXPECT_THROW(printedAt(TagPlace::Code, open), std::runtime_error) << open;
}

} // namespace
