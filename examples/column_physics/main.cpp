// A column kernel with a learned closure: column_app WEIGHTS.safetensors
//
// Each column has its temperature and humidity on 72 levels. The kernel condenses water, asks the closure for the cloud
// cover and integrates it. The closure is called inside the kernel: by the team of a column, or by one thread; and, to
// compare with, for all columns at once between two kernels of the application.
#include "closure.hpp"

#include <cmath>
#include <cstdio>
#include <stdexcept>

using ExecutionSpace = closure::ExecutionSpace;
using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
using Field = Kokkos::View<double **, ExecutionSpace>; // [column][level], in the layout that this back end prefers
using Means = Kokkos::View<double *, ExecutionSpace>;

constexpr int levels = 72, columns = 4096;

struct Columns {
  Field temperature{"temperature", columns, levels}, humidity{"humidity", columns, levels};
  Field iceWater{"ice water", columns, levels}, liquidWater{"liquid water", columns, levels};
  Field ice{"ice", columns, levels}, cover{"cover", columns, levels};
};

static void fill(ExecutionSpace const &space, Columns const &state) {
  Kokkos::parallel_for(
      "fill", Kokkos::RangePolicy(space, 0, columns), KOKKOS_LAMBDA(int c) {
        for (int k = 0; k < levels; ++k) {
          state.temperature(c, k) = 210 + 80 * k / double(levels) + 6 * Kokkos::sin(0.37 * c + 0.2 * k);
          state.humidity(c, k) = 0.9 + 0.6 * Kokkos::sin(0.11 * c + 0.31 * k) * Kokkos::cos(0.05 * c - 0.17 * k);
        }
      });
}

// Water beyond saturation, as ice where it is cold
KOKKOS_INLINE_FUNCTION void condense(Columns const &state, int c, int k) {
  double const water = Kokkos::max(0., state.humidity(c, k) - 0.8);
  double const cold = 1 / (1 + Kokkos::exp((state.temperature(c, k) - 253) / 4));
  state.iceWater(c, k) = water * cold;
  state.liquidWater(c, k) = water * (1 - cold);
}

// One team, one column: condensation, closure and mean in one kernel
static void byTeam(ExecutionSpace const &space, closure::Weights const &weights, Columns const &state,
                   Means const &mean) {
  auto policy = Policy(space, columns, Kokkos::AUTO);
  for (int level : {0, 1})
    policy.set_scratch_size(level, Kokkos::PerTeam(closure::scratch_size(level)));
  Kokkos::parallel_for(
      "by team", policy, KOKKOS_LAMBDA(Policy::member_type const &team) {
        int const c = team.league_rank();
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, int(levels)), [&](int k) { condense(state, c, k); });
        team.team_barrier();
        auto const column = [&](Field const &field) { return Kokkos::subview(field, c, Kokkos::ALL); };
        closure::Scratch const scratch(team);
        closure::forward(team, weights, scratch, column(state.iceWater), column(state.liquidWater), column(state.ice),
                         column(state.cover));
        team.team_barrier();
        double sum = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(team, int(levels)), [&](int k, double &part) { part += state.cover(c, k); }, sum);
        Kokkos::single(Kokkos::PerTeam(team), [&] { mean(c) = sum / levels; });
      });
}

// One thread, one column
static void byThread(ExecutionSpace const &space, closure::Weights const &weights, Columns const &state,
                     Means const &mean) {
  Kokkos::parallel_for(
      "by thread", Kokkos::RangePolicy(space, 0, columns), KOKKOS_LAMBDA(int c) {
        for (int k = 0; k < levels; ++k)
          condense(state, c, k);
        auto const column = [&](Field const &field) { return Kokkos::subview(field, c, Kokkos::ALL); };
        closure::forward(weights, column(state.iceWater), column(state.liquidWater), column(state.ice),
                         column(state.cover));
        double sum = 0;
        for (int k = 0; k < levels; ++k)
          sum += state.cover(c, k);
        mean(c) = sum / levels;
      });
}

// All columns between two kernels
static void byLaunch(ExecutionSpace const &space, closure::Weights const &weights, Columns const &state,
                     Means const &mean) {
  Kokkos::parallel_for(
      "condense", Kokkos::RangePolicy(space, 0, columns), KOKKOS_LAMBDA(int c) {
        for (int k = 0; k < levels; ++k)
          condense(state, c, k);
      });
  closure::forward(space, weights, state.iceWater, state.liquidWater, state.ice, state.cover);
  Kokkos::parallel_for(
      "mean", Kokkos::RangePolicy(space, 0, columns), KOKKOS_LAMBDA(int c) {
        double sum = 0;
        for (int k = 0; k < levels; ++k)
          sum += state.cover(c, k);
        mean(c) = sum / levels;
      });
}

// The mean distance of the cover from the formula that the closure has learned (make_model.py)
static double errorOf(Columns const &state) {
  auto const ice = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), state.iceWater);
  auto const liquid = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), state.liquidWater);
  auto const cover = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), state.cover);
  auto const smooth = [](auto const &at, int k) {
    return (at(std::max(k - 1, 0)) + at(k) + at(std::min(k + 1, levels - 1))) / 3;
  };
  double sum = 0;
  for (int c = 0; c < columns; ++c)
    for (int k = 0; k < levels; ++k) {
      auto const isIce = [&](int j) { return double(smooth([&](int i) { return ice(c, i); }, j) > 0.35); };
      double const exact = 0.7 * smooth([&](int i) { return liquid(c, i); }, k) + 0.25 * smooth(isIce, k);
      sum += std::abs(cover(c, k) - std::min(1., std::max(0., exact)));
    }
  return sum / columns / levels;
}

int main(int argc, char **argv) try {
  Kokkos::ScopeGuard const guard(argc, argv);
  if (argc < 2)
    throw std::runtime_error("usage: column_app WEIGHTS.safetensors");
  ExecutionSpace const space;
  auto const weights = closure::load_weights(space, argv[1]);
  Columns const state;
  fill(space, state);

  using Run = void (*)(ExecutionSpace const &, closure::Weights const &, Columns const &, Means const &);
  struct {
    char const *name;
    Run run;
    Means mean;
  } const ways[] = {{"team  ", byTeam, Means("mean", columns)},
                    {"thread", byThread, Means("mean", columns)},
                    {"launch", byLaunch, Means("mean", columns)}};
  double largest = 0;
  for (auto const &way : ways) {
    double best = 1e30;
    for (int repeat = 0; repeat < 5; ++repeat) {
      space.fence();
      Kokkos::Timer const timer;
      way.run(space, weights, state, way.mean);
      space.fence();
      best = std::min(best, timer.seconds());
    }
    auto const mean = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), way.mean);
    auto const first = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), ways[0].mean);
    for (int c = 0; c < columns; ++c)
      largest = std::max(largest, std::abs(mean(c) - first(c)));
    std::printf("%s %6.2f us a column\n", way.name, best * 1e6 / columns);
  }
  double const error = errorOf(state);
  std::printf("%d columns: forms differ by at most %.1e; mean error of the closure %.3f\n", columns, largest, error);
  return largest < 1e-6 && error < 0.03 ? 0 : 1;
} catch (std::exception const &error) {
  std::fprintf(stderr, "column_app: %s\n", error.what());
  return 1;
}
