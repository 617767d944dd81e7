//===- FilesTest.cpp - what puts files in place -------------------------------------------------------------------===//

#include "translator/output/Check.h"
#include "translator/output/Diff.h"
#include "translator/output/Format.h"
#include "translator/output/Writer.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <gtest/gtest.h>

#include <random>

using namespace llvm;
using namespace ml2k;

namespace {

//===--- Differences ----------------------------------------------------------------------------------------------===//

SmallVector<StringRef, 0> lines(StringRef text) {
  SmallVector<StringRef, 0> parts;
  text.split(parts, '\n');
  if (parts.back().empty())
    parts.pop_back();
  return parts;
}

/// What patch(1) makes of a text and its differences; checks the context and the counts on the way.
std::string patched(StringRef before, StringRef difference) {
  auto const old = lines(before);
  std::string result;
  size_t at = 0;
  for (StringRef line : lines(difference)) {
    if (line.starts_with("@@ -")) {
      size_t first = 0;
      StringRef const range = line.drop_front(4).split(' ').first;
      EXPECT_FALSE(range.split(',').first.getAsInteger(10, first));
      first -= range.ends_with(",0") ? 0 : 1;
      for (; at < first; ++at)
        result += old[at].str() + "\n";
      continue;
    }
    if (line.front() != '+') {
      EXPECT_EQ(old[at++], line.drop_front());
    }
    if (line.front() != '-')
      result += line.drop_front().str() + "\n";
  }
  for (; at < old.size(); ++at)
    result += old[at].str() + "\n";
  return result;
}

TEST(Diff, NothingForEqualTexts) { EXPECT_EQ(unifiedDiff("a\nb\n", "a\nb\n"), ""); }

TEST(Diff, OneLineWithContext) {
  EXPECT_EQ(unifiedDiff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
            "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(Diff, FromAndToNothing) {
  EXPECT_EQ(unifiedDiff("", "a\n"), "@@ -0,0 +1 @@\n+a\n");
  EXPECT_EQ(unifiedDiff("a\nb\n", ""), "@@ -1,2 +0,0 @@\n-a\n-b\n");
}

TEST(Diff, FarEditsAreSeveralHunks) {
  std::string before;
  for (int i = 0; i < 30; ++i)
    before += std::to_string(i) + "\n";
  std::string after = before;
  after.replace(after.find("\n5\n"), 3, "\nx\n");
  after.replace(after.find("\n25\n"), 4, "\n25\ny\n");
  EXPECT_EQ(StringRef(unifiedDiff(before, after)).count("@@ -"), 2u);
}

TEST(Diff, AppliesToRandomTexts) {
  std::mt19937 random(1);
  auto text = [&] {
    std::string result;
    for (unsigned n = random() % 30; n > 0; --n)
      result += std::string(1, 'a' + random() % 4) + "\n";
    return result;
  };
  for (int i = 0; i < 2000; ++i) {
    std::string const before = text();
    std::string const after = text();
    ASSERT_EQ(patched(before, unifiedDiff(before, after)), after);
  }
}

//===--- Files ----------------------------------------------------------------------------------------------------===//

class Files : public testing::Test {
protected:
  void SetUp() override { ASSERT_FALSE(sys::fs::createUniqueDirectory("ml2k-files", folder)); }
  void TearDown() override { sys::fs::remove_directories(folder); }

  std::string path(StringRef name) const {
    SmallString<256> result(folder);
    sys::path::append(result, name);
    return result.str().str();
  }
  std::string read(StringRef name) const {
    auto const file = MemoryBuffer::getFile(path(name));
    return file ? (*file)->getBuffer().str() : "missing";
  }
  int count() const {
    std::error_code error;
    int files = 0;
    for (sys::fs::directory_iterator at(folder, error), end; at != end && !error; at.increment(error))
      ++files;
    return files;
  }

  SmallString<256> folder;
};

TEST_F(Files, WrittenAndReplaced) {
  ASSERT_FALSE(errorToBool(writeFiles(folder, {{"a.hpp", "1"}, {"a.cpp", "2"}})));
  ASSERT_FALSE(errorToBool(writeFiles(folder, {{"a.hpp", "3"}, {"a.cpp", "2"}})));
  EXPECT_EQ(read("a.hpp"), "3");
  EXPECT_EQ(read("a.cpp"), "2");
  EXPECT_EQ(count(), 2);
}

TEST_F(Files, AllOrNone) {
  ASSERT_FALSE(errorToBool(writeFiles(folder, {{"a.hpp", "old"}})));
  ASSERT_FALSE(sys::fs::create_directory(path("a.cpp")));
  EXPECT_TRUE(errorToBool(writeFiles(folder, {{"a.hpp", "new"}, {"a.cpp", "new"}})));
  EXPECT_EQ(read("a.hpp"), "old");
  EXPECT_EQ(count(), 2);
}

TEST_F(Files, LinksAreFollowed) {
  ASSERT_FALSE(errorToBool(writeFiles(folder, {{"real", "old"}})));
  ASSERT_FALSE(sys::fs::create_link("real", path("link")));
  ASSERT_FALSE(errorToBool(writeFiles(folder, {{"link", "new"}})));
  EXPECT_EQ(read("real"), "new");
  EXPECT_TRUE(sys::fs::is_symlink_file(path("link")));
}

TEST_F(Files, KeepTheirMode) {
  ASSERT_FALSE(errorToBool(writeFiles(folder, {{"a", "old"}})));
  ASSERT_FALSE(sys::fs::setPermissions(path("a"), sys::fs::owner_read | sys::fs::owner_write));
  ASSERT_FALSE(errorToBool(writeFiles(folder, {{"a", "new"}})));
  EXPECT_EQ(*sys::fs::getPermissions(path("a")), sys::fs::owner_read | sys::fs::owner_write);
}

//===--- --check --------------------------------------------------------------------------------------------------===//

TEST_F(Files, CheckNamesWhatDiffers) {
  ASSERT_FALSE(errorToBool(writeFiles(folder, {{"a.cpp", "1\n"}, {"a.safetensors", "x"}})));
  std::string said;
  raw_string_ostream out(said);
  EXPECT_TRUE(checkFiles(folder, {{"a.cpp", "1\n"}, {"a.safetensors", "x"}}, "a.safetensors", out));
  EXPECT_EQ(said, "");
  EXPECT_FALSE(checkFiles(folder, {{"a.cpp", "2\n"}, {"a.safetensors", "y"}, {"a.hpp", ""}}, "a.safetensors", out));
  EXPECT_NE(said.find("-1\n+2\n"), std::string::npos);
  EXPECT_NE(said.find("a.safetensors: stale"), std::string::npos);
  EXPECT_NE(said.find("a.hpp: missing"), std::string::npos);
  said.clear();
  EXPECT_FALSE(checkFiles(folder, {{"a.cpp", "1\n"}}, "a.safetensors", out));
  EXPECT_NE(said.find("a.safetensors: orphan"), std::string::npos);
}

//===--- Formatting -----------------------------------------------------------------------------------------------===//

constexpr char const *untidy = "int   f( int *a ){return   *a;}";

TEST_F(Files, StyleBesideTheOutput) {
  ASSERT_FALSE(errorToBool(writeFiles(folder, {{".clang-format", "BasedOnStyle: LLVM\nPointerAlignment: Left\n"}})));
  EXPECT_EQ(cantFail(formatCode(untidy, path("a.cpp"), "file")), "int f(int* a) { return *a; }");
  EXPECT_EQ(cantFail(formatCode(untidy, path("a.cpp"), "llvm")), "int f(int *a) { return *a; }");
}

TEST_F(Files, FormattingIsAFixedPoint) {
  std::string const once = cantFail(formatCode(untidy, path("a.cpp"), "google"));
  EXPECT_EQ(cantFail(formatCode(once, path("a.cpp"), "google")), once);
}

TEST_F(Files, UnreadableStyleIsAnError) {
  ASSERT_FALSE(errorToBool(writeFiles(folder, {{".clang-format", "ColumnLimit: [\n"}})));
  EXPECT_TRUE(errorToBool(formatCode(untidy, path("a.cpp"), "file").takeError()));
  EXPECT_TRUE(errorToBool(formatCode(untidy, path("a.cpp"), "no-such-style").takeError()));
}

} // namespace
