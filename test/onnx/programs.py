"""Many translated models in few programs: compiles each batch as one source file and runs it."""

import re
import subprocess
from pathlib import Path

from ml2kokkos.verify.build import configure_runners, function_of, write_if_new
from ml2kokkos.verify.exchange import bind_extents, run_all
from ml2kokkos.verify.translate import Failure

BATCH = 40

MAIN = """\
// Written by test/onnx: models in one source file.
#include "runner.hpp"

{includes}
{functions}
int main(int argc, char **argv) {{ return ml2k_run::runModels({{{table}}}, argc, argv); }}
"""


class Batch:
    def __init__(self, work, name, cases):
        self.name = name
        self.folder = work / self.name
        self.cases = cases

    def write(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        models = [case.translated for case in self.cases]
        text = MAIN.format(includes="\n".join(f'#include "../models/{model.stem}.cpp"' for model in models) + "\n",
                           functions="\n".join(map(function_of, models)),
                           table=", ".join(f'{{"{model.stem}", run_{model.stem}}}' for model in models))
        write_if_new(self.folder / "main.cpp", text)

    def drop_failed(self, log):
        """Takes out the cases that the compiler complains about; False if it names none."""
        broken = {}
        for line in log.splitlines():
            if found := re.search(r"models/(\w+)\.[ch]pp:\d+:\d+: (?:fatal )?error: (.*)", line):
                broken.setdefault(found[1], found[2])
        for name in re.findall(r"models/(\w+)\.[ch]pp:\d+:\d+:   required from", log):
            broken.setdefault(name, "an error in a header that it includes")
        if not broken:
            broken = self.interfaces(log)
        for case in self.cases:
            if case.stem in broken:
                case.problem = ("does not compile", broken[case.stem])
        kept = [case for case in self.cases if case.stem not in broken]
        done = len(kept) < len(self.cases)
        self.cases = kept
        return done

    def interfaces(self, log):
        """Cases whose own parameters cannot be made: the error is in the function that runs them."""
        lines = (self.folder / "main.cpp").read_text().splitlines()
        broken = {}
        for number in re.findall(rf"{self.name}/main\.cpp:(\d+):\d+:   required from here", log):
            names = re.findall(r"static void run_(\w+)\(", "\n".join(lines[:int(number)]))
            broken.update({name: "a type of its interface does not compile" for name in names[-1:]})
        return broken

    def run(self, build):
        """Results by case; a model that ends the program is left out of the next attempt."""
        waiting = []
        for case in self.cases:
            try:
                bind_extents(case.translated, list(case.inputs.values()))
                waiting.append(case)
            except Failure as failure: # the test's data are not of the shapes that its model declares
                yield case, failure
        while waiting:
            results, said = run_all(build / self.name, [(case.translated, list(case.inputs.values()), 0, None)
                                                        for case in waiting])
            crashed = next((i for i, result in enumerate(results)
                            if isinstance(result, Failure) and "the program ended with -" in str(result)), None)
            yield from zip(waiting[:crashed], results[:crashed])
            if crashed is None:
                return
            yield waiting[crashed], Failure(said.strip().splitlines()[-1] if said.strip() else "the program crashed")
            waiting = waiting[crashed + 1:]


def compile_batches(work, batches, flags, jobs):
    """Ninja goes on after a failure; what does not compile is taken out and the rest tried again."""
    build = configure_runners(work, flags=flags)
    left = batches
    while left:
        for batch in left:
            batch.write()
        done = subprocess.run(["ninja", "-k", "0", "-j", str(jobs), "-C", build, *(batch.name for batch in left)],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode == 0:
            return build
        failed = set(re.findall(r"^FAILED: (?:CMakeFiles/)?(\w+)", done.stdout, re.MULTILINE))
        left = [batch for batch in left if batch.name in failed]
        if not left or not all(batch.drop_failed(done.stdout) for batch in left):
            raise Failure(f"compiling the printed code failed:\n{done.stdout[-6000:]}")
    return build
