"""Cases: forward() of the printed code, or one kernel of it, beside its peers."""

import contextlib
import os
import statistics
import subprocess
import time

import numpy as np
import onnx

import networks
import science
from kernels import Case
from ml2kokkos.verify.build import build_runner, write_runner
from ml2kokkos.verify.exchange import bind_extents, run_all, write_arguments
from ml2kokkos.verify.reference import onnxruntime_session, seeded_inputs
from ml2kokkos.verify.translate import PROJECT, Failure, translate

RUNNERS = PROJECT / "build/bench"
PEAK_FLOPS = 10**8 # of the measurement of the machine's peak
ROUND = .02        # seconds that one of the two works before it is the other's turn
WRONG = .01        # relative to the largest element: no difference of roundings


def find(folders):
    """Every model in the folders; ResNet18 also without Winograd's method."""
    paths = sorted((path for folder in folders for path in folder.rglob("*.onnx")), key=lambda path: path.stem)
    cases = [Case(path.stem, path, naive=path.stem in ("resnet18", "mlp") or path.stem.startswith("mlp_")) for path in paths]
    return cases + [Case("resnet18_direct", case.path, options=["--winograd=off"]) for case in cases if case.name == "resnet18"]


def made(folder, text):
    """The networks of bench/networks.py for hosts and those of bench/science.py; edges go anywhere."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in {**{name: networks.NETWORKS[name] for name in networks.FOR_HOSTS}, **science.NETWORKS}.items():
        if text in name:
            onnx.save(make(), folder / f"{name}.onnx")
            yield Case(name, folder / f"{name}.onnx", integers=(0, science.INTEGERS.get(name, 2)))


class Served:
    """A program that waits for numbers of calls: that of a model or of a library's kernel."""

    def __init__(self, command, threads, **environment):
        count = str(threads)
        environment |= {"OMP_NUM_THREADS": count, "OPENBLAS_NUM_THREADS": count, "OMP_PROC_BIND": "false"}
        # Threads that wait for the next kernel may do so actively for tens of microseconds, not into the next one's turn
        environment |= {"GOMP_SPINCOUNT": "3000", "KMP_BLOCKTIME": "1", "OPENBLAS_THREAD_TIMEOUT": "18"}
        self.process = subprocess.Popen(list(map(str, command)), text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env=os.environ | environment)

    def __call__(self, calls):
        """Seconds per call: of the thread, on the clock."""
        try:
            print(calls, file=self.process.stdin, flush=True)
        except BrokenPipeError: # it has said why
            raise Failure(f"{' '.join(self.process.args[:3])} ended") from None
        line = self.process.stdout.readline()
        if not line:
            raise Failure(f"{' '.join(self.process.args[:3])} ended")
        return [float(word) for word in line.split()]

    def close(self):
        with contextlib.suppress(BrokenPipeError): # it may have ended
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


def calls_of_a_turn(run):
    """So many calls take about a ROUND."""
    once = run(1)[1]
    if once < ROUND:
        once = min(run(3)[1], run(3)[1])
    return max(1, int(ROUND / once))


def race(contestants, seconds, threads):
    """In turns; per contestant the times of a call. One that takes long has few turns."""
    clock = 0 if threads == 1 else 1
    calls = [calls_of_a_turn(run) for run in contestants]
    times = [[] for _ in contestants]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or any(len(taken) < 3 for taken in times):
        for run, count, taken in zip(contestants, calls, times):
            if len(taken) < 3 or count * sum(taken) < seconds:
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


class Built:
    """The printed code of a case: its values, then a program that waits for numbers of calls."""

    def __init__(self, case, arguments, suffix="", options=()):
        stem = "".join(c if c.isalnum() else "_" for c in case.name) + suffix
        self.kernel = case.kernel
        self.model = translate(case.path, RUNNERS / stem, stem, [*case.options, *arguments.options, *options])
        self.model.room = (case.room,) * len(self.model.sizes) if case.room else ()
        write_runner(self.model.folder, [self.model])
        self.program = build_runner(RUNNERS, stem, compiler=arguments.compiler)
        self.inputs = [np.ascontiguousarray(array) for array in seeded_inputs(self.model, 1, case.extents, case.integers)]

    def outputs(self):
        (results,), _ = run_all(self.program, [(self.model, self.inputs, 0, None)])
        if isinstance(results, Failure):
            raise results
        return [values for _, values in self.model.counted(results)]

    def serve(self, threads):
        model, files = self.model, self.model.folder / self.model.stem
        write_arguments(f"{files}.in", model, self.inputs, bind_extents(model, self.inputs))
        label = {"ML2K_KERNEL": f"{model.stem}::{self.kernel}"} if self.kernel else {}
        return Served([self.program, model.stem, model.weights, f"{files}.in", f"{files}.out", "-1"], threads, **label)


def measure(case, arguments):
    """A result for every peer of the case."""
    builds = {"ours": Built(case, arguments)}
    if case.naive and arguments.naive:
        builds["naive"] = Built(case, arguments, "_naive", ["--schedule=naive"])
    results = [built.outputs() for built in builds.values()]
    libraries = {peer[0]: peer for peer in case.peers if peer[0] != "onnxruntime"}
    if case.flops:
        libraries["peak"] = ("machine", "multiply_add", PEAK_FLOPS)
    program = build_peers() if libraries else None
    everywhere = os.sched_getaffinity(0)
    pin(arguments.threads)
    served = {}
    try:
        runtime = OnnxRuntime(case.reference or case.path, builds["ours"].inputs, arguments.threads)
        # Of one thread: several add up ScatterND's updates in a race, and lose some
        reference = runtime if arguments.threads == 1 else OnnxRuntime(case.reference or case.path, builds["ours"].inputs, 1)
        error = max(deviation(values, reference.outputs()) for values in results)
        if not error < WRONG:
            raise Failure(f"wrong values: error {error:.0e}")
        for name, built in builds.items():
            served[name] = built.serve(arguments.threads)
        for name, peer in libraries.items():
            served[name] = Served([program, *peer], arguments.threads)
        contestants = served if libraries else {**served, "onnxruntime": runtime}
        times = dict(zip(contestants, race(list(contestants.values()), arguments.seconds, arguments.threads)))
    finally:
        os.sched_setaffinity(0, everywhere)
        for one in served.values():
            one.close()
    results = [result_of(case, arguments, name, times, error) for name in times if name not in ("ours", "peak")]
    if "peak" in times:
        for result in results:
            result["share_of_peak"] = case.flops / min(times["ours"]) / (PEAK_FLOPS / min(times["peak"]))
    return results


def result_of(case, arguments, peer, times, error):
    mine, theirs = times["ours"], times[peer]
    return {"case": case.name, "threads": arguments.threads, "compiler": arguments.compiler or "default", "peer": peer,
            "ours_ms": min(mine) * 1e3, "peer_ms": min(theirs) * 1e3, "ratio": min(theirs) / min(mine),
            "ratio_median": statistics.median(theirs) / statistics.median(mine), "max_error": error,
            "load": os.getloadavg()[0]}
