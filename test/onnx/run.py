#!/usr/bin/env python3
"""Runs ONNX's backend tests (Debian: libonnx-testdata) through the printed code.

  run.py [--all] [--filter REGEX] [--data DIR] [--sanitize] [--first-only]

Translates every test that is inference on tensors of numbers, compiles the printed code, many models to a program, runs it
on the test's inputs and compares: same type and shape, rtol 1e-3, atol 1e-7. Prints a line per failure and the totals.
Without --all: a fixed tenth of them, and some that were wrong once. DIR holds node/, simple/, pytorch-*/, as in an onnx wheel's backend/test/data.

Operands that decide about shapes and come as inputs in these tests are made constants of the model by --operand, as the
message of the translator asks for; the totals say for how many tests. Tests with such operands run with a second set of
values, too, against onnx's reference evaluator: on the same code where it takes the operand, else translated again."""

import argparse
import collections
import os
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import onnx

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "python"))
sys.path.insert(0, str(Path(__file__).parent))
from cases import DATA, differs, load # noqa: E402
from operands import second_of # noqa: E402
from ml2kokkos.verify.translate import Failure, translate # noqa: E402
from programs import BATCH, Batch, compile_batches # noqa: E402

ALWAYS = "hardmax|Conv1d"


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--all", action="store_true")
    add("--filter", default="", metavar="REGEX")
    add("--data", type=Path, default=DATA, metavar="DIR")
    add("--work", type=Path, default=PROJECT / "build/onnx-tests", metavar="DIR", help="default: %(default)s")
    add("--jobs", type=int, default=2)
    add("--flags", default="-O0", help="for the compiler (default: %(default)s)")
    add("--sanitize", action="store_true", help="with the address and the undefined-behaviour sanitizer")
    add("--first-only", action="store_true", help="leave out the second operands")
    add("--translate-only", action="store_true")
    add("--at-least", type=int, default=0, metavar="N", help="fail below this number of passed tests")
    add("--refusals", action="store_true", help="check instead that the tests of other kinds are refused with a location")
    return parser.parse_args()


def operands(case, message):
    """The inputs on which a shape depends: the one that is named, or all integers where it is computed from some."""
    named = re.search(r'"([^"]*)"\) (?:depends on run-time data|is not a constant scalar)', message)
    if not named:
        return []
    if named[1] in case.inputs:
        return [named[1]]
    integers = [name for name, value in case.inputs.items() if value.dtype.kind in "iub"]
    return integers or [name for name, value in case.inputs.items() if value.size == 1]


def prepare(case, work):
    """Translates; fixes the operands that the message names until there are none."""
    path = work / "onnx" / f"{case.stem}.onnx"
    onnx.save(case.model, str(path))
    while True:
        try:
            case.translated = translate(path, work / "models", case.stem, case.options)
            return
        except Failure as failure:
            wanted = operands(case, str(failure))
            if not wanted:
                text = str(failure).strip()
                case.problem = ("refused" if "exit code 3" in text else "translator failed", text.splitlines()[-1].replace(f"{path}: ", ""))
                return
            for name in wanted:
                case.fix(name)


def is_located(text):
    return re.search(r'error: (node ".*" \(\w|input "|output "|initializer ")', text)


def check_refusals(cases, work):
    """Everything outside the goal has to be refused by a message that says where."""
    bad = 0
    for case in cases:
        path = work / "onnx" / f"{case.stem}.onnx"
        onnx.save(case.model, str(path))
        try:
            translate(path, work / "models", case.stem)
            print(f"not refused: {case.name} ({case.excluded})")
        except Failure as failure:
            if "exit code 3" in str(failure) and is_located(str(failure)):
                continue
            print(f"not located: {case.name}: {failure}")
        bad += 1
    print(f"{len(cases) - bad} of {len(cases)} refused with a location")
    return bad != 0


def prepare_all(cases, arguments):
    with ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(lambda case: prepare(case, arguments.work), cases))


def prepare_second(cases, arguments):
    """Other operands: for code that takes them, and for code that has to be printed again."""
    found = [(case, second) for case in cases if not case.problem and (second := second_of(case))]
    for case, second in found:
        if not case.fixed:
            second.translated = case.translated
    prepare_all([second for _, second in found if not second.translated], arguments)
    return [second for _, second in found]


def run(cases, arguments):
    work = arguments.work
    for case in cases:
        case.read()
    prepare_all(cases, arguments)
    ready = [case for case in cases if not case.problem]
    yield f"{len(ready)} of {len(cases)} translated"
    if arguments.translate_only:
        return
    second = [] if arguments.first_only else prepare_second(cases, arguments)
    again = [case for case in second if case.fixed or case.problem]
    # By their place among all cases, so that what is refused moves nothing to another file
    batches = [Batch(work, f"{kind}{at // BATCH}", [case for case in group[at:at + BATCH] if not case.problem])
               for kind, group in (("batch", cases), ("second", again)) for at in range(0, len(group), BATCH)]
    batches = [batch for batch in batches if batch.cases]
    build = compile_batches(work, batches, flags_of(arguments), arguments.jobs)
    yield "compiled"
    for batch in batches:
        for case, results in batch.run(build):
            check(case, results)
    for batch in batches: # the same programs with other operands
        first = {case.stem for case in batch.cases}
        batch.cases = [case for case in second if case not in again and case.translated.stem in first]
        for case, results in batch.run(build):
            check(case, results)
    yield "run"
    if not arguments.first_only:
        summarize_second(second, again)


def flags_of(arguments):
    return arguments.flags + " -g1 -fsanitize=address,undefined -fno-sanitize-recover=all" * arguments.sanitize


def summarize_second(second, again):
    for case in second:
        if case.problem:
            print(f"{case.problem[0]}: {case.name}: {case.problem[1]}")
    right = [case for case in second if not case.problem]
    constants = sum(1 for case in right if case in again)
    print(f"second operands: {len(right)} of {len(second)} right, {len(right) - constants} taken at run time, "
          f"{constants} as constants")


def check(case, results):
    if isinstance(results, Failure):
        case.problem = ("stopped", str(results))
        return
    for (argument, have), want in zip(case.translated.counted(results), case.outputs):
        if problem := differs(want, have, roundings=2 if "attention" in case.name else 1):
            case.problem = ("wrong", f"{argument.name}: {problem}")
            return


def summary(cases):
    count = collections.Counter(case.problem[0] if case.problem else "passed" for case in cases)
    for case in sorted(cases, key=lambda case: (case.problem or ("",))[0]):
        if case.problem:
            print(f"{case.problem[0]}: {case.name}: {case.problem[1]}")
    reasons = collections.Counter(re.sub(r'^.*?node ".*?" (\(\w+, opset \d+\)): ', r"\1 ", case.problem[1])
                                  for case in cases if case.problem and case.problem[0] == "refused")
    for reason, number in reasons.most_common():
        print(f"{number:4d} refused: {reason}")
    fixed = sum(1 for case in cases if case.fixed and not case.problem)
    others = ", ".join(f"{number} {kind}" for kind, number in sorted(count.items()) if kind != "passed")
    print(f"{count['passed']} passed ({fixed} with operands fixed), {len(cases) - count['passed']} failed: {others or 'none'}")
    return count["passed"]


def main():
    arguments = parse()
    if arguments.sanitize:
        os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=0") # Kokkos and OpenMP keep some memory to the end
    (arguments.work / "onnx").mkdir(parents=True, exist_ok=True)
    cases = list(load(arguments.data, arguments.filter))
    if arguments.refusals:
        return check_refusals([case for case in cases if case.excluded], arguments.work)
    cases = [case for case in cases if not case.excluded]
    if not arguments.all and not arguments.filter:
        cases = [case for at, case in enumerate(cases) if at % 10 == 0 or re.search(ALWAYS, case.name)]
    start = time.time()
    for step in run(cases, arguments):
        print(f"{step}: {time.time() - start:.0f} s", flush=True)
    passed = summary(cases)
    return passed < (arguments.at_least or len(cases))


if __name__ == "__main__":
    sys.exit(main())
