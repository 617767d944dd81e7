//===- SelfTest.cpp - a program that compares a build of the printed forms with recorded values -------------------===//

#include "translator/emit/cpp/Serializer.h"
#include "translator/emit/forms/FormPrinter.h"
#include "translator/ir/ColumnValues.h"
#include "translator/text/Text.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ml2k {

/// Two of the widest packs, the second not full: every path of the forms.
static constexpr int64_t mostQueries = mostLanes + 3, mostNumbers = 20000;

/// A literal, or an expression for what has none.
static std::string numberText(Attribute value) {
  if (auto number = dyn_cast<FloatAttr>(value); number && !number.getValue().isFinite()) {
    bool const isNan = number.getValue().isNaN();
    return isNan ? "NAN" : number.getValue().isNegative() ? "-INFINITY" : "INFINITY";
  }
  return cpp::Serializer::text(literal(cast<TypedAttr>(value)));
}

Json FormPrinter::viewRecord(unsigned number, std::vector<RowValues> const &rows) const {
  Json view = viewTensor(column.tensors[number]);
  view["label"] = literalText(column.tensors[number].modelName);
  view["rows"] = Json::array();
  for (RowValues const &row : rows) {
    std::vector<std::string> texts;
    llvm::transform(row, std::back_inserter(texts), numberText);
    view["rows"].push_back({{"values", llvm::join(texts, ", ")}});
  }
  return view;
}

LogicalResult FormPrinter::addTest(Json &view) const {
  int64_t width = 0;
  for (auto const *numbers : {&column.inputs, &column.outputs})
    for (unsigned number : *numbers)
      width += column.tensors[number].width;
  auto const queries = sampleQueries(column, std::clamp<int64_t>(mostNumbers / width, 1, mostQueries));
  if (failed(queries))
    return failure();
  auto const results = valuesOf(column, forms, *queries);
  if (failed(results))
    return failure();
  view["records"] = Json::array();
  for (auto const &[numbers, values] : {std::pair{&column.inputs, &*queries}, {&column.outputs, &*results}})
    for (auto [position, number] : llvm::enumerate(*numbers)) {
      std::vector<RowValues> rows;
      for (Query const &query : *values)
        rows.push_back(query[position]);
      view["records"].push_back(viewRecord(number, rows));
    }
  view["test"] = options.stem + "_test";
  view["queries"] = std::to_string(queries->size());
  view["tolerance"] = column.scalar.isF64() ? "1e-13" : "1e-5";
  view["is_runner"] = forms.runner;
  view["test_team"] = forms.team;
  view["test_thread"] = forms.thread;
  view["all_rows"] = list(", row(all.$N)");
  view["all_views"] = list(", all.$N");
  return success();
}

} // namespace ml2k
