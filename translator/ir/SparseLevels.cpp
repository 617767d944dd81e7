//===- SparseLevels.cpp - how a sparse tensor is stored -----------------------------------------------------------===//

#include "translator/ir/SparseLevels.h"

#include "mlir/IR/AffineExpr.h"

using namespace mlir;
using namespace mlir::sparse_tensor;

namespace ml2k {

static std::optional<SparseLevel::Format> formatOf(LevelType type, size_t level, size_t levels, bool takesLoose) {
  if (isDenseLT(type))
    return SparseLevel::Format::Dense;
  if (isSingletonLT(type))
    return SparseLevel::Format::Singleton;
  if (!isCompressedLT(type))
    return std::nullopt;
  if (isUniqueLT(type))
    return SparseLevel::Format::Compressed;
  if (level == 0 && levels > 1 && (isOrderedLT(type) || takesLoose))
    return SparseLevel::Format::Repeated;
  return std::nullopt;
}

/// `i`, `i floordiv 2` or `i mod 2`
static bool readIndex(AffineExpr expr, SparseLevel &level) {
  level.part = SparseLevel::Part::Whole;
  if (auto divided = dyn_cast<AffineBinaryOpExpr>(expr)) {
    auto const block = dyn_cast<AffineConstantExpr>(divided.getRHS());
    if (!block || block.getValue() < 1)
      return false;
    level.block = block.getValue();
    if (expr.getKind() == AffineExprKind::FloorDiv)
      level.part = SparseLevel::Part::Quotient;
    else if (expr.getKind() == AffineExprKind::Mod)
      level.part = SparseLevel::Part::Remainder;
    else
      return false;
    expr = divided.getLHS();
  }
  auto const dim = dyn_cast<AffineDimExpr>(expr);
  if (dim)
    level.dim = dim.getPosition();
  return bool(dim);
}

/// Every index can be put together: whole, or a quotient and a remainder of one block.
static bool areComplete(ArrayRef<SparseLevel> levels, unsigned dims) {
  for (unsigned dim = 0; dim < dims; ++dim) {
    SmallVector<SparseLevel> own;
    llvm::copy_if(levels, std::back_inserter(own), [&](SparseLevel const &level) { return level.dim == dim; });
    bool const isWhole = own.size() == 1 && own[0].part == SparseLevel::Part::Whole;
    bool const isCut = own.size() == 2 && own[0].part != own[1].part && own[0].block == own[1].block &&
                       own[0].part != SparseLevel::Part::Whole && own[1].part != SparseLevel::Part::Whole;
    if (!isWhole && !isCut)
      return false;
  }
  return true;
}

std::optional<SmallVector<SparseLevel>> levelsOf(SparseTensorEncodingAttr encoding, bool takesLoose) {
  size_t const count = encoding.getLvlRank();
  SmallVector<SparseLevel> levels(count);
  AffineMap const map = encoding.getDimToLvl();
  if (encoding.isSlice() || encoding.getExplicitVal() || encoding.getImplicitVal())
    return std::nullopt;
  for (size_t i = 0; i < count; ++i) {
    std::optional<SparseLevel::Format> const format = formatOf(encoding.getLvlType(i), i, count, takesLoose);
    bool const follows = i > 0 && !levels[i - 1].isDense(); // an entry of the level above
    if (!format || (*format == SparseLevel::Format::Singleton && !follows))
      return std::nullopt;
    levels[i].format = *format;
    levels[i].dim = i;
    levels[i].part = SparseLevel::Part::Whole;
    if (map && !readIndex(map.getResult(i), levels[i]))
      return std::nullopt;
  }
  // The entries of a repeated level are told apart by all levels below it
  bool const repeats = levels[0].format == SparseLevel::Format::Repeated;
  if (repeats && !takesLoose && !isUniqueLT(encoding.getLvlType(count - 1)))
    return std::nullopt;
  for (size_t i = 1; i < count && repeats; ++i)
    if (levels[i].format != SparseLevel::Format::Singleton)
      return std::nullopt;
  return areComplete(levels, map ? map.getNumDims() : count) ? std::optional(levels) : std::nullopt;
}

bool canLookUp(ArrayRef<SparseLevel> levels) {
  return llvm::all_of(levels, [](SparseLevel const &level) {
    return level.isDense() || level.format == SparseLevel::Format::Compressed;
  });
}

} // namespace ml2k
