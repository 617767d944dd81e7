"""ml2kokkos-tune: measures the numbers that building blocks may have, and writes the better ones to a file that the tool reads."""
