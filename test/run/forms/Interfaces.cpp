// The C and Fortran interfaces of a runner give its values, bit for bit.
//   run_interfaces VALUES     as make_models.py wrote them

#include "plain.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <future>
#include <vector>

constexpr std::size_t columns = 37;

struct Arrays {
  std::vector<float> p = std::vector<float>(columns * 5, -1), sum = std::vector<float>(columns * 16, -1);
  std::vector<std::int64_t> place = std::vector<std::int64_t>(columns, -1);

  bool operator==(Arrays const &other) const {
    auto const same = [](auto const &one, auto const &two) {
      return std::memcmp(one.data(), two.data(), one.size() * sizeof(one[0])) == 0;
    };
    return same(p, other.p) && same(sum, other.sum) && same(place, other.place);
  }
};

extern "C" {
using Use = int(float const *a, float const *b, float *p, std::int64_t *place, float *sum);
Use each_query, all_queries;
int refusals(void);
#ifdef WITH_FORTRAN
Use fortran_strided;
#endif
}

static Arrays byRunner(std::vector<float> const &a, std::vector<float> const &b) {
  Arrays results;
  plain::Runner runner;
  for (std::size_t n = 0; n < columns; ++n) {
    std::copy_n(&a[n * 16], 16, runner.a.begin());
    std::copy_n(&b[n * 8], 8, runner.b.begin());
    runner.Run();
    std::copy_n(runner.p.begin(), 5, &results.p[n * 5]);
    std::copy_n(runner.sum_pu64.begin(), 16, &results.sum[n * 16]);
    results.place[n] = runner.place[0];
  }
  return results;
}

static int check(char const *name, Use *use, std::vector<float> const &a, std::vector<float> const &b,
                 Arrays const &wanted) {
  Arrays results;
  int const failures = use(a.data(), b.data(), results.p.data(), results.place.data(), results.sum.data());
  bool const right = failures == 0 && results == wanted;
  std::printf("%s: %d failures, %s\n", name, failures, results == wanted ? "the same bits" : "other values");
  return !right;
}

/// Four threads at once, each with a model of its own: all share the weights.
static int inThreads(std::vector<float> const &a, std::vector<float> const &b, Arrays const &wanted) {
  std::vector<std::future<bool>> threads;
  for (Use *use : {each_query, all_queries, each_query, all_queries})
    threads.push_back(std::async(std::launch::async, [&a, &b, &wanted, use] {
      Arrays results;
      int const failures = use(a.data(), b.data(), results.p.data(), results.place.data(), results.sum.data());
      return failures == 0 && results == wanted;
    }));
  int wrong = 0;
  for (auto &thread : threads)
    wrong += !thread.get();
  std::printf("four threads: %d wrong\n", wrong);
  return wrong;
}

int main(int, char **argv) {
  std::vector<double> values(columns * 24);
  std::ifstream(argv[1], std::ios::binary)
      .read(reinterpret_cast<char *>(values.data()), std::streamsize(values.size() * sizeof(double)));
  std::vector<float> const a(values.begin(), values.begin() + columns * 16),
      b(values.begin() + columns * 16, values.end());
  Arrays const wanted = byRunner(a, b);
  int failures = check("each query", each_query, a, b, wanted) + check("all queries", all_queries, a, b, wanted);
#ifdef WITH_FORTRAN
  failures += check("Fortran", fortran_strided, a, b, wanted);
#endif
  failures += inThreads(a, b, wanted);
  int const refused = refusals();
  std::printf("refusals: %d wrong\n", refused);
  return failures + refused;
}
