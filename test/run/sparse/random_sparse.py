#!/usr/bin/env python3
"""Random programs on sparse matrices against NumPy: $ML2K_RANDOM_SPARSE many (default 12) from $ML2K_RANDOM_SEED on.

  random_sparse.py --work FOLDER [--sanitize]

Each runs twice: with room for all entries of what is assembled, and a few more, and with too little for one matrix, whose entries are
counted all the same and without which the rest is right that does not need it."""

import argparse
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "python")]
from ml2kokkos.verify import sparse # noqa: E402
from ml2kokkos.verify.build import build_runner, write_runner # noqa: E402
from ml2kokkos.verify.exchange import run_all # noqa: E402
from ml2kokkos.verify.translate import Failure, translate # noqa: E402
from random_programs import RandomProgram # noqa: E402

COUNT, FIRST = int(os.environ.get("ML2K_RANDOM_SPARSE", 12)), int(os.environ.get("ML2K_RANDOM_SEED", 0))
REFUSED = r"extent \d of '\w+' is not known; give it with --dim" # rightly: the result alone has it
UNTOUCHED = 77 # of what lies behind the entries


def stored_arrays(tensor, value):
    """Positions, coordinates and values of what is stored, zeros too."""
    marks = np.where(value.mask, np.arange(1, value.mask.size + 1).reshape(value.mask.shape), 0)
    tensor.dtype, dtype = np.dtype(np.int64), tensor.dtype
    *indices, found = sparse.arrays_of(tensor, marks)
    tensor.dtype = dtype
    flat = np.concatenate([[0], value.dense.reshape(-1)])
    return [*indices, flat[found].astype(dtype)]


class Case:
    def __init__(self, seed, folder):
        self.random = RandomProgram(seed)
        self.text = self.random.make()
        self.name = f"random_{seed}"
        self.values = {value.name[1:]: value for value in self.random.values}
        self.path = folder / f"{self.name}.mlir"
        self.path.write_text(self.text)
        self.refusal = None

    def translate(self, folder):
        try:
            self.model = translate(self.path, folder, self.name, [])
            self.tensors = {tensor.name: tensor for tensor in sparse.sparse_tensors(self.path, [])}
        except Failure as failure:
            self.refusal = str(failure)

    def room_of(self, name, short):
        count = int(self.values[name].mask.sum())
        return count // 2 if name == short else count + 3

    def assembled(self):
        return [name for name, value in self.values.items() if value.made == "assembled"]

    def prepare(self, short):
        """Arguments, and per output what it must be, how much of it counts, and what is behind."""
        arrays, self.expected = {}, {}
        for name, value in self.values.items():
            if value.mask is None:
                continue
            tensor = self.tensors[name]
            stored = stored_arrays(tensor, value)
            if value.made == "argument":
                arrays |= dict(zip(tensor.arrays, stored))
                continue
            is_lost = bool(short and (short == name or short in value.needs))
            for array, wanted in zip(tensor.arrays, stored[-len(tensor.arrays):] if tensor.arrays else []):
                if array.endswith("_positions"):
                    arrays[array] = np.full(len(wanted), UNTOUCHED)
                    self.expected[array] = None if is_lost and short != name else (wanted, len(wanted))
                    continue
                owner = value.entries
                room = self.room_of(owner, short) if owner in self.assembled() else len(wanted)
                arrays[array] = np.full(room, UNTOUCHED, wanted.dtype)
                self.expected[array] = None if is_lost or room < len(wanted) else (wanted, len(wanted))
        for name, value in self.values.items():
            if value.mask is None:
                place = value.destination[1:]
                is_lost = short and short in value.needs
                output = place if place.startswith("x") else name
                self.expected[output] = None if is_lost else (value.dense, None)
        self.arrays = arrays

    def inputs(self):
        given = dict(self.random.given)
        return [np.asarray(self.arrays[argument.name] if argument.name in self.arrays else given[argument.name]).astype(argument.dtype)
                for argument in self.model.inputs]

    def shapes(self):
        """Of outputs that have no other."""
        return [self.arrays[argument.name] if argument.name in self.arrays else self.expected_of(argument.name) for argument in self.model.outputs]

    def expected_of(self, name):
        value = self.values.get(name)
        return value.dense if value is not None else np.zeros(0)

    def compare(self, results, short):
        if isinstance(results, Failure):
            return str(results)
        for argument, result in zip(self.model.outputs, results, strict=True):
            if argument.name not in self.expected:
                return f"nobody knows the output {argument.name}"
            if self.expected[argument.name] is None:
                continue
            wanted, count = self.expected[argument.name]
            tail = result[count:] if count is not None else np.zeros(0)
            result = result[:count] if count is not None else result
            tolerance = 1e-4 if argument.dtype == np.float32 else 1e-11
            if result.shape != np.shape(wanted) or not np.allclose(result, wanted, rtol=tolerance, atol=tolerance * 8):
                return f"{argument.name}: {result} instead of {wanted}" + (f" with half the room for {short}" if short else "")
            if np.any(tail != UNTOUCHED):
                return f"{argument.name}: {tail} behind its entries"
        return None


def run(cases, program, shorts):
    for case, short in zip(cases, shorts):
        case.prepare(short)
    results, _ = run_all(program, [(case.model, case.inputs(), 0, {name: array for name, array in case.arrays.items()}) for case in cases],
                         outputs=[case.shapes() for case in cases])
    return [(case, said) for case, short, result in zip(cases, shorts, results) if (said := case.compare(result, short))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--sanitize", action="store_true", help="with the address sanitizer")
    options = parser.parse_args()
    folder = options.work / "programs"
    folder.mkdir(parents=True, exist_ok=True)
    cases = [Case(seed, folder) for seed in range(FIRST, FIRST + COUNT)]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda case: case.translate(folder), cases))
    refused, cases = [case for case in cases if case.refusal], [case for case in cases if not case.refusal]
    wrongly = [case for case in refused if not re.search(REFUSED, case.refusal)]
    for case in wrongly:
        print(f"REFUSED {case.name}: {case.refusal}\n{case.text}")
    write_runner(folder, [case.model for case in cases])
    flags = "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all" if options.sanitize else "-O1"
    program = build_runner(options.work, "programs", unity=12, flags=flags)
    wrong = run(cases, program, [None] * len(cases))
    chains = [case for case in cases if case.assembled()]
    wrong += run(chains, program, [case.random.random.choice(case.assembled()) for case in chains])
    for case, said in wrong:
        print(f"WRONG {case.name}: {said}\n{case.text}")
    print(f"{len(cases)} programs, {len(wrong)} wrong runs, {len(refused)} refused")
    return 1 if wrong or wrongly or len(refused) > COUNT / 4 else 0


if __name__ == "__main__":
    sys.exit(main())
