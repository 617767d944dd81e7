// Operations on results with entries of their own; part of Sparse.cpp.
//
// Where there is too little room for what lies in between, its entries are counted all the same, those behind are of no
// use, and nobody reads or writes elsewhere (run with -fsanitize=address).

/// A matrix, and where it has entries.
template <class T> struct Matrix {
  Dense<T> elements, entries;

  explicit Matrix(Dense<T> const &dense) : elements(dense), entries(dense) {}
};

template <class T> Matrix<T> plus(Matrix<T> const &a, Matrix<T> const &b) {
  Matrix<T> c = a;
  for (size_t i = 0; i < c.elements.values.size(); ++i) {
    c.elements.values[i] += b.elements.values[i];
    c.entries.values[i] = a.entries.values[i] != 0 || b.entries.values[i] != 0;
  }
  return c;
}

template <class T> Matrix<T> timesElements(Matrix<T> const &a, Matrix<T> const &b) {
  Matrix<T> c = a;
  for (size_t i = 0; i < c.elements.values.size(); ++i) {
    c.elements.values[i] *= b.elements.values[i];
    c.entries.values[i] = a.entries.values[i] != 0 && b.entries.values[i] != 0;
  }
  return c;
}

template <class T> Matrix<T> times(Matrix<T> a, Matrix<T> b) {
  int const rows = a.elements.shape[0], inner = a.elements.shape[1], columns = b.elements.shape[1];
  Matrix<T> c(Dense<T>({rows, columns}));
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < inner; ++j)
      for (int h = 0; h < columns; ++h)
        if (a.entries(i, j) != 0 && b.entries(j, h) != 0) {
          c.elements(i, h) += a.elements(i, j) * b.elements(j, h);
          c.entries(i, h) = 1;
        }
  return c;
}

template <class F, class T, class I> Assembled<F, T, I> roomFor(Matrix<T> const &matrix, bool isEnough) {
  return Assembled<F, T, I>(matrix.entries, matrix.elements, isEnough ? int(matrix.entries.values.size()) : 5);
}

template <class T> bool isClose(Array<T> const &got, Dense<T> const &wanted) {
  std::vector<T> const values = got.values();
  double worst = 0;
  for (size_t i = 0; i < values.size(); ++i)
    worst = std::fmax(worst, std::abs(double(values[i]) - double(wanted.values[i])));
  return worst <= (sizeof(T) == 4 ? 1e-3 : 1e-11);
}

template <class... Arrays, class Call> void withAll(Call const &call, Arrays const &...arrays) {
  std::apply(call, std::tuple_cat(arrays...));
}

/// R * A * P
template <class F, class T, class I, class Call> void galerkin(char const *name, Call const &call) {
  Matrix<T> const r(numbers<T>({k, n}, 60, 6)), a(numbers<T>({n, m}, 61, 6)), p(numbers<T>({m, l}, 62, 6));
  Matrix<T> const ra = times(r, a);
  for (bool const isEnough : {true, false}) {
    Assembled<F, T, I> const between = roomFor<F, T, I>(ra, isEnough), result = roomFor<F, T, I>(times(ra, p), true);
    withAll(call, stored<F, I>(r.elements), stored<F, I>(a.elements), stored<F, I>(p.elements), between.arrays(),
            result.arrays());
    say(name, between.isRight() && (!between.isWhole() || result.isRight()));
  }
}

/// y + (A * B) x
template <class F, class T, class I, class Call> void multiplied_spmv(char const *name, Call const &call) {
  Matrix<T> const a(numbers<T>({n, m}, 63, 6)), b(numbers<T>({m, k}, 64, 6));
  Dense<T> x = numbers<T>({k}, 65), y = numbers<T>({n}, 66);
  Matrix<T> product = times(a, b);
  for (bool const isEnough : {true, false}) {
    Assembled<F, T, I> const between = roomFor<F, T, I>(product, isEnough);
    Array<T> const result(y);
    withAll(call, stored<F, I>(a.elements), stored<F, I>(b.elements), std::make_tuple(Array<T>(x), result),
            between.arrays());
    Dense<T> wanted = y;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < k; ++j)
        wanted(i) += product.elements(i, j) * x(j);
    say(name, between.isRight() && (!between.isWhole() || isClose(result, wanted)));
  }
}

/// C = A + B, and y + C x
template <class F, class T, class I, class Call> void sum_and_spmv(char const *name, Call const &call) {
  Matrix<T> const a(numbers<T>({n, m}, 67, 7)), b(numbers<T>({n, m}, 68, 7));
  Dense<T> x = numbers<T>({m}, 69), y = numbers<T>({n}, 70);
  Matrix<T> c = plus(a, b);
  for (bool const isEnough : {true, false}) {
    Assembled<F, T, I> const sum = roomFor<F, T, I>(c, isEnough);
    Array<T> const result(y);
    withAll(call, stored<F, I>(a.elements), stored<F, I>(b.elements), std::make_tuple(Array<T>(x), result),
            sum.arrays());
    Dense<T> wanted = y;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j)
        wanted(i) += c.elements(i, j) * x(j);
    say(name, sum.isRight() && (!sum.isWhole() || isClose(result, wanted)));
  }
}

/// The rows of A + B, each times a number: an array of values that has the room of the sum.
template <class F, class T, class I, class Call> void scaled_sum(char const *name, Call const &call) {
  Matrix<T> const a(numbers<T>({n, m}, 71, 7)), b(numbers<T>({n, m}, 72, 7));
  Dense<T> d = numbers<T>({n}, 73);
  Matrix<T> const sum = plus(a, b);
  Matrix<T> scaled = sum;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      scaled.elements(i, j) *= d(i);
  for (bool const isEnough : {true, false}) {
    Assembled<F, T, I> const between = roomFor<F, T, I>(sum, isEnough), result = roomFor<F, T, I>(scaled, isEnough);
    withAll(call, stored<F, I>(a.elements), stored<F, I>(b.elements), std::make_tuple(Array<T>(d)), between.arrays(),
            std::make_tuple(result.values));
    Kokkos::deep_copy(result.positions, between.positions);
    Kokkos::deep_copy(result.coordinates, between.coordinates);
    say(name, between.isRight() && result.isRight());
  }
}

/// The column sums of 2 * ((A + B) .* A) in the other format.
template <class F, class T, class I, class Call> void long_chain(char const *name, Call const &call) {
  using Other = std::conditional_t<std::is_same_v<F, Csr>, Csc, Csr>;
  Matrix<T> const a(numbers<T>({n, m}, 74, 6)), b(numbers<T>({n, m}, 75, 6));
  Dense<T> y = numbers<T>({m}, 76);
  Matrix<T> const sum = plus(a, b), product = timesElements(sum, a);
  Matrix<T> twice = plus(product, product);
  // Where there is no room for one of the three
  for (int const missing : {-1, 0, 1, 2}) {
    Assembled<F, T, I> const first = roomFor<F, T, I>(sum, missing != 0),
                             second = roomFor<F, T, I>(product, missing != 1);
    Assembled<Other, T, I> const third = roomFor<Other, T, I>(twice, missing != 2);
    Array<T> const result(y);
    withAll(call, stored<F, I>(a.elements), stored<F, I>(b.elements), std::make_tuple(result), first.arrays(),
            second.arrays(), third.arrays());
    Dense<T> wanted = y;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j)
        wanted(j) += twice.elements(i, j);
    say(name, first.isRight() && (missing == 0 || (second.isRight() && (missing == 1 || third.isRight()))) &&
                  (missing >= 0 || isClose(result, wanted)));
  }
}

/// The sum of A .* (A + B)
template <class F, class T, class I, class Call> void inner_of_sum(char const *name, Call const &call) {
  Matrix<T> const a(numbers<T>({n, m}, 77, 7)), b(numbers<T>({n, m}, 78, 7)), sum = plus(a, b);
  Dense<T> wanted({});
  for (T value : timesElements(a, sum).elements.values)
    wanted.values[0] += value;
  for (bool const isEnough : {true, false}) {
    Assembled<F, T, I> const between = roomFor<F, T, I>(sum, isEnough);
    Array<T> const result(numbers<T>({}, 79));
    withAll(call, stored<F, I>(a.elements), stored<F, I>(b.elements), between.arrays(), std::make_tuple(result));
    say(name, between.isRight() && (!between.isWhole() || isClose(result, wanted)));
  }
}
