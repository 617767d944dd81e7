// Names never run out, however many collide.

#include "translator/emit/model/Names.h"
#include "translator/ir/UniqueNames.h"

#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

#include <set>

using namespace ml2k;

namespace {

bool isIdentifier(llvm::StringRef name) {
  return !name.empty() && !llvm::isDigit(name.front()) &&
         llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

TEST(Names, LocalsOfOneStem) {
  Scope scope;
  std::set<std::string> seen;
  for (int i = 0; i < 100000; ++i) {
    std::string const name = scope.fresh({"scaled"}).str();
    EXPECT_TRUE(isIdentifier(name)) << name;
    EXPECT_TRUE(seen.insert(name).second) << name;
  }
}

TEST(Names, LettersComeFirst) {
  Scope scope;
  EXPECT_EQ(scope.fresh({"x", "y"}).str(), "x");
  EXPECT_EQ(scope.fresh({"x", "y"}).str(), "y");
  EXPECT_EQ(scope.fresh({"x", "y"}).str(), "y_b");
  EXPECT_EQ(scope.fresh({"x", "y"}).str(), "y_c");
}

/// What the model calls a value decides its name, not how many values there are in front of it.
TEST(Names, AnotherValueRenamesNothing) {
  Scope few, many;
  for (int i = 0; i < 26; ++i) {
    few.fresh({"x"});
    many.fresh({"x"});
  }
  many.fresh({"x"}, "Add \"other\"");
  EXPECT_EQ(few.fresh({"x"}, "Mul \"this\"").str(), many.fresh({"x"}, "Mul \"this\"").str());
}

TEST(Names, ReleasedNamesAreFree) {
  Scope scope;
  scope.take("kept");
  size_t const before = scope.count();
  scope.fresh({"inner"});
  scope.release(before);
  EXPECT_TRUE(scope.isTaken("kept"));
  EXPECT_FALSE(scope.isTaken("inner"));
}

TEST(Names, MembersThatDifferInSignsOnly) {
  std::vector<std::string> names;
  for (int i = 0; i < 1 << 14; ++i) {
    std::string name = "a";
    for (int bit = 0; bit < 14; ++bit)
      name += std::string(i >> bit & 1 ? "." : "/") + "a";
    names.push_back(name);
  }
  auto const table = nameTable(names, "value");
  std::set<std::string> seen;
  for (std::string const &name : names) {
    EXPECT_TRUE(isIdentifier(table.lookup(name)));
    EXPECT_TRUE(seen.insert(table.lookup(name)).second) << table.lookup(name);
  }
}

/// A model may have the very name that a hash would make.
TEST(Names, AHashThatTheModelHas) {
  auto const first = nameTable({"a.b", "a/b"}, "value");
  auto const second = nameTable({"a.b", "a/b", first.lookup("a.b")}, "value");
  EXPECT_EQ(second.lookup(first.lookup("a.b")), first.lookup("a.b"));
  EXPECT_NE(second.lookup("a.b"), first.lookup("a.b"));
}

TEST(Names, EqualNamesWithEqualDetails) {
  UniqueNames names;
  std::set<std::string> seen;
  for (int i = 0; i < 100000; ++i)
    EXPECT_TRUE(seen.insert(names.unique("layer", "the same")).second);
}

} // namespace
