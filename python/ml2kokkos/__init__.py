"""Python side of ml2kokkos."""
