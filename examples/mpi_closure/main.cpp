// Diffusion with a learned diffusivity over MPI: mpi_app WEIGHTS.safetensors [COLUMNS ROWS STEPS [OUTPUT]]
//
// The plane is cut into blocks, one per rank, each inside a halo of one cell. A step asks the closure for the
// diffusivity of each cell, inside the kernel, and moves heat between neighbours. What a cell computes does not depend
// on the block that it lies in, so that any number of ranks gives the same bits. OUTPUT gets the plane as doubles, row
// by row.
#include "closure.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

using ExecutionSpace = closure::ExecutionSpace;
using Field = Kokkos::View<double **, Kokkos::LayoutRight, ExecutionSpace>; // [row][column], inside the halo
using Cells = Kokkos::MDRangePolicy<ExecutionSpace, Kokkos::Rank<2, Kokkos::Iterate::Right, Kokkos::Iterate::Right>>;

constexpr double timeStep = 0.2; // the diffusivity is at most 1, where 0.25 is the largest stable one

//===--- Blocks
//-------------------------------------------------------------------------------------------------------//

/// The part of one axis that a rank has. Equal parts, but for the last ones, which may be smaller or have nothing.
struct Part {
  int first, count;
};

static Part partOf(int cells, int parts, int part) {
  int const most = (cells + parts - 1) / parts;
  int const first = std::min(cells, part * most);
  return {first, std::min(cells - first, most)};
}

struct Domain {
  MPI_Comm grid;
  std::array<int, 2> cells;      ///< rows and columns of the plane
  Part rows, columns;            ///< of this rank
  int above, below, left, right; ///< ranks, MPI_PROC_NULL where the plane ends

  bool isEmpty() const { return rows.count == 0 || columns.count == 0; }
};

static Domain divide(std::array<int, 2> cells) {
  int ranks = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::array<int, 2> parts = {0, 0}, at = {0, 0};
  std::array<int, 2> const periodic = {0, 0};
  MPI_Dims_create(ranks, 2, parts.data());
  Domain domain{};
  domain.cells = cells;
  MPI_Cart_create(MPI_COMM_WORLD, 2, parts.data(), periodic.data(), true, &domain.grid);
  MPI_Comm_rank(domain.grid, &rank);
  MPI_Cart_coords(domain.grid, rank, 2, at.data());
  domain.rows = partOf(cells[0], parts[0], at[0]);
  domain.columns = partOf(cells[1], parts[1], at[1]);
  MPI_Cart_shift(domain.grid, 0, 1, &domain.above, &domain.below);
  MPI_Cart_shift(domain.grid, 1, 1, &domain.left, &domain.right);
  // Blocks without cells are the last ones of an axis: the plane ends in front of them
  if (domain.rows.first + domain.rows.count == cells[0])
    domain.below = MPI_PROC_NULL;
  if (domain.columns.first + domain.columns.count == cells[1])
    domain.right = MPI_PROC_NULL;
  return domain;
}

//===--- Weights
//------------------------------------------------------------------------------------------------------//

/// Rank 0 reads and packs them, the others get the packed ones. A file that does not hold them ends all ranks.
static closure::Weights shareWeights(ExecutionSpace const &space, Domain const &domain, char const *path) {
  using Values = decltype(closure::Weights::values)::non_const_type;
  int rank = 0;
  MPI_Comm_rank(domain.grid, &rank);
  auto const host = Kokkos::create_mirror(Kokkos::HostSpace(), Values("closure::shape"));
  if (rank == 0)
    try {
      Kokkos::deep_copy(host, closure::load_weights(space, path).values);
    } catch (std::exception const &error) {
      std::fprintf(stderr, "error: %s\n", error.what());
      MPI_Abort(domain.grid, 1);
    }
  MPI_Bcast(host.data(), int(host.size()), MPI_FLOAT, 0, domain.grid);
  Values const values(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "closure::weights"));
  Kokkos::deep_copy(space, values, host);
  space.fence("closure::shareWeights (the host copy is released)");
  return {values};
}

//===--- Halo
//---------------------------------------------------------------------------------------------------------//

/// Where the plane ends its halo has the values of the cells inside: no heat passes.
static void insulate(ExecutionSpace const &space, Domain const &domain, Field const &field) {
  int const rows = domain.rows.count, columns = domain.columns.count;
  bool const above = domain.above == MPI_PROC_NULL, below = domain.below == MPI_PROC_NULL;
  bool const left = domain.left == MPI_PROC_NULL, right = domain.right == MPI_PROC_NULL;
  Kokkos::parallel_for(
      "closure::insulate", Kokkos::RangePolicy(space, 1, std::max(rows, columns) + 1), KOKKOS_LAMBDA(int k) {
        if (above && k <= columns)
          field(0, k) = field(1, k);
        if (below && k <= columns)
          field(rows + 1, k) = field(rows, k);
        if (left && k <= rows)
          field(k, 0) = field(k, 1);
        if (right && k <= rows)
          field(k, columns + 1) = field(k, columns);
      });
}

/// The neighbours' outermost cells into the halo. On a device this needs an MPI that takes device pointers.
static void exchange(ExecutionSpace const &space, Domain const &domain, Field const &field) {
  int const rows = domain.rows.count, columns = domain.columns.count;
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Type_vector(rows, 1, int(field.stride(0)), MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  space.fence("closure::exchange (MPI reads the field)");
  auto const move = [&](int to, int sentRow, int sentColumn, int from, int row, int place, int count,
                        MPI_Datatype type) {
    MPI_Sendrecv(&field(sentRow, sentColumn), count, type, to, 0, &field(row, place), count, type, from, 0, domain.grid,
                 MPI_STATUS_IGNORE);
  };
  move(domain.above, 1, 1, domain.below, rows + 1, 1, columns, MPI_DOUBLE);
  move(domain.below, rows, 1, domain.above, 0, 1, columns, MPI_DOUBLE);
  move(domain.left, 1, 1, domain.right, 1, columns + 1, 1, column);
  move(domain.right, 1, columns, domain.left, 1, 0, 1, column);
  MPI_Type_free(&column);
  insulate(space, domain, field);
}

//===--- Physics
//------------------------------------------------------------------------------------------------------//

struct Plane {
  Field heat, next, diffusivity;

  explicit Plane(Domain const &domain)
      : heat("heat", domain.rows.count + 2, domain.columns.count + 2),
        next("next", domain.rows.count + 2, domain.columns.count + 2),
        diffusivity("diffusivity", domain.rows.count + 2, domain.columns.count + 2) {}
};

static Cells cellsOf(ExecutionSpace const &space, Domain const &domain) {
  return Cells(space, {1, 1}, {domain.rows.count + 1, domain.columns.count + 1});
}

/// Two warm discs, by the position in the plane.
static void fill(ExecutionSpace const &space, Domain const &domain, Field const &heat) {
  int const row = domain.rows.first - 1, column = domain.columns.first - 1;
  double const height = domain.cells[0], width = domain.cells[1];
  Kokkos::parallel_for(
      "closure::fill", cellsOf(space, domain), KOKKOS_LAMBDA(int i, int j) {
        double const y = (row + i + 0.5) / height, x = (column + j + 0.5) / width;
        double const first = (x - 0.3) * (x - 0.3) + (y - 0.4) * (y - 0.4);
        double const second = (x - 0.7) * (x - 0.7) + (y - 0.6) * (y - 0.6);
        heat(i, j) = first < 0.04 ? 1 : second < 0.02 ? 0.7 : 0.1;
      });
}

/// The closure: a cell and its differences along both axes to a diffusivity.
static void diffusivityOf(ExecutionSpace const &space, Domain const &domain, closure::Weights const &weights,
                          Field const &heat, Field const &diffusivity) {
  Kokkos::parallel_for(
      "closure::diffusivity", cellsOf(space, domain), KOKKOS_LAMBDA(int i, int j) {
        float cell[3] = {float(heat(i, j)), float((heat(i, j + 1) - heat(i, j - 1)) / 2),
                         float((heat(i + 1, j) - heat(i - 1, j)) / 2)};
        float result[1];
        using Cell = Kokkos::View<float[3], Kokkos::LayoutRight, Kokkos::AnonymousSpace, Kokkos::MemoryUnmanaged>;
        using Result = Kokkos::View<float[1], Kokkos::LayoutRight, Kokkos::AnonymousSpace, Kokkos::MemoryUnmanaged>;
        closure::forward(weights, Cell(cell), Result(result));
        diffusivity(i, j) = result[0];
      });
}

static void diffuse(ExecutionSpace const &space, Domain const &domain, Plane const &plane) {
  auto const heat = plane.heat, next = plane.next, diffusivity = plane.diffusivity;
  Kokkos::parallel_for(
      "closure::diffuse", cellsOf(space, domain), KOKKOS_LAMBDA(int i, int j) {
        auto const flow = [&](int di, int dj) { // between neighbours, by the mean of their diffusivities
          return (diffusivity(i, j) + diffusivity(i + di, j + dj)) / 2 * (heat(i + di, j + dj) - heat(i, j));
        };
        next(i, j) = heat(i, j) + timeStep * ((flow(-1, 0) + flow(1, 0)) + (flow(0, -1) + flow(0, 1)));
      });
}

static void step(ExecutionSpace const &space, Domain const &domain, closure::Weights const &weights, Plane &plane) {
  exchange(space, domain, plane.heat);
  diffusivityOf(space, domain, weights, plane.heat, plane.diffusivity);
  exchange(space, domain, plane.diffusivity);
  diffuse(space, domain, plane);
  std::swap(plane.heat, plane.next);
}

//===--- Results
//------------------------------------------------------------------------------------------------------//

/// The largest distance of the closure from the formula that it has learned (make_model.py).
static double errorOf(ExecutionSpace const &space, Domain const &domain, Plane const &plane) {
  auto const heat = plane.next, diffusivity = plane.diffusivity; // the ones of the last step
  double worst = 0, all = 0;
  if (!domain.isEmpty())
    Kokkos::parallel_reduce(
        "closure::error", cellsOf(space, domain),
        KOKKOS_LAMBDA(int i, int j, double &most) {
          double const x = (heat(i, j + 1) - heat(i, j - 1)) / 2, y = (heat(i + 1, j) - heat(i - 1, j)) / 2;
          double const exact = 0.1 + 0.6 / (1 + 40 * (x * x + y * y)) + 0.25 * heat(i, j) * heat(i, j);
          most = Kokkos::max(most, Kokkos::abs(diffusivity(i, j) - exact));
        },
        Kokkos::Max<double>(worst));
  MPI_Allreduce(&worst, &all, 1, MPI_DOUBLE, MPI_MAX, domain.grid);
  return all;
}

/// All ranks write their blocks into one file.
static void write(Domain const &domain, Field const &heat, char const *path) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), heat);
  MPI_File file = MPI_FILE_NULL;
  if (MPI_File_open(domain.grid, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS) {
    std::fprintf(stderr, "error: %s cannot be written\n", path);
    MPI_Abort(domain.grid, 1);
  }
  MPI_File_set_size(file, MPI_Offset(domain.cells[0]) * domain.cells[1] * MPI_Offset(sizeof(double)));
  MPI_Datatype inFile = MPI_DOUBLE, inMemory = MPI_DOUBLE;
  if (!domain.isEmpty()) {
    int const count[] = {domain.rows.count, domain.columns.count}, first[] = {domain.rows.first, domain.columns.first};
    int const size[] = {count[0] + 2, count[1] + 2}, inside[] = {1, 1};
    MPI_Type_create_subarray(2, domain.cells.data(), count, first, MPI_ORDER_C, MPI_DOUBLE, &inFile);
    MPI_Type_create_subarray(2, size, count, inside, MPI_ORDER_C, MPI_DOUBLE, &inMemory);
    MPI_Type_commit(&inFile);
    MPI_Type_commit(&inMemory);
  }
  MPI_File_set_view(file, 0, MPI_DOUBLE, inFile, "native", MPI_INFO_NULL);
  MPI_File_write_all(file, host.data(), domain.isEmpty() ? 0 : 1, inMemory, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  if (!domain.isEmpty()) {
    MPI_Type_free(&inFile);
    MPI_Type_free(&inMemory);
  }
}

static int run(int argc, char **argv) {
  auto const number = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
  int const columns = number(2, 200), rows = number(3, 150), steps = number(4, 100);
  if (argc < 2 || columns < 1 || rows < 1 || steps < 1) {
    std::fprintf(stderr, "usage: mpi_app WEIGHTS.safetensors [COLUMNS ROWS STEPS [OUTPUT]]\n");
    return 2;
  }
  ExecutionSpace const space;
  Domain domain = divide({rows, columns});
  closure::Weights const weights = shareWeights(space, domain, argv[1]);
  Plane plane(domain);
  fill(space, domain, plane.heat);
  MPI_Barrier(domain.grid);
  auto const begin = std::chrono::steady_clock::now();
  for (int t = 0; t < steps && !domain.isEmpty(); ++t)
    step(space, domain, weights, plane);
  space.fence("closure::run (the end is timed)");
  MPI_Barrier(domain.grid);
  double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  double const error = errorOf(space, domain, plane);
  if (argc > 5)
    write(domain, plane.heat, argv[5]);
  int rank = 0, ranks = 0, withCells = !domain.isEmpty(), blocks = 0;
  MPI_Comm_rank(domain.grid, &rank);
  MPI_Comm_size(domain.grid, &ranks);
  MPI_Allreduce(&withCells, &blocks, 1, MPI_INT, MPI_SUM, domain.grid);
  if (rank == 0)
    std::printf(
        "%d x %d cells, %d ranks, %d with cells: %.1f ns per cell and step; largest error of the closure %.3f\n",
        columns, rows, ranks, blocks, seconds * 1e9 / steps / rows / columns, error);
  MPI_Comm_free(&domain.grid);
  return error > 0.1;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int result = 1;
  {
    Kokkos::ScopeGuard const guard(argc, argv);
    result = run(argc, argv);
  }
  MPI_Finalize();
  return result;
}
