#!/usr/bin/env python3
"""The gates that read the printed text catch what they are there for."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from ml2kokkos.verify.translate import Failure, check_text # noqa: E402

GOOD = """
static void a(ExecutionSpace const &space, X const &x) {
  Kokkos::parallel_for(
      "net::a", Kokkos::RangePolicy(space, 0, 8), KOKKOS_LAMBDA(int i) { x(i) = 0; });
}

void forward(ExecutionSpace const &space, X const &x) {
  a(space, x);
}
"""

BREACHES = {
    "not on the given instance": GOOD.replace("RangePolicy(space, 0, 8)", "RangePolicy(0, 8)"),
    "waits or allocates": GOOD.replace("  a(space, x);", "  a(space, x);\n  space.fence();"),
}


def main():
    check_text(GOOD)
    for what, text in BREACHES.items():
        try:
            check_text(text)
        except Failure as failure:
            assert what in str(failure), failure
        else:
            sys.exit(f"not seen: {what}")


main()
