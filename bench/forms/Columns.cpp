// The forms of one network beside onnxruntime and one kernel per operation:  columns LIBRARY MODEL WEIGHTS NAIVE_WEIGHTS SECONDS
// Each line: what, number of columns, seconds of a column (the least of all turns).
// Compiled once for each network: NET is its namespace, INPUTS and OUTPUTS are widths, TOLERANCE is what results may differ by.
#include "Bounds.h"
#include "OnnxRuntime.h"
#include "Race.h"
#include HEADER
#include NAIVE_HEADER

#include <cmath>
#include <random>
#include <tuple>
#include <utility>

using Space = Kokkos::DefaultExecutionSpace;
using Policy = Kokkos::TeamPolicy<Space>;
constexpr int inputWidths[] = {INPUTS}, outputWidths[] = {OUTPUTS}, most = 1024, levels = 72;
constexpr std::size_t inputs = std::size(inputWidths), outputs = std::size(outputWidths);

template <class Scalar, class Layout> using Views = std::vector<Kokkos::View<Scalar **, Layout, Kokkos::HostSpace>>;

template <class Scalar, class Layout> Views<Scalar, Layout> makeViews(int const *widths, std::size_t count, int columns) {
  Views<Scalar, Layout> views;
  for (std::size_t i = 0; i < count; ++i)
    views.emplace_back("view", columns, widths[i]);
  return views;
}

// call(views[0], views[1], ...)
template <class View, class Call, std::size_t... In>
void spread(std::vector<View> const &views, Call const &call, std::index_sequence<In...>) {
  call(views[In]...);
}
template <class View, class Call> void withAll(std::vector<View> const &views, Call const &call) {
  spread(views, call, std::make_index_sequence<inputs + outputs>());
}

static std::vector<std::vector<float>> values, expected; // of all columns
static int failures = 0;

template <class View> void fill(std::vector<View> const &views) {
  for (std::size_t i = 0; i < inputs; ++i)
    for (int n = 0; n < views[i].extent_int(0); ++n)
      for (int k = 0; k < inputWidths[i]; ++k)
        views[i](n, k) = values[i][std::size_t(n * inputWidths[i] + k)];
}

template <class View> void compare(std::string const &what, std::vector<View> const &views) {
  double worst = 0;
  for (std::size_t i = 0; i < outputs; ++i)
    for (int n = 0; n < views[inputs + i].extent_int(0); ++n)
      for (int k = 0; k < outputWidths[i]; ++k)
        worst = std::max(worst, std::abs(double(views[inputs + i](n, k)) - expected[i][std::size_t(n * outputWidths[i] + k)]));
  failures += !(worst < TOLERANCE);
  if (!(worst < TOLERANCE))
    std::fprintf(stderr, "%s: off by %g\n", what.c_str(), worst);
}

struct Cases {
  Space space;
  NET::Weights weights;
  std::vector<Way> ways;
  std::vector<int> columns;

  void add(std::string name, int count, std::function<void()> run) {
    ways.push_back({std::move(name), std::move(run)});
    columns.push_back(count);
  }

  template <class Scalar, class Layout> auto argumentsOf(int count) {
    auto views = makeViews<Scalar, Layout>(inputWidths, inputs, count);
    for (auto const &view : makeViews<Scalar, Layout>(outputWidths, outputs, count))
      views.push_back(view);
    fill(views);
    return views;
  }

  template <class Scalar, class Layout> void addLaunches(std::string const &layout) {
    for (int count : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 31, 32, 128, most}) {
      auto const views = argumentsOf<Scalar, Layout>(count);
      auto const run = [this, views] {
        withAll(views, [&](auto const &...arguments) { NET::forward(space, weights, arguments...); });
      };
      run();
      compare("launch " + layout, views);
      add("launch " + layout, count, run);
    }
  }

  template <class Scalar, class Layout> void addCalls(std::string const &layout) {
    auto const views = argumentsOf<Scalar, Layout>(most);
    auto const team = [this, views] {
      withAll(views, [&](auto const &...arguments) {
        auto policy = Policy(space, most, 1, 1);
        for (int level : {0, 1})
          policy.set_scratch_size(level, Kokkos::PerTeam(NET::scratch_size(level)));
        Kokkos::parallel_for(
            "team", policy, KOKKOS_LAMBDA(Policy::member_type const &member) {
              NET::Scratch const scratch(member);
              NET::forward(member, weights, scratch, Kokkos::subview(arguments, member.league_rank(), Kokkos::ALL)...);
            });
      });
    };
    auto const thread = [this, views] {
      withAll(views, [&](auto const &...arguments) {
        Kokkos::parallel_for(
            "thread", Kokkos::RangePolicy(space, 0, most), KOKKOS_LAMBDA(int n) {
              NET::forward(weights, Kokkos::subview(arguments, n, Kokkos::ALL)...);
            });
      });
    };
    // All levels of a column by a call: most / levels columns
    auto const rowsOf = [](auto const &view, int column) {
      return Kokkos::subview(view, std::pair(column * levels, (column + 1) * levels), Kokkos::ALL);
    };
    auto const rows = [this, views, rowsOf] {
      withAll(views, [&](auto const &...arguments) {
        Kokkos::parallel_for(
            "rows", Kokkos::RangePolicy(space, 0, most / levels),
            KOKKOS_LAMBDA(int column) { NET::forward_rows(weights, rowsOf(arguments, column)...); });
      });
    };
    auto const rowsByTeam = [this, views, rowsOf] {
      withAll(views, [&](auto const &...arguments) {
        Kokkos::parallel_for(
            "rows", Policy(space, most / levels, 1, 1), KOKKOS_LAMBDA(Policy::member_type const &member) {
              NET::forward_rows(member, weights, rowsOf(arguments, member.league_rank())...);
            });
      });
    };
    std::pair<char const *, std::function<void()>> const all[] = {
        {"team ", team}, {"thread ", thread}, {"rows ", rows}, {"rows by a team ", rowsByTeam}};
    for (auto const &[form, run] : all) {
      for (std::size_t i = inputs; i < views.size(); ++i)
        if (form != std::string("rows ")) // the last columns are no whole ones
          Kokkos::deep_copy(views[i], -77);
      if (form != std::string("rows by a team "))
        run();
      else
        thread(), run();
      compare(form + layout, views);
      add(form + layout, form[0] == 'r' ? most / levels * levels : most, run);
    }
  }

  // Packs as a kernel of the caller's holds them: [block][k][lane]
  template <std::size_t... In, std::size_t... Out>
  void addPacks(std::index_sequence<In...>, std::index_sequence<Out...>) {
    constexpr int lanes = NET::pack_columns;
    using Inputs = std::tuple<float[inputWidths[In]][lanes]...>;
    using Outputs = std::tuple<float[outputWidths[Out]][lanes]...>;
    static std::vector<Inputs> in(most / lanes);
    static std::vector<Outputs> out(most / lanes);
    for (int n = 0; n < most; ++n)
      ([&](auto &pack, std::vector<float> const &from, int width) {
        for (int k = 0; k < width; ++k)
          pack[k][n % lanes] = from[std::size_t(n * width + k)];
      }(std::get<In>(in[std::size_t(n / lanes)]), values[In], inputWidths[In]), ...);
    auto const run = [this] {
      for (int block = 0; block < most / lanes; ++block)
        NET::forward<lanes>(weights, std::get<In>(in[std::size_t(block)])..., std::get<Out>(out[std::size_t(block)])...);
    };
    run();
    double worst = 0;
    for (int n = 0; n < most; ++n)
      ([&](auto const &pack, std::vector<float> const &reference, int width) {
        for (int k = 0; k < width; ++k)
          worst = std::max(worst, std::abs(double(pack[k][n % lanes]) - reference[std::size_t(n * width + k)]));
      }(std::get<Out>(out[std::size_t(n / lanes)]), expected[Out], outputWidths[Out]), ...);
    failures += !(worst < TOLERANCE);
    add("packs", most, run);
  }

  void addNaive(std::string const &file) {
    auto const views = argumentsOf<float, Kokkos::LayoutRight>(most);
    auto const naive = NAIVE::load_weights(space, file);
    NAIVE::Workspace const work(space, most);
    auto const run = [=, this] {
      spread(views, [&](auto const &...arguments) { NAIVE::forward(space, naive, work, arguments...); },
             std::make_index_sequence<inputs + outputs>());
    };
    run();
    compare("naive", views);
    add("naive", most, run);
  }
};

int main(int, char **argv) {
  Kokkos::ScopeGuard const guard;
  double const seconds = std::atof(argv[5]);
  std::mt19937 generator(3);
  for (int width : inputWidths) {
    values.emplace_back(std::size_t(most * width));
    for (float &value : values.back())
      value = std::uniform_real_distribution<float>(-1, 1)(generator);
  }
  for (int width : outputWidths)
    expected.emplace_back(std::size_t(most * width));
  char const *const inputNames[] = {INPUT_NAMES}, *const outputNames[] = {OUTPUT_NAMES};
  OnnxRuntime runtime(argv[1], argv[2]);
  auto const bind = [&](int count) {
    std::vector<OnnxRuntime::Tensor> in, out;
    for (std::size_t i = 0; i < inputs; ++i)
      in.push_back({inputNames[i], values[i].data(), count, inputWidths[i]});
    for (std::size_t i = 0; i < outputs; ++i)
      out.push_back({outputNames[i], expected[i].data(), count, outputWidths[i]});
    return runtime.bind(in, out);
  };
  auto whole = bind(most);
  runtime.run(whole);

  Cases cases{Space(), NET::load_weights(Space(), argv[3]), {}, {}};
  cases.addNaive(argv[4]);
  cases.addLaunches<float, Kokkos::LayoutRight>("float Right");
  cases.addLaunches<float, Kokkos::LayoutLeft>("float Left");
  cases.addLaunches<double, Kokkos::LayoutRight>("double Right");
  cases.addLaunches<double, Kokkos::LayoutLeft>("double Left");
  cases.addCalls<float, Kokkos::LayoutRight>("float Right");
  cases.addCalls<double, Kokkos::LayoutRight>("double Right");
  cases.addCalls<float, Kokkos::LayoutLeft>("float Left");
  cases.addPacks(std::make_index_sequence<inputs>(), std::make_index_sequence<outputs>());
  std::vector<OnnxRuntime::Binding> bindings;
  bindings.reserve(64);
  for (int count : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 31, 32, 128, most}) {
    bindings.push_back(bind(count));
    auto *const binding = &bindings.back();
    cases.add("onnxruntime", count, [&, binding] { runtime.run(*binding); });
  }
  std::vector<float> const left(5 * 256, .5f), right(256 * 64, .25f);
  double const flops = registerTile(256, left.data(), right.data());
  cases.add("tile", 1, [&] { registerTile(256, left.data(), right.data()); });
  std::size_t const bytes = cases.weights.values.span() * sizeof(float);
  cases.add("read weights", 1, [&] { readAll(cases.weights.values.data(), bytes); });

  race(cases.ways, seconds);
  std::printf("flops\t1\t%.9g\nbytes\t1\t%zu\n", flops, bytes);
  for (std::size_t i = 0; i < cases.ways.size(); ++i)
    std::printf("%s\t%d\t%.6g\n", cases.ways[i].name.c_str(), cases.columns[i], cases.ways[i].least() / cases.columns[i]);
  return failures != 0;
}
