// Operations whose results are sparse; part of Sparse.cpp.

//===--- Results with the entries of an operand -------------------------------------------------------------------===//

template <class T, class I> void expectValues(char const *name, View<T *> const &got, Packed<T, I> const &wanted) {
  Dense<T> values({int(wanted.values.size())});
  values.values = wanted.values;
  Array<T> result(values);
  Kokkos::deep_copy(result.data, got);
  expect(name, result, values);
}

template <class F, class T, class I, class Call> void squared(char const *name, Call const &call) {
  Dense<T> a = numbers<T>({n, m}, 40, 6), c = a;
  for (T &value : c.values)
    value *= value;
  Packed<T, I> const wanted = F::template pack<I>(a, c);
  View<T *> const got("values", wanted.values.size());
  with(stored<F, I>(a), call, got);
  expectValues(name, got, wanted);
}

/// a .* (u * v)
template <class T> Dense<T> sample(Dense<T> &a, Dense<T> &u, Dense<T> &v) {
  Dense<T> c({n, m});
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      for (int h = 0; h < k; ++h)
        c(i, j) += a(i, j) * (u(i, h) * v(h, j));
  return c;
}

template <class F, class T, class I, class Call> void sampled(char const *name, Call const &call) {
  Dense<T> a = numbers<T>({n, m}, 41, 6), u = numbers<T>({n, k}, 42), v = numbers<T>({k, m}, 43);
  Packed<T, I> const wanted = F::template pack<I>(a, sample(a, u, v));
  View<T *> const got("values", wanted.values.size());
  with(stored<F, I>(a), call, Array<T>(u), Array<T>(v), got);
  expectValues(name, got, wanted);
}

template <class F, class T, class I, class Call> void attention(char const *name, Call const &call) {
  Dense<T> a = numbers<T>({n, m}, 44, 6), u = numbers<T>({n, k}, 45), v = numbers<T>({k, m}, 46);
  Dense<T> x = numbers<T>({m, k}, 47), y = numbers<T>({n, k}, 48);
  for (Dense<T> *dense : {&u, &v})
    for (T &value : dense->values)
      value /= 16;
  Array<T> const result(y);
  with(stored<F, I>(a), call, Array<T>(u), Array<T>(v), Array<T>(x), result);
  Dense<T> s = sample(a, u, v);
  // A block is stored as a whole
  auto const isStored = [&](int i, int j) {
    if constexpr (std::is_same_v<F, Bsr>) {
      int const p = i / 2 * 2, q = j / 2 * 2;
      return a(p, q) != 0 || a(p, q + 1) != 0 || a(p + 1, q) != 0 || a(p + 1, q + 1) != 0;
    }
    return a(i, j) != 0;
  };
  for (int i = 0; i < n; ++i) {
    T largest = -std::numeric_limits<T>::infinity(), sum = 0;
    for (int j = 0; j < m; ++j)
      if (isStored(i, j))
        largest = std::fmax(largest, s(i, j));
    for (int j = 0; j < m; ++j)
      sum += isStored(i, j) ? std::exp(s(i, j) - largest) : T(0);
    for (int j = 0; j < m; ++j)
      for (int h = 0; h < k && isStored(i, j); ++h)
        y(i, h) += std::exp(s(i, j) - largest) / sum * x(j, h);
  }
  expect(name, result, y);
}

//===--- Results with entries of their own ------------------------------------------------------------------------===//

/// Arrays with room for some entries, and what has to be in them.
template <class F, class T, class I> struct Assembled {
  Packed<T, I> wanted;
  int room;
  View<I *> positions, coordinates;
  View<T *> values;

  Assembled(Dense<T> const &entries, Dense<T> const &elements, int room)
      : wanted(F::template pack<I>(entries, elements)), room(room), positions("positions", wanted.positions[1].size()),
        coordinates("coordinates", room), values("values", room) {}

  auto arrays() const { return std::make_tuple(positions, coordinates, values); }
  bool isWhole() const { return int(wanted.values.size()) <= room; }

  bool areCounted() const {
    auto const counted = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), positions);
    bool areRight = true;
    for (size_t i = 0; i < wanted.positions[1].size(); ++i)
      areRight = areRight && counted(i) == wanted.positions[1][i];
    return areRight;
  }

  /// Counts, and the entries of rows that fit in.
  bool isRight() const {
    auto const gotCoordinates = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), coordinates);
    auto const gotValues = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), values);
    int whole = 0;
    for (I position : wanted.positions[1])
      whole = position <= room ? int(position) : whole;
    bool isRight = areCounted();
    for (int i = 0; i < whole; ++i)
      isRight = isRight && gotCoordinates(i) == wanted.coordinates[1][i] &&
                std::abs(double(gotValues(i)) - double(wanted.values[i])) <= (sizeof(T) == 4 ? 1e-3 : 1e-11);
    return isRight;
  }
};

static void say(char const *name, bool isRight) {
  std::printf("%-40s %s\n", name, isRight ? "ok" : "WRONG");
  failures += !isRight;
}

template <class F, class T, class I, class Call>
void expectAssembled(char const *name, Call const &call, Dense<T> const &entries, Dense<T> const &values, int room) {
  Assembled<F, T, I> const result(entries, values, room);
  std::apply(call, result.arrays());
  say(name, result.isRight());
}

/// With room for all entries, and with too little, which loses no count and writes nowhere else.
template <class F, class T, class I, class Call>
void expectAssembled(char const *name, Call const &call, Dense<T> const &entries, Dense<T> const &values) {
  for (int room : {int(entries.values.size()), 5})
    expectAssembled<F, T, I>(name, call, entries, values, room);
}

template <class F, class T, class I, class Call, class Join, class Has>
void joined(char const *name, Call const &call, Join const &join, Has const &has) {
  Dense<T> a = numbers<T>({n, m}, 50, 6), b = numbers<T>({n, m}, 51, 5), c({n, m}), entries({n, m});
  for (size_t i = 0; i < c.values.size(); ++i) {
    c.values[i] = join(a.values[i], b.values[i]);
    entries.values[i] = has(a.values[i] != 0, b.values[i] != 0);
  }
  expectAssembled<F, T, I>(
      name, [&](auto const &...result) { with(std::tuple_cat(stored<F, I>(a), stored<F, I>(b)), call, result...); },
      entries, c);
}
#define JOINED(operation, expression, entries)                                                                         \
  template <class F, class T, class I, class Call> void operation(char const *name, Call const &call) {                \
    joined<F, T, I>(name, call, [](T a, T b) { return expression; }, [](bool a, bool b) { return entries; });          \
  }
JOINED(sum_of, a + b, a || b)
JOINED(difference_of, a - b, a || b)
JOINED(product_of, a *b, a &&b)

template <class F, class T, class I, class Call> void multiplied(char const *name, Call const &call) {
  Dense<T> a = numbers<T>({n, m}, 52, 6), b = numbers<T>({m, k}, 53, 6), c({n, k}), entries({n, k});
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      for (int h = 0; h < k; ++h) {
        c(i, h) += a(i, j) * b(j, h);
        entries(i, h) += a(i, j) != 0 && b(j, h) != 0;
      }
  expectAssembled<F, T, I>(
      name, [&](auto const &...result) { with(std::tuple_cat(stored<F, I>(a), stored<F, I>(b)), call, result...); },
      entries, c);
}

struct Dense2; // a matrix that is not sparse

/// Coordinates from the last to the first, the first of them once more in front of all.
struct Loose {
  template <class I, class T> static auto store(Dense<T> &dense) {
    std::vector<I> rows, columns;
    std::vector<T> values;
    for (int i = n; i-- > 0;)
      for (int j = m; j-- > 0;)
        if (dense(i, j) != T(0)) {
          rows.push_back(I(i));
          columns.push_back(I(j));
          values.push_back(dense(i, j));
        }
    rows.insert(rows.begin(), rows.back());
    columns.insert(columns.begin(), columns.back());
    values.insert(values.begin(), T(3));
    dense(int(rows.back()), int(columns.back())) += T(3);
    return std::make_tuple(viewOf(rows), viewOf(columns), viewOf(values));
  }
};

template <class From, class To, class T, class I, class Call> void converted(char const *name, Call const &call) {
  Dense<T> a = numbers<T>({n, m}, 54, 6), const_entries = a;
  if constexpr (std::is_same_v<From, Dense2>) {
    expectAssembled<To, T, I>(name, [&](auto const &...result) { call(Array<T>(a), result...); }, a, a);
  } else {
    auto const arrays = From::template store<I>(a);
    expectAssembled<To, T, I>(name, [&](auto const &...result) { with(arrays, call, result...); }, const_entries, a);
  }
}
template <class F, class T, class I, class Call> void to_csr(char const *name, Call const &call) {
  converted<F, Csr, T, I>(name, call);
}
template <class F, class T, class I, class Call> void to_csc(char const *name, Call const &call) {
  converted<F, Csc, T, I>(name, call);
}
