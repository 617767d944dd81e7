//===- ReportForms.cpp - what --report says of forms for one entry of the batch -----------------------------------===//

#include "translator/ir/ColumnValues.h"
#include "translator/text/Text.h"
#include "translator/tool/Report.h"

#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;
using namespace ml2k;

/// Sums of one layer that a host keeps in registers: those of 12 vectors at most.
static int64_t widestTile(Column const &column) {
  int64_t widest = 0;
  for (ColumnWeights const &weights : column.weights)
    if (weights.inputs != 0)
      widest = std::max(widest, std::min<int64_t>((weights.outputs + 15) / 16 * 16, 12 * mostLanes));
  return widest;
}

static void printForm(char const *name, std::string const &text, llvm::raw_ostream &out) {
  out << llvm::left_justify(name, 8) << text << "\n";
}

static void printSizes(Column const &column, Forms const &forms, llvm::raw_ostream &out) {
  int64_t const barriers = llvm::count_if(column.layers, [](ColumnLayer const &layer) { return layer.needsBarrier; });
  int64_t const bytes = bufferBytes(column), tile = widestTile(column);
  std::string const sums = std::to_string(tile) + " sums in registers of a host";
  if (forms.team)
    printForm("team",
              "scratch " + std::to_string(bufferBytes(column, 0)) + " B of level 0, " +
                  std::to_string(bufferBytes(column, 1)) + " B of level 1; " + std::to_string(barriers) +
                  " barriers; " + sums + ", 1 of a device",
              out);
  if (forms.thread)
    printForm("thread", "stack " + std::to_string(bytes) + " B; no barriers; " + sums + ", 8 of a device", out);
  if (forms.thread || forms.rows || forms.launch)
    printForm(
        "packs",
        "stack " + std::to_string(packedBytes(column)) + " B for " + std::to_string(mostLanes) +
            " columns with their arguments" +
            (packedBytes(column) > stackLimit ? ": more than " + std::to_string(stackLimit) + ", not printed" : "") +
            ((forms.launch || forms.rows) && column.scalar.isF32() ? ", twice that with AVX-512" : "") + "; " +
            std::to_string(16 * mostLanes) + " sums in registers of a host",
        out);
  if (forms.runner)
    printForm("runner", "stack " + std::to_string(bytes) + " B; " + sums, out);
}

/// What rounding the weights does to results, in parts of the largest value of each.
static void printHalves(Column const &column, Forms const &forms, llvm::raw_ostream &out) {
  constexpr unsigned samples = 32;
  auto const queries = sampleQueries(column, samples);
  if (failed(queries))
    return;
  auto const exact = valuesOf(column, {}, *queries), halved = valuesOf(column, forms, *queries);
  for (auto [position, number] : llvm::enumerate(column.outputs)) {
    double largest = 0, worst = 0, sum = 0, count = 0;
    for (auto const &[a, b] : llvm::zip(*exact, *halved))
      for (auto const &[x, y] : llvm::zip(a[position], b[position])) {
        double const error = std::abs(numberOf(x) - numberOf(y));
        largest = std::max(largest, std::abs(numberOf(x)));
        worst = std::max(worst, error);
        sum += error;
        ++count;
      }
    double const unit = largest > 0 ? largest : 1;
    out << "--weights=bf16: " << terminalText(column.tensors[number].modelName, longestName)
        << " differs from f32 by at most " << llvm::format("%.1e", worst / unit) << " of its largest value, "
        << llvm::format("%.1e", sum / count / unit) << " on average, for " << samples << " random inputs\n";
  }
}

void ml2k::printFormReport(Column const &column, Forms const &forms, llvm::raw_ostream &out) {
  out << "\n";
  printSizes(column, forms, out);
  if (forms.halved)
    printHalves(column, forms, out);
}
