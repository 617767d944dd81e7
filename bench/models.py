"""Cases: forward() of the printed code, or one kernel of it, beside its peers."""

import os
import statistics
import subprocess
import time

import numpy as np

from kernels import Case
from ml2kokkos.verify.build import build_runner, write_runner
from ml2kokkos.verify.exchange import bind_extents, run_all, write_arguments
from ml2kokkos.verify.reference import onnxruntime_session, seeded_inputs
from ml2kokkos.verify.translate import PROJECT, Failure, translate

RUNNERS = PROJECT / "build/bench"
TOLERANCE = 1e-4 # relative to the largest element of an output
ROUND = .02      # seconds that one of the two works before it is the other's turn


def find(folders):
    paths = sorted((path for folder in folders for path in folder.rglob("*.onnx")), key=lambda path: path.stem)
    return [Case(path.stem, path) for path in paths]


class Served:
    """A program that waits for numbers of calls: that of a model or of a library's kernel."""

    def __init__(self, command, threads, **environment):
        count = str(threads)
        environment |= {"OMP_NUM_THREADS": count, "OPENBLAS_NUM_THREADS": count, "OMP_PROC_BIND": "false"}
        self.process = subprocess.Popen(list(map(str, command)), text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env=os.environ | environment)

    def __call__(self, calls):
        """Seconds per call: of the thread, on the clock."""
        print(calls, file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise Failure(f"{self.process.args[0]} ended")
        return [float(word) for word in line.split()]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class OnnxRuntime:
    def __init__(self, path, inputs, threads):
        self.session = onnxruntime_session(path, threads)
        self.binding = self.session.io_binding() # no copies of inputs and outputs in the timed loop
        for value, array in zip(self.session.get_inputs(), inputs):
            self.binding.bind_cpu_input(value.name, array)
        for value in self.session.get_outputs():
            self.binding.bind_output(value.name)

    def __call__(self, calls):
        start, begin = time.perf_counter(), time.thread_time()
        for _ in range(calls):
            self.session.run_with_iobinding(self.binding)
        return (time.thread_time() - begin) / calls, (time.perf_counter() - start) / calls

    def outputs(self):
        self(1)
        return self.binding.copy_outputs_to_cpu()


def deviation(results, references):
    return max(float(np.max(np.abs(a.astype(np.float64) - b))) / max(float(np.max(np.abs(b))), 1e-30)
               for a, b in zip(results, references, strict=True) if a.size)


def race(contestants, seconds, threads):
    """In turns; per contestant the times of a call."""
    clock = 0 if threads == 1 else 1
    calls = [max(1, int(ROUND / min(run(3)[1], run(3)[1]))) for run in contestants]
    times = [[] for _ in contestants]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[0]) < 3:
        for run, count, taken in zip(contestants, calls, times):
            taken.append(run(count)[clock])
    return times


def pin(threads):
    """Both contestants share the last cores that this process may use."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])


def build_peers():
    """The libraries' program; needs the packages named in bench/peers/CMakeLists.txt."""
    folder = RUNNERS / "peers"
    for command in (["cmake", "-S", PROJECT / "bench/peers", "-B", folder, "-G", "Ninja"], ["ninja", "-C", folder]):
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if done.returncode:
            raise Failure(f"the libraries cannot be built, see bench/peers/CMakeLists.txt:\n{done.stdout}{done.stderr}")
    return folder / "peers"


def measure(case, arguments):
    """A result for every peer of the case."""
    stem = "".join(c if c.isalnum() else "_" for c in case.name)
    model = translate(case.path, RUNNERS / stem, stem, [*case.options, *arguments.options])
    write_runner(model.folder, [model])
    program = build_runner(RUNNERS, stem, compiler=arguments.compiler)
    inputs = [np.ascontiguousarray(array) for array in seeded_inputs(model, 1, {}, (0, 2))]
    (results,), _ = run_all(program, [(model, inputs, 0, None)])
    if isinstance(results, Failure):
        raise results
    write_arguments(f"{model.folder / model.stem}.in", model, inputs, bind_extents(model, inputs))
    everywhere = os.sched_getaffinity(0)
    files = [f"{model.folder / model.stem}.in", f"{model.folder / model.stem}.out"]
    label = {"ML2K_KERNEL": f"{model.stem}::{case.kernel}"} if case.kernel else {}
    library = None if case.peers == [("onnxruntime",)] else build_peers()
    pin(arguments.threads)
    served = []
    try:
        runtime = OnnxRuntime(case.path, inputs, arguments.threads)
        error = deviation(results, runtime.outputs())
        served.append(Served([program, model.stem, model.weights, *files, "-1"], arguments.threads, **label))
        served += [Served([library, *peer], arguments.threads) for peer in case.peers if library]
        mine, *others = race(served if library else [*served, runtime], arguments.seconds, arguments.threads)
    finally:
        os.sched_setaffinity(0, everywhere)
        for program in served:
            program.close()
    median = statistics.median
    return [{"case": stem, "threads": arguments.threads, "compiler": arguments.compiler or "default", "peer": peer[0],
             "ours_ms": min(mine) * 1e3, "peer_ms": min(theirs) * 1e3, "ratio": min(theirs) / min(mine),
             "ratio_median": median(theirs) / median(mine), "max_error": error, "tolerance": TOLERANCE,
             "load": os.getloadavg()[0]} for peer, theirs in zip(case.peers, others)]
