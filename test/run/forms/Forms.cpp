// Values of the forms that are called inside kernels: every form, layout and element type against onnxruntime's.
//   run_forms FOLDER GENERATED     where make_models.py wrote, and the files of the networks are
// With ML2K_SHARED, networks that share headers of blocks, without the runners.

#include "cloud_fraction.hpp"
#include "counts.hpp"
#include "gated.hpp"
#include "gated_halved.hpp"
#include "odd_halved.hpp"
#include "per_level.hpp"
#include "wide.hpp"
#ifndef ML2K_SHARED
#include "cloud_fraction_runner.hpp"
#include "counts_runner.hpp"
#include "gated_runner.hpp"
#include "halved_runner.hpp"
#endif

#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

static int failures = 0;
static std::string folder, generated;
constexpr int columns = 37;
using ExecutionSpace = Kokkos::DefaultExecutionSpace;
using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
#ifdef ML2K_FEW
constexpr int teamSize = 2; // threads that share a column
#else
constexpr auto teamSize = Kokkos::AUTO;
#endif

static std::vector<double> valuesOf(std::string const &model) {
  std::ifstream file(folder + "/" + model + ".values", std::ios::binary | std::ios::ate);
  std::vector<double> values(std::size_t(file.tellg()) / sizeof(double));
  file.seekg(0).read(reinterpret_cast<char *>(values.data()), std::streamsize(values.size() * sizeof(double)));
  return values;
}

template <class Scalar, class Layout> auto makeView(int width) {
  if constexpr (std::is_same_v<Layout, Kokkos::LayoutStride>)
    return Kokkos::subview(Kokkos::View<Scalar ***, Kokkos::LayoutRight>("strided", columns, width, 3), Kokkos::ALL,
                           Kokkos::ALL, 1);
  else
    return Kokkos::View<Scalar **, Layout>("view", columns, width);
}

template <class View> void fill(View const &view, double const *&from) {
  auto const host = Kokkos::create_mirror_view(Kokkos::HostSpace(), view);
  for (int n = 0; n < columns; ++n)
    for (int k = 0; k < view.extent_int(1); ++k)
      host(n, k) = static_cast<typename View::value_type>(*from++);
  Kokkos::deep_copy(view, host);
}

template <class View>
void compare(char const *model, char const *form, View const &view, double const *&from, double tolerance) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  double worst = 0;
  for (int n = 0; n < columns; ++n)
    for (int k = 0; k < view.extent_int(1); ++k) {
      double const error = std::abs(double(host(n, k)) - *from++);
      worst = error <= worst ? worst : error; // NaN stays
    }
  bool const right = worst <= tolerance;
  failures += !right;
  if (!right)
    std::printf("%s, %s: off by %g\n", model, form, worst);
  Kokkos::deep_copy(view, typename View::value_type(-77));
}

// What a model's namespace offers, for templates
#define MODEL(NAME)                                                                                                    \
  struct NAME##_model {                                                                                                \
    static constexpr char const *name = #NAME;                                                                         \
    static auto load(ExecutionSpace const &space) {                                                                    \
      return NAME::load_weights(space, generated + "/" #NAME ".safetensors");                                          \
    }                                                                                                                  \
    static std::size_t scratch(int level) { return NAME::scratch_size(level); }                                        \
    template <class... Arguments> KOKKOS_FUNCTION static void forward(Arguments const &...arguments) {                 \
      NAME::forward(arguments...);                                                                                     \
    }                                                                                                                  \
    template <class... Arguments> KOKKOS_FUNCTION static void rows(Arguments const &...arguments) {                    \
      NAME::forward_rows(arguments...);                                                                                \
    }                                                                                                                  \
    template <class... Views>                                                                                          \
    KOKKOS_FUNCTION static void byTeam(Policy::member_type const &team, NAME::Weights const &weights,                  \
                                       Views const &...views) {                                                        \
      NAME::Scratch const scratch(team);                                                                               \
      NAME::forward(team, weights, scratch, Kokkos::subview(views, team.league_rank(), Kokkos::ALL)...);               \
    }                                                                                                                  \
  }
MODEL(cloud_fraction);
MODEL(gated);
MODEL(counts);
MODEL(wide);
MODEL(per_level);
MODEL(gated_halved); // values of the networks with rounded weights
MODEL(odd_halved);

template <class Model, class... Inputs, class... Outputs>
void check(char const *layout, double tolerance, std::tuple<Inputs...> inputs, std::tuple<Outputs...> outputs) {
  std::vector<double> const values = valuesOf(Model::name);
  double const *at = values.data();
  std::apply([&](auto const &...views) { (fill(views, at), ...); }, inputs);
  auto const expected = at;
  ExecutionSpace const space;
  auto const weights = Model::load(space);
  auto const run = [&](std::string const &form, auto const &call) {
    std::apply(call, std::tuple_cat(inputs, outputs));
    space.fence();
    double const *from = expected;
    std::string const what = form + " on " + layout;
    std::apply([&](auto const &...views) { (compare(Model::name, what.c_str(), views, from, tolerance), ...); },
               outputs);
  };
  run("launch", [&](auto const &...views) { Model::forward(space, weights, views...); });
  run("team", [&](auto const &...views) {
    auto policy = Policy(space, columns, teamSize);
    for (int level : {0, 1})
      policy.set_scratch_size(level, Kokkos::PerTeam(Model::scratch(level)));
    Kokkos::parallel_for(
        "team", policy, KOKKOS_LAMBDA(Policy::member_type const &team) { Model::byTeam(team, weights, views...); });
  });
  run("rows by a team", [&](auto const &...views) {
    Kokkos::parallel_for(
        "rows", Policy(space, 1, teamSize),
        KOKKOS_LAMBDA(Policy::member_type const &team) { Model::rows(team, weights, views...); });
  });
  run("rows by a thread", [&](auto const &...views) {
    Kokkos::parallel_for(
        "rows", Kokkos::RangePolicy(space, 0, 1), KOKKOS_LAMBDA(int) { Model::rows(weights, views...); });
  });
  run("rows, some at a time", [&](auto const &...views) { // one by one, a part of half a pack, and of a whole one
    Kokkos::parallel_for(
        "rows", Kokkos::RangePolicy(space, 0, 1), KOKKOS_LAMBDA(int) {
          int const ends[] = {3, 13, columns};
          for (int i = 0, first = 0; i < 3; first = ends[i++])
            Model::rows(weights, Kokkos::subview(views, Kokkos::pair(first, ends[i]), Kokkos::ALL)...);
        });
  });
  run("thread", [&](auto const &...views) {
    Kokkos::parallel_for(
        "thread", Kokkos::RangePolicy(space, 0, columns),
        KOKKOS_LAMBDA(int n) { Model::forward(weights, Kokkos::subview(views, n, Kokkos::ALL)...); });
  });
}

template <class Scalar, class Layout> void checkAll(char const *layout) {
  auto const view = [](int width) { return makeView<Scalar, Layout>(width); };
  auto const integers = [](int width) { return makeView<std::int64_t, Layout>(width); };
  check<cloud_fraction_model>(layout, 2e-6, std::tuple(view(72), view(72)), std::tuple(view(72), view(72)));
  check<gated_model>(layout, 2e-6, std::tuple(view(16), view(8)), std::tuple(view(5), integers(1), view(16)));
  check<counts_model>(layout, 1e-5, std::tuple(view(20), integers(4)), std::tuple(view(11)));
  check<per_level_model>(layout, 2e-6, std::tuple(view(9)), std::tuple(view(1)));
  check<wide_model>(layout, std::is_same_v<Scalar, double> ? 1e-13 : 1e-6, std::tuple(view(9)), std::tuple(view(1)));
}

template <class Scalar, class Layout> void checkHalved(char const *layout) {
  auto const view = [](int width) { return makeView<Scalar, Layout>(width); };
  check<odd_halved_model>(layout, 2e-6, std::tuple(view(3), view(5), view(1)), std::tuple(view(7)));
  check<gated_halved_model>(layout, 2e-6, std::tuple(view(16), view(8)),
                            std::tuple(view(5), makeView<std::int64_t, Layout>(1), view(16)));
}

#ifndef ML2K_SHARED
//===--- The runner: one column after the other, by features ---===//

// The row of column n of a [columns, Width] tensor that begins at `from`
template <class Scalar, std::size_t Width>
std::array<Scalar, Width> rowOf(std::vector<double> const &values, std::size_t from, std::size_t n) {
  std::array<Scalar, Width> row;
  for (std::size_t k = 0; k < Width; ++k)
    row[k] = Scalar(values[from + n * Width + k]);
  return row;
}

template <class Array> void compareRow(char const *model, Array const &found, Array const &expected) {
  for (std::size_t k = 0; k < found.size(); ++k)
    if (!(std::abs(double(found[k]) - double(expected[k])) <= 1e-5)) {
      ++failures;
      std::printf("%s, runner: %g, not %g\n", model, double(found[k]), double(expected[k]));
    }
}

static void checkRunners() {
  std::vector<double> const clouds = valuesOf("cloud_fraction"), counted = valuesOf("counts"),
                            gates = valuesOf("gated");
  cloud_fraction_runner::Runner cloud;
  counts_runner::Runner counts;
  gated_runner::Runner gated;
  for (std::size_t n = 0; n < columns; ++n) {
    cloud.set<&cloud_fraction_runner::Runner::qi>(rowOf<float, 72>(clouds, 0, n));
    cloud.feature<cloud_fraction_runner::Runner::index("liq")>() = rowOf<float, 72>(clouds, 72 * columns, n);
    cloud.Run();
    compareRow("cloud_fraction", cloud.ice, rowOf<float, 72>(clouds, 144 * columns, n));
    compareRow("cloud_fraction", cloud.tot, rowOf<float, 72>(clouds, 216 * columns, n));

    bool const known = counts.populate(std::pair{"x", rowOf<float, 20>(counted, 0, n)},
                                       std::pair{"count", rowOf<std::int64_t, 4>(counted, 20 * columns, n)});
    bool const unknown = counts.populate(std::pair{"y", rowOf<float, 20>(counted, 0, n)});
    failures += !known || unknown;
    compareRow("counts", counts.evaluate<std::array<float, 11>>(), rowOf<float, 11>(counted, 24 * columns, n));

    // As LLVM's ReleaseModeModelRunner goes about it
    auto const a = rowOf<float, 16>(gates, 0, n);
    auto const b = rowOf<float, 8>(gates, 16 * columns, n);
    std::copy(a.begin(), a.end(), static_cast<float *>(gated.arg_data(gated.LookupArgIndex("feed_a"))));
    std::copy(b.begin(), b.end(), static_cast<float *>(gated.arg_data(gated.LookupArgIndex("feed_b"))));
    failures += gated.LookupArgIndex("feed_model_selector") != -1;
    std::int64_t const place = gated.evaluate<std::int64_t>();
    failures += place != *static_cast<std::int64_t *>(gated.result_data(gated.LookupResultIndex("fetch_place")));
    compareRow("gated", gated.place, rowOf<std::int64_t, 1>(gates, 29 * columns, n));
    compareRow("gated", gated.p, rowOf<float, 5>(gates, 24 * columns, n));
  }
}

/// Weights in bfloat16: the values of the network with rounded weights.
static void checkHalves() {
  std::vector<double> const gates = valuesOf("rounded");
  halved_runner::Runner halved;
  for (std::size_t n = 0; n < columns; ++n) {
    halved.set<&halved_runner::Runner::a>(rowOf<float, 16>(gates, 0, n));
    halved.set<&halved_runner::Runner::b>(rowOf<float, 8>(gates, 16 * columns, n));
    halved.Run();
    compareRow("halved", halved.p, rowOf<float, 5>(gates, 24 * columns, n));
    compareRow("halved", halved.place, rowOf<std::int64_t, 1>(gates, 29 * columns, n));
    compareRow("halved", halved.sum_pu64, rowOf<float, 16>(gates, 30 * columns, n));
  }
}

#endif

/// Both sides of the caller's: the newer one counts, and afterwards the device's results do.
static void checkDualViews() {
  std::vector<double> const values = valuesOf("per_level");
  using Dual = Kokkos::DualView<double **, Kokkos::LayoutLeft, ExecutionSpace>;
  Dual level("level", columns, 9), rate("rate", columns, 1);
  double const *at = values.data();
  fill(level.view_host(), at);
  level.modify_host();
  rate.modify_host(); // older than what is computed
  ExecutionSpace const space;
  per_level::forward(space, per_level_model::load(space), level, rate);
  failures += level.need_sync_device();
  rate.sync_host();
  compare("per_level", "DualView", rate.view_host(), at, 2e-6);
}

template <class Layout> void checkSizes() {
  auto const weights = wide_model::load(ExecutionSpace());
  auto const x = makeView<double, Layout>(9), y = makeView<double, Layout>(2);
  bool thrown = false;
  try {
    wide::forward(ExecutionSpace(), weights, x, y);
  } catch (std::invalid_argument const &) {
    thrown = true;
  }
  failures += !thrown;
}

int main(int, char **argv) {
  Kokkos::ScopeGuard const guard;
  folder = argv[1], generated = argv[2];
  checkAll<float, Kokkos::LayoutRight>("LayoutRight of float");
#ifndef ML2K_FEW // layouts and types are not what sanitizers look for
  checkAll<float, Kokkos::LayoutLeft>("LayoutLeft of float");
  checkAll<double, Kokkos::LayoutRight>("LayoutRight of double");
#endif
  checkAll<double, Kokkos::LayoutStride>("LayoutStride of double");
  checkHalved<float, Kokkos::LayoutRight>("LayoutRight of float");
  checkSizes<Kokkos::LayoutRight>();
#ifndef ML2K_SHARED
  checkRunners();
  checkHalves();
#endif
  checkDualViews();
  std::printf("%d failures\n", failures);
  return failures != 0;
}
