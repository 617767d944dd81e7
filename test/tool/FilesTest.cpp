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
#include <sys/stat.h>

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

WriteRules const forced{{}, /*force=*/true};

TEST_F(Files, WrittenAndReplaced) {
  ASSERT_FALSE(errorToBool(writeFiles(folder, {{"a.hpp", "1"}, {"a.cpp", "2"}})));
  ASSERT_FALSE(errorToBool(writeFiles(folder, {{"a.hpp", "3"}, {"a.cpp", "2"}}, forced)));
  EXPECT_EQ(read("a.hpp"), "3");
  EXPECT_EQ(read("a.cpp"), "2");
  EXPECT_EQ(count(), 2);
}

TEST_F(Files, AllOrNone) {
  ASSERT_FALSE(errorToBool(writeFiles(folder, {{"a.hpp", "old"}})));
  ASSERT_FALSE(sys::fs::create_directory(path("a.cpp")));
  EXPECT_TRUE(errorToBool(writeFiles(folder, {{"a.hpp", "new"}, {"a.cpp", "new"}}, forced)));
  EXPECT_EQ(read("a.hpp"), "old");
  EXPECT_EQ(count(), 2);
}

TEST_F(Files, LinksAreFollowed) {
  ASSERT_FALSE(errorToBool(writeFiles(folder, {{"real", "old"}})));
  ASSERT_FALSE(sys::fs::create_link("real", path("link")));
  ASSERT_FALSE(errorToBool(writeFiles(folder, {{"link", "new"}}, forced)));
  EXPECT_EQ(read("real"), "new");
  EXPECT_TRUE(sys::fs::is_symlink_file(path("link")));
}

TEST_F(Files, KeepTheirMode) {
  ASSERT_FALSE(errorToBool(writeFiles(folder, {{"a", "old"}})));
  ASSERT_FALSE(sys::fs::setPermissions(path("a"), sys::fs::owner_read | sys::fs::owner_write));
  ASSERT_FALSE(errorToBool(writeFiles(folder, {{"a", "new"}}, forced)));
  EXPECT_EQ(*sys::fs::getPermissions(path("a")), sys::fs::owner_read | sys::fs::owner_write);
}

//===--- Files that stay ------------------------------------------------------------------------------------------===//

/// What the writer says of one output; it must leave the folder as it is.
std::string refusal(StringRef folder, StringRef name, WriteRules const &rules = {}) {
  return toString(writeFiles(folder, {{"first.hpp", "new"}, {name.str(), "new"}}, rules));
}

TEST_F(Files, OthersFilesStay) {
  ASSERT_FALSE(errorToBool(writeFiles(folder, {{"a.cpp", "int main() {}"}, {"a.safetensors", "weights"}})));
  for (char const *name : {"a.cpp", "a.safetensors"})
    EXPECT_NE(refusal(folder, name).find("was not written by ml2kokkos"), std::string::npos);
  EXPECT_EQ(read("a.cpp"), "int main() {}");
  EXPECT_EQ(read("first.hpp"), "missing"); // all are checked before the first is written
  EXPECT_EQ(refusal(folder, "a.cpp", forced), "");
  EXPECT_EQ(read("a.cpp"), "new");
}

TEST_F(Files, OursAreReplaced) {
  std::string const metadata("\x40\0\0\0\0\0\0\0{\"__metadata__\":{\"generator\":\"ml2kokkos\"}}", 48);
  std::vector<OutputFile> const ours = {
      {"banner.cpp", "// Code generated by ml2kokkos from a.onnx. DO NOT EDIT. See a.hpp.\n"},
      {"wrapped.cpp", "// Code generated\r\n// by ml2kokkos from\r\n// a.onnx.\r\n"},
      {"empty.cpp", ""},
      {"view.json", "{\n  \"generator\": \"ml2kokkos\",\n"},
      {"metadata.safetensors", metadata},
      {"named.hpp",
       "// Code generated by ml2kokkos from a.onnx. DO NOT EDIT.\n// Weights:    named.safetensors, 1 x f32\n"},
      {"named.safetensors", "version https://git-lfs.github.com/spec/v1"}};
  ASSERT_FALSE(errorToBool(writeFiles(folder, ours)));
  for (OutputFile const &file : ours)
    if (file.name != "named.hpp") {
      EXPECT_EQ(toString(writeFiles(folder, {{file.name, "new"}})), "");
    }
}

TEST_F(Files, NearlyOursStay) {
  std::vector<OutputFile> const theirs = {{"quoted.cpp", "// As in: // Code generated by ml2kokkos from\n"},
                                          {"other.cpp", "// Code generated by ml2kokkosX.\n"},
                                          {"cut.cpp", "// Code generated by ml2"},
                                          {"short.safetensors", "{\"__m"},
                                          {"view.json", "{\"generators\": \"ml2kokkos\"}"}};
  ASSERT_FALSE(errorToBool(writeFiles(folder, theirs)));
  for (OutputFile const &file : theirs)
    EXPECT_NE(refusal(folder, file.name).find("was not written by ml2kokkos"), std::string::npos) << file.name;
}

TEST_F(Files, InputsStayByAnyPath) {
  ASSERT_FALSE(errorToBool(writeFiles(folder, {{"in.cpp", "// Code generated by ml2kokkos"}})));
  ASSERT_FALSE(sys::fs::create_hard_link(path("in.cpp"), path("hard.cpp")));
  ASSERT_FALSE(sys::fs::create_link("in.cpp", path("soft.cpp")));
  WriteRules const rules{{path("../") + sys::path::filename(folder).str() + "/in.cpp"}, /*force=*/true};
  for (char const *name : {"in.cpp", "hard.cpp", "soft.cpp"})
    EXPECT_NE(refusal(folder, name, rules).find("would replace an input"), std::string::npos) << name;
  EXPECT_EQ(read("in.cpp"), "// Code generated by ml2kokkos");
}

TEST_F(Files, OnlyRegularFilesAreReplaced) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  ASSERT_FALSE(sys::fs::create_link("pipe", path("to-pipe")));
  ASSERT_FALSE(sys::fs::create_link("/dev/null", path("to-device")));
  for (char const *name : {"pipe", "to-pipe", "to-device"})
    EXPECT_NE(refusal(folder, name, forced).find("it is not a regular file"), std::string::npos) << name;
  ASSERT_FALSE(sys::fs::create_link(".", path("to-folder")));
  EXPECT_NE(refusal(folder, "to-folder", forced).find("it is a directory"), std::string::npos);
}

TEST_F(Files, DanglingLinksStay) {
  ASSERT_FALSE(sys::fs::create_link("nowhere", path("link.cpp")));
  EXPECT_NE(refusal(folder, "link.cpp", forced).find("a symbolic link to a file that does not exist"),
            std::string::npos);
  EXPECT_TRUE(sys::fs::is_symlink_file(path("link.cpp")));
}

TEST_F(Files, OutputsAreDistinct) {
  ASSERT_FALSE(errorToBool(writeFiles(folder, {{"first.hpp", ""}})));
  ASSERT_FALSE(sys::fs::create_hard_link(path("first.hpp"), path("second.cpp")));
  EXPECT_NE(refusal(folder, "second.cpp").find("is the same file as"), std::string::npos);
}

//===--- --check --------------------------------------------------------------------------------------------------===//

TEST_F(Files, CheckNamesWhatDiffers) {
  ASSERT_FALSE(errorToBool(writeFiles(folder, {{"a.cpp", "1\n"}, {"a.safetensors", "x"}})));
  std::string said;
  raw_string_ostream out(said);
  EXPECT_TRUE(checkFiles(folder, {{"a.cpp", "1\n"}, {"a.safetensors", "x"}}, std::string("a.safetensors"), out));
  EXPECT_EQ(said, "");
  EXPECT_FALSE(
      checkFiles(folder, {{"a.cpp", "2\n"}, {"a.safetensors", "y"}, {"a.hpp", ""}}, std::string("a.safetensors"), out));
  EXPECT_NE(said.find("-1\n+2\n"), std::string::npos);
  EXPECT_NE(said.find("a.safetensors: stale"), std::string::npos);
  EXPECT_NE(said.find("a.hpp: missing"), std::string::npos);
  said.clear();
  EXPECT_TRUE(checkFiles(folder, {{"a.cpp", "1\n"}}, std::string("a.safetensors"), out));
  EXPECT_EQ(said, ""); // somebody else's
  ASSERT_FALSE(errorToBool(writeFiles(folder, {{"a.safetensors", ""}}, forced)));
  EXPECT_FALSE(checkFiles(folder, {{"a.cpp", "1\n"}}, std::string("a.safetensors"), out));
  EXPECT_NE(said.find("a.safetensors: orphan"), std::string::npos);
}

TEST_F(Files, CheckDoesNotWaitForPipes) {
  ASSERT_EQ(mkfifo(path("a.cpp").c_str(), 0600), 0);
  std::string said;
  raw_string_ostream out(said);
  EXPECT_FALSE(checkFiles(folder, {{"a.cpp", "1\n"}}, std::string("a.safetensors"), out));
  EXPECT_NE(said.find("a.cpp: not a regular file"), std::string::npos);
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
