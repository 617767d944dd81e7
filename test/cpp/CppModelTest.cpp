//===- CppModelTest.cpp - the model of the generated C++: what is text, what is known of it -----------------------===//

#include "translator/emit/cpp/Serializer.h"

#include <gtest/gtest.h>

using namespace ml2k;
using cpp::Body;
using cpp::Code;
using cpp::Expression;
using cpp::Identifier;
using cpp::Names;
using cpp::Rank;
using cpp::Raw;
using cpp::Serializer;

// Nothing but constant text of the program, names and numbers becomes code, and code is no string again
static_assert(!std::is_constructible_v<Raw, std::string> && !std::is_constructible_v<Raw, llvm::StringRef> &&
              !std::is_constructible_v<Raw, char const *>);
static_assert(!std::is_constructible_v<Code, std::string> && !std::is_constructible_v<Code, llvm::StringRef> &&
              !std::is_constructible_v<Code, char const *>);
static_assert(!std::is_convertible_v<std::string, Identifier> && !std::is_convertible_v<llvm::StringRef, Identifier>);
static_assert(!std::is_convertible_v<Code, std::string> && !std::is_convertible_v<Expression, std::string>);

static Expression use(llvm::StringRef name) { return cpp::name(Identifier(name)); }
static Names namesOf(std::initializer_list<llvm::StringRef> list) {
  Names names;
  for (llvm::StringRef name : list)
    names.insert(Identifier(name));
  return names;
}

TEST(Code, OnlyNamesAreIdentifiers) {
  for (char const *bad : {"", "1x", "a b", "a\n", "x;", "\xc3\xa9", "a\"b"})
    EXPECT_DEATH(Identifier{llvm::StringRef(bad)}, "no identifier") << bad;
  EXPECT_EQ(Identifier(llvm::StringRef("layer1_0")).str(), "layer1_0");
}

TEST(Code, LiteralsReadBackAsTheSameValue) {
  EXPECT_EQ(Serializer::text(cpp::floatLiteral(0.1f)), "0.1f");
  EXPECT_EQ(Serializer::text(cpp::floatLiteral(2.f)), "2.f");
  EXPECT_EQ(Serializer::text(cpp::doubleLiteral(2.)), "2.0");
  EXPECT_EQ(Serializer::text(cpp::doubleLiteral(1e300)), "1e+300");
  EXPECT_EQ(Serializer::text(cpp::unsignedLiteral(3)), "3u");
}

TEST(Expression, ParenthesesStandWhereTheyAreWanted) {
  Expression const a = use("a"), b = use("b"), sum = binary(a, "+", Rank::Add, b);
  EXPECT_EQ(Serializer::text(binary(a, "-", Rank::Add, sum)), "a - (a + b)");
  EXPECT_EQ(Serializer::text(binary(sum, "-", Rank::Add, a)), "a + b - a");
  EXPECT_EQ(Serializer::text(binary(sum, "*", Rank::Multiply, a)), "(a + b) * a");
  EXPECT_EQ(Serializer::text(binary(sum, "&", Rank::BitAnd, a)), "(a + b) & a");
  Expression const both = binary(a, "&&", Rank::And, b);
  EXPECT_EQ(Serializer::text(binary(both, "||", Rank::Or, a)), "(a && b) || a");
  EXPECT_EQ(Serializer::text(unary("-", unary("-", a))), "-(-a)");
  EXPECT_EQ(Serializer::text(unary("-", cpp::literal(-3))), "-(-3)");
  EXPECT_EQ(Serializer::text(conditional(a, conditional(a, b, a), conditional(b, a, b))),
            "a ? (a ? b : a) : b ? a : b");
}

TEST(Expression, KnowsItsWidth) {
  Expression const a = use("a"), view = use("view");
  std::vector<Expression> const all = {a,
                                       cpp::literal(-12),
                                       cpp::member(a, Raw("rows")),
                                       call(view, {}),
                                       call(view, {a, a, a}),
                                       call(Raw("Kokkos::max"), {a, cpp::literal(1)}),
                                       cpp::braces(Raw("Span"), {a, a}),
                                       cpp::braces({}, {a}),
                                       cpp::index(view, {a, a}),
                                       unary("!", a),
                                       binary(a, "<=", Rank::Relation, a),
                                       conditional(a, a, a),
                                       cpp::parentheses(a),
                                       cpp::lambda(Raw("float"), Raw("before"), a)};
  for (Expression const &expression : all)
    EXPECT_EQ(expression.width(), Serializer::text(expression).size()) << Serializer::text(expression);
}

TEST(Expression, SaysWhatItUsesAndDoes) {
  Expression const row = cpp::checkedIndex({use("i"), use("rows")});
  EXPECT_TRUE(row->mustRun);
  EXPECT_TRUE(checks(binary(row, "+", Rank::Add, cpp::literal(1))));
  EXPECT_FALSE(checks(use("checked_index")));
  EXPECT_TRUE(divides(binary(use("n"), "/", Rank::Multiply, cpp::literal(2))));
  EXPECT_TRUE(divides(cpp::division("floor_div", {use("n"), cpp::literal(2)})));
  EXPECT_FALSE(divides(call(use("floor_div"), {})));
  EXPECT_EQ(usesOf(call(cpp::member(use("work"), Raw("x")), {use("i")})), namesOf({"work", "i"}));
  EXPECT_EQ(usesOf(cpp::lambda(Raw("float"), Raw("before"), binary(use("before"), "+", Rank::Add, use("s")))),
            namesOf({"s"}));
}

TEST(Expression, IsReplacedWhereItStandsInParentheses) {
  Expression const size = binary(use("n"), "+", Rank::Add, cpp::literal(1));
  Expression const whole = binary(size, "*", Rank::Multiply, call(Raw("f"), {size}));
  EXPECT_EQ(Serializer::text(withReplacement(whole, size, use("rows"))), "rows * f(n + 1)");
  EXPECT_FALSE(isOperandOf(size, call(Raw("f"), {size})));
}

TEST(Statement, NamesAreUsedInTheirScope) {
  cpp::Type const type = Code(Raw("float"));
  Body const body = {cpp::Let{type, Raw("x"), use("a")},
                     cpp::For{Raw("k"),
                              cpp::literal(0),
                              use("n"),
                              cpp::literal(1),
                              {cpp::Let{type, Raw("y"), binary(use("x"), "*", Rank::Multiply, use("k"))},
                               cpp::Assign{use("out"), use("y")}}}};
  EXPECT_EQ(usesOf(body), namesOf({"a", "n", "out"}));
  EXPECT_EQ(countStatements(body), 4u);
  // What the body of a fold declares is known to its value; the parameter is no variable of the function
  cpp::Fold const fold{
      type, Raw("total"), "Sum", use("n"), cpp::intParameter(Raw("i")), {cpp::Let{type, Raw("t"), use("i")}}, use("t")};
  EXPECT_EQ(usesOf(Body{fold}), namesOf({"along", "n"}));
  // A use before the declaration is one of another variable
  EXPECT_EQ(usesOf(Body{cpp::Let{type, Raw("x"), use("x")}}), namesOf({"x"}));
}

TEST(Statement, UnusedParametersHaveNoNames) {
  cpp::Lambda lambda{cpp::intParameters({Raw("n"), Raw("i")}),
                     {cpp::Each{cpp::literal(1), cpp::intParameter(Raw("j")), {cpp::Assign{use("out"), use("i")}}}}};
  dropUnusedParameters(lambda);
  EXPECT_EQ(Serializer::list(lambda.parameters), "int, int i");
  EXPECT_EQ(Serializer::text(lambda.body.front().as<cpp::Each>()->parameter), "int");
}

TEST(Function, SaysWhichBlocksItNeeds) {
  cpp::Function function{Raw("layer")};
  function.locals = {cpp::Copy{Code(Raw("float")), Raw("x"), use("work")}};
  function.call.blocks = {"for_each"};
  function.call.lambdas = {{{}, {cpp::Return{call(Raw("fast_exp"), {use("x")}, "fast_exp")}}}};
  EXPECT_EQ(blocksOf(function), (std::set<Raw>{"fast_exp", "for_each"}));
  EXPECT_EQ(usesOf(function), namesOf({"work"}));
}
