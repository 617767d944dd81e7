// The values of programs on sparse tensors against dense loops over the same elements.
#include <Kokkos_Core.hpp>

#include "includes.inc"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>
#include <stdexcept>
#include <tuple>
#include <vector>

using Space = Kokkos::DefaultExecutionSpace;
template <class T> using View = Kokkos::View<T, Kokkos::LayoutRight, Space>;
using Shape = std::vector<int>;

#ifndef ML2K_SCALE
#define ML2K_SCALE 1 // more rows and columns: make_programs.py --scale
#endif
static constexpr int n = 12 * ML2K_SCALE, m = 10 * ML2K_SCALE, k = 6, l = 4;
static int failures = 0;

//===--- Dense tensors --------------------------------------------------------------------------------------------===//

template <class T> struct Dense {
  Shape shape;
  std::vector<T> values;

  explicit Dense(Shape const &extents) : shape(extents), values(1) {
    for (int extent : shape)
      values.resize(values.size() * extent);
  }
  T &operator()(int i) { return values[i]; }
  T &operator()(int i, int j) { return values[i * shape[1] + j]; }
  T &operator()(int i, int j, int h) { return values[(i * shape[1] + j) * shape[2] + h]; }
};

/// Small numbers; of `zeros` in ten every one is 0, and so are all of index 3 along the first dimension.
template <class T> Dense<T> numbers(Shape const &shape, unsigned seed, unsigned zeros = 0) {
  Dense<T> tensor(shape);
  size_t const row = tensor.values.size() / (shape.empty() ? 1 : shape[0]);
  for (size_t i = 0; i < tensor.values.size(); ++i) {
    seed = seed * 1664525u + 1013904223u;
    bool const isZero = zeros && (seed >> 8) % 10 < zeros;
    tensor.values[i] = isZero || (zeros && i / row == 3) ? T(0) : T(int((seed >> 12) % 17) - 8) / T(2);
  }
  return tensor;
}

//===--- Stored tensors -------------------------------------------------------------------------------------------===//

enum Kind { All, Compressed, Repeated, Single };
struct Level {
  Kind kind;
  int dim, block; ///< the quotient of the index by the block, or its remainder if that is negative; 0: the index
};

template <class T, class I> struct Packed {
  std::vector<std::vector<I>> positions, coordinates;
  std::vector<T> values;
};

template <class T, class I> class Packer {
public:
  /// Entries where `entries` is not zero, with the values of `dense`.
  Packer(Dense<T> const &entries, Dense<T> const &dense, std::vector<Level> const &levels)
      : dense(dense), levels(levels) {
    packed.positions.assign(levels.size(), {I(0)});
    packed.coordinates.resize(levels.size());
    std::vector<int> all;
    for (size_t i = 0; i < dense.values.size(); ++i)
      if (entries.values[i] != T(0))
        all.push_back(int(i));
    pack(0, all);
  }
  Packed<T, I> packed;

private:
  int coordinate(int element, Level const &level) const {
    int index = 0;
    for (int dim = int(dense.shape.size()) - 1; dim >= level.dim; element /= dense.shape[dim--])
      index = element % dense.shape[dim];
    return level.block > 0 ? index / level.block : level.block < 0 ? index % -level.block : index;
  }

  void pack(size_t at, std::vector<int> const &elements) {
    if (at == levels.size())
      return packed.values.push_back(elements.empty() ? T(0) : dense.values[elements.front()]);
    Level const &level = levels[at];
    std::map<int, std::vector<int>> groups;
    if (level.kind == All) {
      int const extent = dense.shape[level.dim];
      for (int i = 0; i < (level.block > 0 ? extent / level.block : level.block < 0 ? -level.block : extent); ++i)
        groups[i];
    }
    for (int element : elements)
      groups[coordinate(element, level)].push_back(element);
    for (auto const &[index, group] : groups)
      if (level.kind == All)
        pack(at + 1, group);
      else
        for (std::vector<int> const &entry : entries(level, group)) {
          packed.coordinates[at].push_back(I(index));
          pack(at + 1, entry);
        }
    packed.positions[at].push_back(I(packed.coordinates[at].size()));
  }

  static std::vector<std::vector<int>> entries(Level const &level, std::vector<int> const &group) {
    if (level.kind == Compressed)
      return {group};
    std::vector<std::vector<int>> each;
    for (int element : group)
      each.push_back({element});
    return each;
  }

  Dense<T> const &dense;
  std::vector<Level> levels;
};

template <class T> View<T const *> viewOf(std::vector<T> const &values) {
  View<T *> const view("values", values.size());
  Kokkos::deep_copy(view,
                    Kokkos::View<T const *, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(values.data(), values.size()));
  return view;
}

/// The arrays of all levels in the order of a signature.
#define FORMAT(Name, Arrays, ...)                                                                                      \
  struct Name {                                                                                                        \
    template <class I, class T> static Packed<T, I> pack(Dense<T> const &entries, Dense<T> const &dense) {             \
      return Packer<T, I>(entries, dense, {__VA_ARGS__}).packed;                                                       \
    }                                                                                                                  \
    template <class I, class T> static auto store(Dense<T> const &dense) {                                             \
      Packed<T, I> const packed = pack<I>(dense, dense);                                                               \
      auto const positions = [&](int level) { return viewOf(packed.positions[level]); };                               \
      auto const coordinates = [&](int level) { return viewOf(packed.coordinates[level]); };                           \
      (void)positions;                                                                                                 \
      return std::tuple_cat(std::make_tuple Arrays, std::make_tuple(viewOf(packed.values)));                           \
    }                                                                                                                  \
  };
FORMAT(Csr, (positions(1), coordinates(1)), Level{All, 0, 0}, Level{Compressed, 1, 0})
FORMAT(Csc, (positions(1), coordinates(1)), Level{All, 1, 0}, Level{Compressed, 0, 0})
FORMAT(Dcsr, (coordinates(0), positions(1), coordinates(1)), Level{Compressed, 0, 0}, Level{Compressed, 1, 0})
FORMAT(Coo, (coordinates(0), coordinates(1)), Level{Repeated, 0, 0}, Level{Single, 1, 0})
FORMAT(Bsr, (positions(1), coordinates(1)), Level{All, 0, 2}, Level{Compressed, 1, 2}, Level{All, 0, -2},
       Level{All, 1, -2})
FORMAT(Vector, (coordinates(0)), Level{Compressed, 0, 0})
FORMAT(Csf, (coordinates(0), positions(1), coordinates(1), positions(2), coordinates(2)), Level{Compressed, 0, 0},
       Level{Compressed, 1, 0}, Level{Compressed, 2, 0})
FORMAT(Rows3, (positions(2), coordinates(2)), Level{All, 0, 0}, Level{All, 1, 0}, Level{Compressed, 2, 0})
FORMAT(Coo3, (coordinates(0), coordinates(1), coordinates(2)), Level{Repeated, 0, 0}, Level{Single, 1, 0},
       Level{Single, 2, 0})

//===--- Calls ----------------------------------------------------------------------------------------------------===//

/// Memory that takes the type of each parameter: extents may be static there.
template <class T> struct Array {
  View<T *> data;
  Shape shape;

  explicit Array(Dense<T> const &dense) : data("dense", dense.values.size()), shape(dense.shape) {
    Kokkos::deep_copy(data, Kokkos::View<T const *, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(dense.values.data(),
                                                                                                dense.values.size()));
  }
  template <class D, class... Rest> operator Kokkos::View<D, Rest...>() const {
    using Target = Kokkos::View<D, Rest...>;
    Kokkos::LayoutRight layout;
    for (size_t i = 0; i < shape.size(); ++i)
      layout.dimension[i] = shape[i];
    return Target(data.data(), layout);
  }
  std::vector<T> values() const {
    std::vector<T> result(data.extent(0));
    Kokkos::deep_copy(Kokkos::View<T *, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(result.data(), result.size()),
                      data);
    return result;
  }
};

/// Of functions that need none.
struct Workspace {
  explicit Workspace(Space const &) {}
};

/// With room for everything here, of however many sizes it takes.
template <class Work, class... Sizes> Work workspaceOf(Space const &space, Sizes... sizes) {
  static_assert(sizeof...(sizes) < 12);
  if constexpr (std::is_constructible_v<Work, Space, Sizes...>)
    return Work(space, sizes...);
  else
    return workspaceOf<Work>(space, sizes..., (1 << 10) * ML2K_SCALE * ML2K_SCALE);
}

template <class T> void expect(char const *name, Array<T> const &got, Dense<T> const &wanted) {
  std::vector<T> const values = got.values();
  double worst = 0;
  for (size_t i = 0; i < values.size(); ++i)
    worst = std::fmax(worst, std::abs(double(values[i]) - double(wanted.values[i])));
  bool const ok = values.size() == wanted.values.size() && worst <= (sizeof(T) == 4 ? 1e-3 : 1e-11);
  std::printf("%-40s %s\n", name, ok ? "ok" : "WRONG");
  failures += !ok;
}

/// The call with the stored arrays of A in front.
template <class Arrays, class Call, class... Others>
void with(Arrays const &arrays, Call const &call, Others const &...others) {
  std::apply([&](auto const &...stored) { call(stored..., others...); }, arrays);
}

template <class F, class I, class T> auto stored(Dense<T> const &dense) { return F::template store<I>(dense); }

//===--- Operations -----------------------------------------------------------------------------------------------===//

template <class F, class T, class I, class Call> void spmv(char const *name, Call const &call) {
  Dense<T> a = numbers<T>({n, m}, 1, 6), x = numbers<T>({m}, 2), y = numbers<T>({n}, 3);
  Array<T> const result(y);
  with(stored<F, I>(a), call, Array<T>(x), result);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      y(i) += a(i, j) * x(j);
  expect(name, result, y);
}

template <class F, class T, class I, class Call> void matvec(char const *name, Call const &call) {
  Dense<T> a = numbers<T>({n, m}, 1, 6), x = numbers<T>({m}, 2), y({n});
  Array<T> const result(numbers<T>({n}, 3));
  with(stored<F, I>(a), call, Array<T>(x), result);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      y(i) += a(i, j) * x(j);
  expect(name, result, y);
}

template <class F, class T, class I, class Call> void spmvt(char const *name, Call const &call) {
  Dense<T> a = numbers<T>({n, m}, 4, 6), x = numbers<T>({n}, 5), y = numbers<T>({m}, 6);
  Array<T> const result(y);
  with(stored<F, I>(a), call, Array<T>(x), result);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      y(j) += a(i, j) * x(i);
  expect(name, result, y);
}

template <class T> void addProduct(Dense<T> &a, Dense<T> &x, Dense<T> &y) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      for (int h = 0; h < k; ++h)
        y(i, h) += a(i, j) * x(j, h);
}

template <class F, class T, class I, class Call> void spmm(char const *name, Call const &call) {
  Dense<T> a = numbers<T>({n, m}, 7, 6), x = numbers<T>({m, k}, 8), y = numbers<T>({n, k}, 9);
  Array<T> const result(y);
  with(stored<F, I>(a), call, Array<T>(x), result);
  addProduct(a, x, y);
  expect(name, result, y);
}

template <class F, class T, class I, class Call> void product(char const *name, Call const &call) {
  Dense<T> a = numbers<T>({n, m}, 7, 6), x = numbers<T>({m, k}, 8), y({n, k});
  Array<T> const result(numbers<T>({n, k}, 9));
  with(stored<F, I>(a), call, Array<T>(x), result);
  addProduct(a, x, y);
  expect(name, result, y);
}

template <class F, class T, class I, class Call> void sddmm(char const *name, Call const &call) {
  Dense<T> a = numbers<T>({n, m}, 10, 6), u = numbers<T>({n, k}, 11), v = numbers<T>({k, m}, 12);
  Dense<T> y = numbers<T>({n, m}, 13);
  Array<T> const result(y);
  with(stored<F, I>(a), call, Array<T>(u), Array<T>(v), result);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      for (int h = 0; h < k; ++h)
        y(i, j) += a(i, j) * (u(i, h) * v(h, j));
  expect(name, result, y);
}

template <class F, class T, class I, class Call> void rowsum(char const *name, Call const &call) {
  Dense<T> a = numbers<T>({n, m}, 14, 6), y = numbers<T>({n}, 15);
  Array<T> const result(y);
  with(stored<F, I>(a), call, result);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      y(i) += a(i, j);
  expect(name, result, y);
}

template <class F, class T, class I, class Call> void colsum(char const *name, Call const &call) {
  Dense<T> a = numbers<T>({n, m}, 16, 6), y = numbers<T>({m}, 17);
  Array<T> const result(y);
  with(stored<F, I>(a), call, result);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      y(j) += a(i, j);
  expect(name, result, y);
}

template <class F, class T, class I, class Call> void total(char const *name, Call const &call) {
  Dense<T> a = numbers<T>({n, m}, 18, 6), y({});
  Array<T> const result(numbers<T>({}, 19));
  with(stored<F, I>(a), call, result);
  for (T value : a.values)
    y.values[0] += value;
  expect(name, result, y);
}

template <class F, class T, class I, class Call> void inner(char const *name, Call const &call) {
  Dense<T> a = numbers<T>({n, m}, 80, 6), b = numbers<T>({n, m}, 81, 5), y({});
  Array<T> const result(numbers<T>({}, 82));
  with(std::tuple_cat(stored<F, I>(a), stored<F, I>(b)), call, result);
  for (size_t i = 0; i < a.values.size(); ++i)
    y.values[0] += a.values[i] * b.values[i];
  expect(name, result, y);
}

template <class F, class T, class I, class Call> void inner_spmv(char const *name, Call const &call) {
  Dense<T> a = numbers<T>({n, m}, 83, 6), b = numbers<T>({n, m}, 84, 5), x = numbers<T>({m}, 85),
           y = numbers<T>({n}, 86);
  Array<T> const result(y);
  with(std::tuple_cat(stored<F, I>(a), stored<F, I>(b)), call, Array<T>(x), result);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      y(i) += a(i, j) * b(i, j) * x(j);
  expect(name, result, y);
}

template <class F, class T, class I, class Call> void inner_columns(char const *name, Call const &call) {
  Dense<T> a = numbers<T>({n, m}, 87, 6), b = numbers<T>({m, n}, 88, 5), y = numbers<T>({m}, 89);
  Array<T> const result(y);
  with(std::tuple_cat(stored<F, I>(a), stored<F, I>(b)), call, result);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      y(j) += a(i, j) * (b(j, i) + 2);
  expect(name, result, y);
}

template <class F, class T, class I, class Call> void residual(char const *name, Call const &call) {
  Dense<T> a = numbers<T>({n, m}, 20, 6), x = numbers<T>({m}, 21), b = numbers<T>({n}, 22), r({n});
  Array<T> const result(numbers<T>({n}, 23));
  with(stored<F, I>(a), call, Array<T>(x), Array<T>(b), result);
  for (int i = 0; i < n; ++i) {
    T sum = 0;
    for (int j = 0; j < m; ++j)
      sum += a(i, j) * x(j);
    r(i) = 3 * (b(i) - sum);
  }
  expect(name, result, r);
}

template <class F, class T, class I, bool IsSparse, class Call, class Join>
void elementwise(char const *name, Call const &call, Join const &join) {
  Dense<T> a = numbers<T>({n, m}, 24, 6), b = numbers<T>({n, m}, 25, IsSparse ? 5 : 0), y({n, m});
  Array<T> const result(numbers<T>({n, m}, 26));
  if constexpr (IsSparse)
    with(std::tuple_cat(stored<F, I>(a), stored<F, I>(b)), call, result);
  else
    with(stored<F, I>(a), call, Array<T>(b), result);
  for (size_t i = 0; i < y.values.size(); ++i)
    y.values[i] = join(a.values[i], b.values[i]);
  expect(name, result, y);
}
#define ELEMENTWISE(operation, isSparse, expression)                                                                   \
  template <class F, class T, class I, class Call> void operation(char const *name, Call const &call) {                \
    elementwise<F, T, I, isSparse>(name, call, [](T a, T b) { return expression; });                                   \
  }
ELEMENTWISE(add_dense, false, a + b)
ELEMENTWISE(multiply_dense, false, a *b)
ELEMENTWISE(add, true, a + b)
ELEMENTWISE(subtract, true, a - b)
ELEMENTWISE(multiply, true, a *b)

template <class F, class T, class I, bool IsSparse, class Call> void dotWith(char const *name, Call const &call) {
  Dense<T> a = numbers<T>({n}, 27, 4), b = numbers<T>({n}, 28, IsSparse ? 4 : 0), y({});
  Array<T> const result(numbers<T>({}, 29));
  if constexpr (IsSparse)
    with(std::tuple_cat(stored<F, I>(a), stored<F, I>(b)), call, result);
  else
    with(stored<F, I>(a), call, Array<T>(b), result);
  for (int i = 0; i < n; ++i)
    y.values[0] += a(i) * b(i);
  expect(name, result, y);
}
template <class F, class T, class I, class Call> void dot(char const *name, Call const &call) {
  dotWith<F, T, I, true>(name, call);
}
template <class F, class T, class I, class Call> void dot_dense(char const *name, Call const &call) {
  dotWith<F, T, I, false>(name, call);
}

template <class F, class T, class I, class Call> void ttv(char const *name, Call const &call) {
  Dense<T> a = numbers<T>({n, m, k}, 30, 8), x = numbers<T>({k}, 31), y = numbers<T>({n, m}, 32);
  Array<T> const result(y);
  with(stored<F, I>(a), call, Array<T>(x), result);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      for (int h = 0; h < k; ++h)
        y(i, j) += a(i, j, h) * x(h);
  expect(name, result, y);
}

template <class F, class T, class I, class Call> void mttkrp(char const *name, Call const &call) {
  Dense<T> a = numbers<T>({n, m, k}, 33, 8), u = numbers<T>({m, l}, 34), v = numbers<T>({k, l}, 35);
  Dense<T> y = numbers<T>({n, l}, 36);
  Array<T> const result(y);
  with(stored<F, I>(a), call, Array<T>(u), Array<T>(v), result);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      for (int h = 0; h < k; ++h)
        for (int c = 0; c < l; ++c)
          y(i, c) += a(i, j, h) * u(j, c) * v(h, c);
  expect(name, result, y);
}

#include "Results.h"

#include "Chains.h"

//===--- All cases ------------------------------------------------------------------------------------------------===//

// Inside the namespace of a program `Workspace` is that of the program, if it has one.
#define CASE(program, operation, format, T, I)                                                                         \
  namespace program {                                                                                                  \
  inline void test_of_values() {                                                                                       \
    Space const space;                                                                                                 \
    ::operation<::format, T, I>(#program, [&](auto const &...arguments) {                                              \
      if constexpr (std::is_same_v<Workspace, ::Workspace>)                                                            \
        forward(space, arguments...);                                                                                  \
      else                                                                                                             \
        forward(space, ::workspaceOf<Workspace>(space), arguments...);                                                 \
    });                                                                                                                \
  }                                                                                                                    \
  }
#include "cases.inc"
#undef CASE

/// Values of a sparse result that are fewer, or more, than those of the operand.
static void wrongSize() {
  auto const [positions, coordinates, values] = Csr::store<int>(numbers<double>({n, m}, 40, 6));
  for (int more : {-1, 1}) {
    View<double *> const c("values", values.extent(0) + more);
    bool isRefused = false;
    try {
      squared_csr_f64_32::forward(Space(), positions, coordinates, values, c);
    } catch (std::invalid_argument const &) {
      isRefused = true;
    }
    std::printf("%-40s %s\n", "values of another size", isRefused ? "ok" : "WRONG");
    failures += !isRefused;
  }
}

int main(int argc, char **argv) {
  Kokkos::ScopeGuard const guard(argc, argv);
  wrongSize();
#define CASE(program, operation, format, T, I) program::test_of_values();
#include "cases.inc"
  return failures != 0;
}
