#!/bin/bash
# ranks.sh MPI_APP WEIGHTS MPIRUN: 1, 2, 3 and 4 ranks give the same bits, also where ranks have no cells.
set -euo pipefail
app=$1 weights=$2 mpirun=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# More ranks than processors, in a container, perhaps as root, without a network
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMP_NUM_THREADS=1 OMP_PROC_BIND=false KOKKOS_DISABLE_WARNINGS=1 TMPDIR=$work
on() { "$mpirun" --oversubscribe --bind-to none -n "$1" "$app" "${@:2}"; }

# same COLUMNS ROWS STEPS BLOCKS: BLOCKS of 4 ranks have cells
same() {
  for ranks in 1 2 3 4; do
    on $ranks "$weights" "$1" "$2" "$3" "$work/$ranks" | tee "$work/log"
    [ "$(stat -c %s "$work/$ranks")" = $((8 * $1 * $2)) ]
    cmp "$work/1" "$work/$ranks"
  done
  grep -q "4 ranks, $4 with cells" "$work/log"
  if [ -e "$work/previous" ] && cmp -s "$work/1" "$work/previous"; then echo "another plane gives the same bits"; exit 1; fi
  cp "$work/1" "$work/previous"
  rm "$work"/[1-4]
}
same 61 47 60 4
same 1 5 60 2
same 1 1 60 1
same 3 1 60 2

# A file that is none ends all ranks, with one message
echo nothing >"$work/weights"
! timeout 60 "$mpirun" --oversubscribe --bind-to none -n 2 "$app" "$work/weights" 9 9 1 2>"$work/log"
[ "$(grep -c 'does not hold the weights of this model' "$work/log")" = 1 ]
