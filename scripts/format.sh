#!/bin/bash
# Formats our own C++ sources in place; --check only names the files that differ and fails. Generated files (the examples'
# and test/golden's) are formatted by ml2kokkos itself.
cd "$(dirname "$0")/.."
mode=(-i)
[ "${1:-}" = --check ] && mode=(--dry-run --Werror)
git ls-files 'translator/*.cpp' 'translator/*.h' 'passes/*.cpp' 'passes/*.h' 'test/*.cpp' 'test/*.h' 'cmake/*.h' \
  'examples/*main.cpp' examples/sparse/{mesh,triplets,crs_matrix}.cpp ':!test/golden' | xargs clang-format-19 "${mode[@]}"
