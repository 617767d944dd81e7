//===- Serializer.h - the model of the generated C++ as JSON for the templates --------------------------*- C++ -*-===//
//
// The only reader of Code: every string of the JSON is final, templates lay it out.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_EMIT_CPP_SERIALIZER_H
#define ML2K_EMIT_CPP_SERIALIZER_H

#include "translator/emit/cpp/File.h"
#include "translator/emit/render/Render.h"

namespace ml2k::cpp {

class Serializer {
public:
  static std::string text(Code const &code) { return code.text; }
  static std::string text(Expression const &expression);
  static std::string list(llvm::ArrayRef<Expression> expressions);
  static std::string text(Parameter const &parameter);
  static std::string list(llvm::ArrayRef<Parameter> parameters);
  static Json json(Statement const &statement);
  static Json json(Body const &body);
  static Json json(Lambda const &lambda);
  static Json json(Function const &function);
  static Json json(Functor const &functor);
  static Json json(Member const &member);
  static Json json(Workspace const &workspace);
  static Json json(Load const &load);
  static Json json(Array const &array);

  template <class Part> static Json all(std::vector<Part> const &parts) {
    Json list = Json::array();
    for (Part const &part : parts)
      list.push_back(json(part));
    return list;
  }

private:
  static Json view(Let const &s);
  static Json view(Copy const &s);
  static Json view(View const &s);
  static Json view(Image const &s);
  static Json view(Variable const &s);
  static std::optional<Json> update(Assign const &s);
  static Json view(Assign const &s);
  static Json view(Add const &s);
  static Json view(Return const &s);
  static Json view(Run const &s);
  static Json view(If const &s);
  static Json view(For const &s);
  static Json view(While const &s);
  static Json view(BreakIf const &s);
  static Json view(Fold const &s);
  static Json view(Each const &s);
  static Json view(Once const &s);
  static Json view(Columns const &s);
  static Json view(Pattern const &s);
  static Json view(Joined const &s);
  static Json view(Simd const &s);
  static Json view(Refuse const &s);
  static Json view(Refit const &s);
  static void append(std::string &text, Expression const &expression);
  static void appendList(std::string &text, llvm::ArrayRef<Expression> expressions);
};

} // namespace ml2k::cpp

#endif
