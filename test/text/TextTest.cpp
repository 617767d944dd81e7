//===- TextTest.cpp - what bytes of an input become ---------------------------------------------------------------===//

#include "translator/text/Text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

using namespace ml2k;

namespace {

struct Case {
  std::string bytes;
  std::string terminal;
  std::string comment;
  std::string literal;
};

/// One line per dangerous character or word.
std::vector<Case> const &cases() {
  static std::vector<Case> const all = {
      {"Conv \"/layer1/conv\"", "Conv \"/layer1/conv\"", "Conv \"/layer1/conv\"", "Conv \\\"/layer1/conv\\\""},
      {"index:0", "index:0", "index:0", "index:0"},
      {"übergang → 次", "übergang → 次", "übergang → 次", "übergang → 次"},
      // Controls
      {"a\nb", "a<U+000A>b", "a<U+000A>b", "a<U+000A>b"},
      {"a\r\nb", "a<U+000D><U+000A>b", "a<U+000D><U+000A>b", "a<U+000D><U+000A>b"},
      {"a\tb", "a<U+0009>b", "a<U+0009>b", "a<U+0009>b"},
      {std::string("a\0b", 3), "a<U+0000>b", "a<U+0000>b", "a<U+0000>b"},
      {"\x1b[2J", "<U+001B>[2J", "<U+001B>[2J", "<U+001B>[2J"},
      {"a\x7f", "a<U+007F>", "a<U+007F>", "a<U+007F>"},
      {"\u009b2J", "<U+009B>2J", "<U+009B>2J", "<U+009B>2J"},
      // What nobody sees, or what moves its neighbours
      {"a\u202eb", "a<U+202E>b", "a<U+202E>b", "a<U+202E>b"},
      {"a\u2066b", "a<U+2066>b", "a<U+2066>b", "a<U+2066>b"},
      {"a\u200bb", "a<U+200B>b", "a<U+200B>b", "a<U+200B>b"},
      {"a\u00adb", "a<U+00AD>b", "a<U+00AD>b", "a<U+00AD>b"},
      {"a\u2028b", "a<U+2028>b", "a<U+2028>b", "a<U+2028>b"},
      {"a\ufeffb", "a<U+FEFF>b", "a<U+FEFF>b", "a<U+FEFF>b"},
      {"\u05d0", "<U+05D0>", "<U+05D0>", "<U+05D0>"},
      {"a\u0301", "a<U+0301>", "a<U+0301>", "a<U+0301>"},
      {"\U0001F600", "<U+1F600>", "<U+1F600>", "<U+1F600>"},
      {"\U000E0041", "<U+E0041>", "<U+E0041>", "<U+E0041>"},
      // No UTF-8: a lone byte, the end missing, too long a form, a surrogate, beyond the last code point
      {"a\xff", "a<FF>", "a<FF>", "a<FF>"},
      {"\xe2\x82", "<E2><82>", "<E2><82>", "<E2><82>"},
      {"\xc0\xaf", "<C0><AF>", "<C0><AF>", "<C0><AF>"},
      {"\xed\xa0\x80", "<ED><A0><80>", "<ED><A0><80>", "<ED><A0><80>"},
      {"\xf4\x90\x80\x80", "<F4><90><80><80>", "<F4><90><80><80>", "<F4><90><80><80>"},
      // Ends of comments and literals
      {"relu\\", "relu\\", "relu<U+005C>", "relu\\\\"},
      {"a\\nb", "a\\nb", "a<U+005C>nb", "a\\\\nb"},
      {"a*/b", "a*/b", "a* /b", "a*/b"},
      {"a/*b", "a/*b", "a/ *b", "a/*b"},
      {"a*/*b", "a*/*b", "a* / *b", "a*/*b"},
      {"a\?\?/", "a\?\?/", "a? ?/", "a?\\?/"},
      {"\?\?\?=", "\?\?\?=", "? ? ?=", "?\\?\\?="},
      {"\" + f() + \"", "\" + f() + \"", "\" + f() + \"", "\\\" + f() + \\\""},
      {"R\"x(", "R\"x(", "<U+0052>\"x(", "<U+0052>\\\"x("},
      {"Relu \"LR\" (x)", "Relu \"LR\" (x)", "Relu \"LR\" (x)", "Relu \\\"LR\\\" (x)"},
      // Words that tools obey
      {"clang-format off", "clang-format off", "<U+0063>lang-format off", "<U+0063>lang-format off"},
      {"x Clang-Format off", "x Clang-Format off", "x <U+0043>lang-Format off", "x <U+0043>lang-Format off"},
      {"NOLINT", "NOLINT", "<U+004E>OLINT", "<U+004E>OLINT"},
      {"xNOLINTBEGIN", "xNOLINTBEGIN", "x<U+004E>OLINTBEGIN", "x<U+004E>OLINTBEGIN"},
      {"IWYU pragma: keep", "IWYU pragma: keep", "<U+0049>WYU pragma: keep", "<U+0049>WYU pragma: keep"},
      {"SPDX-License-Identifier: MIT", "SPDX-License-Identifier: MIT", "<U+0053>PDX-License-Identifier: MIT",
       "<U+0053>PDX-License-Identifier: MIT"},
      {"LCOV_EXCL_START", "LCOV_EXCL_START", "<U+004C>COV_EXCL_START", "<U+004C>COV_EXCL_START"},
      {"GCOVR_EXCL_LINE", "GCOVR_EXCL_LINE", "<U+0047>COVR_EXCL_LINE", "<U+0047>COVR_EXCL_LINE"},
      {"GCOV_EXCL_LINE", "GCOV_EXCL_LINE", "<U+0047>COV_EXCL_LINE", "<U+0047>COV_EXCL_LINE"},
      {"-*- eval: x -*-", "-*- eval: x -*-", "<U+002D>*- eval: x <U+002D>*-", "<U+002D>*- eval: x <U+002D>*-"},
      {"Local Variables:", "Local Variables:", "<U+004C>ocal Variables:", "<U+004C>ocal Variables:"},
      {"vim: set x", "vim: set x", "<U+0076>im: set x", "<U+0076>im: set x"},
      {"a vi:x", "a vi:x", "a <U+0076>i:x", "a <U+0076>i:x"},
      {"a ex:x", "a ex:x", "a <U+0065>x:x", "a <U+0065>x:x"},
      {"vim>600: x", "vim>600: x", "<U+0076>im>600: x", "<U+0076>im>600: x"},
      {"kate: x", "kate: x", "<U+006B>ate: x", "<U+006B>ate: x"},
      {"language=sql", "language=sql", "<U+006C>anguage=sql", "<U+006C>anguage=sql"},
      {"@formatter:off", "@formatter:off", "<U+0040>formatter:off", "<U+0040>formatter:off"},
      {"noinspection X", "noinspection X", "<U+006E>oinspection X", "<U+006E>oinspection X"},
      {"cppcheck-suppress x", "cppcheck-suppress x", "<U+0063>ppcheck-suppress x", "<U+0063>ppcheck-suppress x"},
      {"coverity[x]", "coverity[x]", "<U+0063>overity[x]", "<U+0063>overity[x]"},
      {"NOSONAR", "NOSONAR", "<U+004E>OSONAR", "<U+004E>OSONAR"},
      {"@generated", "@generated", "<U+0040>generated", "<U+0040>generated"},
      {"REUSE-IgnoreStart", "REUSE-IgnoreStart", "<U+0052>EUSE-IgnoreStart", "<U+0052>EUSE-IgnoreStart"},
      {"cspell:disable", "cspell:disable", "<U+0063>spell:disable", "<U+0063>spell:disable"},
      {"codespell:ignore", "codespell:ignore", "<U+0063>odespell:ignore", "<U+0063>odespell:ignore"},
      {"DO NOT EDIT", "DO NOT EDIT", "<U+0044>O NOT EDIT", "<U+0044>O NOT EDIT"},
  };
  return all;
}

TEST(Text, Terminal) {
  for (Case const &one : cases())
    EXPECT_EQ(terminalText(one.bytes), one.terminal);
}

TEST(Text, Comment) {
  for (Case const &one : cases())
    EXPECT_EQ(commentText(one.bytes), one.comment);
}

TEST(Text, Literal) {
  for (Case const &one : cases())
    EXPECT_EQ(literalText(one.bytes), one.literal);
  EXPECT_EQ(quotedText("a\"b"), "\"a\\\"b\"");
}

TEST(Text, LinesKeepNewlinesAndTabs) { EXPECT_EQ(terminalLines("a\n\tb\x1b\n"), "a\n\tb<U+001B>\n"); }

TEST(Text, Utf8IsKeptForJson) {
  EXPECT_EQ(validUtf8("a\u202e\n\"\\"), "a\u202e\n\"\\");
  EXPECT_EQ(validUtf8("a\xff\xed\xa0\x80"), "a<FF><ED><A0><80>");
}

TEST(Text, IsCutBetweenCharacters) {
  EXPECT_EQ(commentText("äöü", 2), "ä...");
  EXPECT_EQ(commentText("äöü", 3), "äö...");
  EXPECT_EQ(commentText("äöü", 6), "äöü");
  EXPECT_EQ(terminalText(std::string(1000, '\x1b'), 16), "<U+001B><U+001B>...");
  EXPECT_EQ(literalText(std::string(100, 'x'), 10), "xxxxxxxxxx...");
}

/// Bait in random order, and random bytes.
std::string randomName(std::mt19937 &random) {
  std::string text;
  for (unsigned part = 0, parts = random() % 12; part < parts; ++part)
    text += random() % 3 == 0 ? std::string(1, char(random() % 256)) : cases()[random() % cases().size()].bytes;
  return text;
}

bool isPrintable(std::string const &text) {
  return std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

TEST(Text, TwiceIsOnce) {
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string const name = randomName(random), once = commentText(name);
    ASSERT_EQ(commentText(once), once) << terminalText(name);
    ASSERT_EQ(terminalText(terminalText(name)), terminalText(name));
    ASSERT_EQ(validUtf8(once), once);
    ASSERT_TRUE(isPrintable(once) && isPrintable(literalText(name)));
    for (char const *word : {"*/", "/*", "\?\?", "\\", "clang-format", "NOLINT", "-*-"})
      ASSERT_EQ(once.find(word), std::string::npos) << once;
  }
}

/// A literal ends where it should, whatever is in it.
TEST(Text, LiteralsAreClosed) {
  std::mt19937 random(2);
  for (int i = 0; i < 20000; ++i) {
    std::string const text = literalText(randomName(random));
    for (size_t at = 0; at < text.size(); ++at) {
      ASSERT_NE(text[at], '"') << text;
      if (text[at] == '\\') {
        ASSERT_TRUE(++at < text.size() && std::string("\"\\?").find(text[at]) != std::string::npos) << text;
      }
    }
    ASSERT_EQ(text.find("\?\?"), std::string::npos);
  }
}

} // namespace
