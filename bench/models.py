"""Models: forward() of the printed code beside onnxruntime."""

import os
import statistics
import subprocess
import time

import numpy as np

from ml2kokkos.verify.build import build_runner, write_runner
from ml2kokkos.verify.exchange import bind_extents, run_all, write_arguments
from ml2kokkos.verify.reference import onnxruntime_session, seeded_inputs
from ml2kokkos.verify.translate import PROJECT, Failure, translate

RUNNERS = PROJECT / "build/bench"
TOLERANCE = 1e-4 # relative to the largest element of an output
ROUND = .02      # seconds that one of the two works before it is the other's turn


def find(folders):
    return sorted((path for folder in folders for path in folder.rglob("*.onnx")), key=lambda path: path.stem)


class Ours:
    """The program of one model, which waits for numbers of calls."""

    def __init__(self, program, model, threads):
        stem = str(model.folder / model.stem)
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_PROC_BIND="false")
        self.process = subprocess.Popen([program, model.stem, model.weights, f"{stem}.in", f"{stem}.out", "-1"], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)

    def __call__(self, calls):
        """Seconds per call: of the thread, on the clock."""
        print(calls, file=self.process.stdin, flush=True)
        return [float(word) for word in self.process.stdout.readline().split()]

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


def measure(path, arguments):
    stem = "".join(c if c.isalnum() else "_" for c in path.stem)
    model = translate(path, RUNNERS / stem, stem, arguments.options)
    write_runner(model.folder, [model])
    program = build_runner(RUNNERS, stem, compiler=arguments.compiler)
    inputs = [np.ascontiguousarray(array) for array in seeded_inputs(model, 1, {}, (0, 2))]
    (results,), _ = run_all(program, [(model, inputs, 0, None)])
    if isinstance(results, Failure):
        raise results
    write_arguments(f"{model.folder / model.stem}.in", model, inputs, bind_extents(model, inputs))
    everywhere = os.sched_getaffinity(0)
    pin(arguments.threads)
    try:
        peer = OnnxRuntime(path, inputs, arguments.threads)
        error = deviation(results, peer.outputs())
        ours = Ours(program, model, arguments.threads)
        mine, theirs = race([ours, peer], arguments.seconds, arguments.threads)
        ours.close()
    finally:
        os.sched_setaffinity(0, everywhere)
    median = statistics.median
    return {"case": stem, "threads": arguments.threads, "compiler": arguments.compiler or "default", "peer": "onnxruntime",
            "ours_ms": min(mine) * 1e3, "peer_ms": min(theirs) * 1e3, "ratio": min(theirs) / min(mine),
            "ratio_median": median(theirs) / median(mine), "max_error": error, "tolerance": TOLERANCE,
            "load": os.getloadavg()[0]}
