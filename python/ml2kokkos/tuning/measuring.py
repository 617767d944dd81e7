"""What a candidate computes and how long it takes: its values against f64, its time in turns with that of the default."""

import time

import numpy as np

from ..errors import Error

SEEDS = (0, 1)
WORST = 2.0 # times the error of the default that a candidate may have,
ULPS = 64   # and units in the last place of an f32 or f64 besides: Winograd's method takes a few dozen


class TuneError(Error):
    """The search cannot go on: no reference, or a clock that stands."""


class Wrong(Exception):
    """A candidate whose values are not those of the model."""


# --- Arguments --------------------------------------------------------------------------------------------------------

def drawn(argument, random, sizes, integers, values):
    """One input: normal floats, small integers, bits; numbers of the caller as `values` says, else 1."""
    dtype = np.dtype(argument.dtype)
    if not argument.is_view:
        return dtype.type(values.get(argument.name, 1)).item()
    shape = [extent if isinstance(extent, int) else sizes[extent] for extent in argument.shape]
    if dtype == np.bool_:
        return random.integers(0, 2, shape).astype(np.bool_)
    if np.issubdtype(dtype, np.integer):
        return random.integers(*integers, shape).astype(dtype)
    return np.asarray(random.standard_normal(shape)).astype(dtype)


class Arguments:
    """Those of one seed. Outputs are new for every run and hold nothing that could pass for a result."""

    def __init__(self, interface, seed, sizes, integers=(0, 8), values=None):
        random = np.random.default_rng(seed)
        missing = [name for name in interface.sizes if name not in sizes]
        if missing:
            raise TuneError(f"the size {missing[0]} is known at run time only: give --size {missing[0]}=N")
        self.interface, self.sizes = interface, dict(sizes)
        self.inputs = [drawn(argument, random, sizes, integers, values or {}) for argument in interface.inputs]

    @classmethod
    def doubled(cls, other, interface):
        """The same values for a program that computes in f64."""
        made = cls.__new__(cls)
        made.interface, made.sizes = interface, other.sizes
        made.inputs = [value if not argument.is_view else value.astype(argument.dtype) for argument, value in zip(interface.inputs, other.inputs)]
        return made

    def outputs(self):
        made = {}
        for argument in self.interface.outputs:
            if argument.is_updated:
                continue
            shape = [self.sizes[extent] if isinstance(extent, str) else extent for extent in argument.shape]
            dtype = np.dtype(argument.dtype)
            blank = np.nan if np.issubdtype(dtype, np.floating) else True if dtype == np.bool_ else np.iinfo(dtype).max
            made[argument.parameter] = np.full(shape, blank, dtype)
        return made

    def copied(self):
        return [np.array(value) if argument.is_updated else value for argument, value in zip(self.interface.inputs, self.inputs)]

    def run(self, forward):
        """The values of all outputs, by name."""
        inputs, outputs = self.copied(), self.outputs()
        forward(*inputs, **outputs)
        updated = {argument.name: value for argument, value in zip(self.interface.inputs, inputs) if argument.is_updated}
        return {**updated, **{argument.name: outputs[argument.parameter] for argument in self.interface.outputs if not argument.is_updated}}


# --- Values -----------------------------------------------------------------------------------------------------------

def error_of(values, reference):
    """The largest difference relative to the largest value of its output; infinite where one is NaN and the other is not."""
    worst = 0.0
    for name, expected in reference.items():
        found, expected = np.asarray(values[name], np.float64), np.asarray(expected, np.float64)
        if found.shape != expected.shape or not np.array_equal(np.isfinite(found), np.isfinite(expected)):
            return float("inf")
        known = np.isfinite(expected)
        if known.any():
            scale = max(float(np.abs(expected[known]).max()), 1e-30)
            worst = max(worst, float(np.abs(found[known] - expected[known]).max()) / scale)
    return worst


class Judge:
    """Refuses candidates whose values differ from those in f64 by more than the default's do."""

    def __init__(self, arguments, references, forward):
        self.arguments, self.references = arguments, references
        values = [each.run(forward) for each in arguments]
        self.errors = [error_of(value, reference) for value, reference in zip(values, references)]
        types = {array.dtype for value in values for array in value.values()}
        self.slack = ULPS * float(np.finfo(np.float64 if types == {np.dtype(np.float64)} else np.float32).eps)
        if not max(self.errors) < 1e-2:
            raise TuneError(f"the default itself differs from f64 by {max(self.errors):.1e}: nothing is measured")

    def check(self, forward):
        for each, reference, own in zip(self.arguments, self.references, self.errors):
            error = error_of(each.run(forward), reference)
            if not error <= WORST * own + self.slack:
                raise Wrong(f"differs from f64 by {error:.1e}, the default by {own:.1e}")
        return max(self.errors)


# --- Time -------------------------------------------------------------------------------------------------------------

class Contestant:
    """A built module with arguments of its own, as the clock sees it: seconds of a call, and of kernels by label."""

    def __init__(self, module, arguments, labels, clock=time.perf_counter):
        self.module, self.labels, self.clock = module, labels, clock
        self.inputs, self.outputs = arguments.copied(), arguments.outputs()

    def times(self):
        return {CALL: self.call(), **self.kernels()}

    def call(self):
        begin = self.clock()
        self.module.forward(*self.inputs, **self.outputs)
        seconds = self.clock() - begin
        if not 0 < seconds < float("inf"):
            raise TuneError("the clock does not advance during a call: nothing can be measured")
        return seconds

    def launches(self):
        """Of one call: what was launched, and how long it took."""
        native = self.module._native
        native.record()
        try:
            self.module.forward(*self.inputs, **self.outputs)
        finally:
            found = native.recorded()
        return [(name.split("::")[-1], seconds) for name, seconds in found]

    def kernels(self):
        """Of those launches that have one of the labels."""
        sums = {}
        for label, seconds in self.launches():
            if label in self.labels:
                sums[label] = sums.get(label, 0.0) + seconds
        return sums


class DeviceContestant(Contestant):
    """On a device: arguments lie in its memory, a kernel takes what is beyond a kernel without work, and a call what its kernels take,
    as a captured graph would replay them. What the host needs to call and to launch would hide it. All contestants have the same
    number taken off: one that is measured anew for each would decide between kernels of few microseconds."""

    LEAST = 1e-7          # seconds: what is shorter is noise
    launch = float("inf") # seconds of a kernel without work, the least that any contestant has seen

    def __init__(self, module, arguments, labels, clock=time.perf_counter):
        super().__init__(module, arguments, labels, clock)
        self.inputs = [module.to_device(value) if isinstance(value, np.ndarray) else value for value in self.inputs]
        self.outputs = {name: module.to_device(value) for name, value in self.outputs.items()}
        DeviceContestant.launch = min(DeviceContestant.launch, module._native.launch())

    def launches(self):
        return [(label, max(self.LEAST, seconds - self.launch)) for label, seconds in super().launches()]

    def times(self):
        launches = self.launches()
        if not launches:
            raise TuneError("a call launches nothing on the device: nothing can be measured")
        sums = {CALL: sum(seconds for _, seconds in launches)}
        for label, seconds in launches:
            if label in self.labels:
                sums[label] = sums.get(label, 0.0) + seconds
        return sums


class Times:
    """The least of many rounds, and how much that still changes: the difference between the least of odd and of even rounds."""

    def __init__(self):
        self.parts = [{}, {}]

    def add(self, round_number, seconds):
        part = self.parts[round_number % 2]
        for name, value in seconds.items():
            part[name] = min(value, part.get(name, value))

    def least(self, name):
        return min(part[name] for part in self.parts if name in part)

    def knows(self, name):
        return all(name in part for part in self.parts)

    def noise(self, name):
        first, second = (part[name] for part in self.parts)
        return abs(first - second) / min(first, second)


CALL = "" # beside the labels of kernels: the whole call


def compare(contestants, seconds, least_rounds=10):
    """Times of each, taken in turns."""
    times = [Times() for _ in contestants]
    end, rounds = time.perf_counter() + seconds, 0
    while rounds < least_rounds or time.perf_counter() < end:
        for contestant, own in zip(contestants, times):
            own.add(rounds, contestant.times())
        rounds += 1
    return times
