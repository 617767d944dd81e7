#!/usr/bin/env python3
"""Makes a program of the examples in printed headers: header_examples.py PROGRAM.cpp HEADER.hpp ..."""

import sys
from pathlib import Path


def example(header):
    lines = header.read_text().split("// Example:\n")[1].split("\n")
    code = []
    for line in lines:
        if not line.startswith("//   "):
            break
        code.append("  " + line.removeprefix("//   "))
    return code


def main():
    headers = [Path(path).resolve() for path in sys.argv[2:]]
    program = [f'#include "{header.name}"' for header in headers]
    program += ["#include <cstdio>", "#include <filesystem>", ""]
    for header in headers:
        program += [f"static void run_{header.stem}() {{", *example(header), "}", ""]
    program += ["int main(int argc, char **argv) {", "  Kokkos::ScopeGuard const guard(argc, argv);"]
    for header in headers: # where the weights lie
        program += [f'  std::filesystem::current_path("{header.parent}");', f"  run_{header.stem}();"]
    program += [f'  std::puts("{len(headers)} examples ran");', "}", ""]
    Path(sys.argv[1]).write_text("\n".join(program))


if __name__ == "__main__":
    main()
