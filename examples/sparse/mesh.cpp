// A mesh code with arrays of its own: cells and their neighbours in std::vectors, nothing of Kokkos. An implicit step
// of diffusion, (I + dt L) u = u before, by the printed solver; views without memory of their own stand for the arrays.
#include "solve.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

// What such a code has: for cell c the faces first_face[c] .. first_face[c + 1] - 1, each with the cell behind it
struct Mesh {
  std::vector<int> first_face{0}, neighbour;
  std::vector<double> area, volume;
  int cells() const { return int(volume.size()); }
};

// Cells of a ring, each with a cell two further as well; volumes differ
static Mesh makeMesh(int cells) {
  Mesh mesh;
  for (int c = 0; c < cells; ++c) {
    for (int step : {-2, -1, 1, 2}) {
      mesh.neighbour.push_back((c + step + cells) % cells);
      mesh.area.push_back(std::abs(step) == 1 ? 1 : .25);
    }
    mesh.first_face.push_back(int(mesh.neighbour.size()));
    mesh.volume.push_back(1 + .5 * std::sin(.1 * c));
  }
  return mesh;
}

// The matrix of a step, in CSR: rows of cells, columns ascend
struct Step {
  std::vector<int> positions{0}, columns;
  std::vector<double> values, inverse_diagonal;
};

static Step makeStep(Mesh const &mesh, double dt) {
  Step step;
  for (int c = 0; c < mesh.cells(); ++c) {
    std::vector<std::pair<int, double>> row;
    double diagonal = mesh.volume[c];
    for (int f = mesh.first_face[c]; f < mesh.first_face[c + 1]; ++f) {
      row.push_back({mesh.neighbour[f], -dt * mesh.area[f]});
      diagonal += dt * mesh.area[f];
    }
    row.push_back({c, diagonal});
    std::sort(row.begin(), row.end());
    for (auto const &[column, value] : row) {
      step.columns.push_back(column);
      step.values.push_back(value);
    }
    step.positions.push_back(int(step.columns.size()));
    step.inverse_diagonal.push_back(1 / diagonal);
  }
  return step;
}

// A view of an array of the caller's on a host, a copy of it on a device
template <class T> static auto viewOf(std::vector<T> const &array) {
  Kokkos::View<T const *, Kokkos::LayoutRight, Kokkos::HostSpace> const host(array.data(), array.size());
  return Kokkos::create_mirror_view_and_copy(solve::ExecutionSpace::memory_space(), host);
}

int main(int count, char **arguments) {
  Kokkos::ScopeGuard const guard(count, arguments);
  solve::ExecutionSpace const space;
  Mesh const mesh = makeMesh(5000);
  Step const step = makeStep(mesh, 10);
  int const cells = mesh.cells();
  std::vector<double> u(cells);
  u[cells / 2] = 100;

  auto const positions = viewOf(step.positions), columns = viewOf(step.columns);
  auto const values = viewOf(step.values), inverse_diagonal = viewOf(step.inverse_diagonal);
  if (int const wrong = solve::first_wrong_row(space, positions, columns, cells); wrong >= 0)
    return std::printf("row %d is wrong\n", wrong), 1;
  solve::Workspace const work(space, cells);
  Kokkos::View<double *, Kokkos::LayoutRight, Kokkos::HostSpace> const after(u.data(), cells);
  auto const result = Kokkos::create_mirror_view(solve::ExecutionSpace::memory_space(), after);
  double const before = 100 * mesh.volume[cells / 2];
  for (int time = 0; time < 3; ++time) {
    std::vector<double> content(cells);
    for (int c = 0; c < cells; ++c)
      content[c] = mesh.volume[c] * u[c];
    solve::forward(space, work, positions, columns, values, inverse_diagonal, viewOf(content), 1e-18, result);
    space.fence();
    Kokkos::deep_copy(after, result);
  }
  // What diffuses is neither lost nor made
  double sum = 0, largest = 0;
  for (int c = 0; c < cells; ++c) {
    sum += mesh.volume[c] * u[c];
    largest = std::max(largest, u[c]);
  }
  std::printf("%d cells, %d entries, sum changed by %.1e, largest %.2f\n", cells, step.positions.back(),
              std::abs(sum / before - 1), largest);
  return std::abs(sum / before - 1) < 1e-9 && largest < 20 ? 0 : 1;
}
