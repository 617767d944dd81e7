"""The search: candidates that change a number of every kernel at once, since kernels are timed one by one; the best is confirmed."""

import itertools
import math
import random
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from ..errors import Error
from .measuring import CALL, Contestant, TuneError, Wrong, compare

LEAST_GAIN = 0.03  # of a kernel's time that an entry has to save
EXHAUSTIVE = 24    # combinations of a kernel that are all tried


@dataclass
class Kernel:
    label: str
    shape_class: str
    choices: dict      # name to values beside that of the rule
    time: float = None # of the default
    best: dict = field(default_factory=dict)
    best_time: float = None
    ratios: dict = field(default_factory=dict) # of times: what one number alone did

    def combinations(self, seed):
        """Changes to try: of one number each, in turns, then of several, all of them where they are few, else a seeded choice."""
        turns = itertools.zip_longest(*([{name: value} for value in values] for name, values in self.choices.items()))
        singles = [change for turn in turns for change in turn if change]
        sets = itertools.product(*([0, *values] for values in self.choices.values()))
        several = [combination for values in sets
                   if len(combination := {name: value for name, value in zip(self.choices, values) if value}) > 1]
        if len(singles) + len(several) > EXHAUSTIVE:
            random.Random(f"{seed} {self.label}").shuffle(several)
        return singles + several

    def changes(self, seed):
        """The same, one by one: those of several numbers, once each was tried alone, in the order of what these promise together."""
        waiting = self.combinations(seed)
        singles = [change for change in waiting if len(change) == 1]
        yield from singles
        yield from sorted(waiting[len(singles):], key=lambda change: math.prod(self.ratios.get(item, 1.0) for item in change.items()))


@dataclass
class Record:
    """One line of the log."""

    choices: dict # by label
    problem: str = None
    times: dict = None
    default: dict = None


class Search:
    """`build(choices)` makes the module of a candidate, {label: {name: value}}; `contestant(module)` readies it for timing."""

    def __init__(self, kernels, build, contestant, judge, *, budget=120.0, most=1000, jobs=1, seed=0, seconds=0.5, tell=lambda text, share: None):
        self.kernels = {kernel.label: kernel for kernel in kernels if kernel.choices}
        self.build, self.contestant, self.judge = build, contestant, judge
        self.budget, self.most, self.jobs, self.seed, self.seconds, self.tell = budget, most, jobs, seed, seconds, tell
        self.log, self.noise = [], {}

    # --- The default ---

    def measure_default(self):
        """Printed with a struct for every kernel and no number in it: so a candidate differs by its numbers alone. Kernels that take
        no time of their own, in models that are not launched, are timed by the whole call."""
        module = self.build({label: {} for label in self.kernels})
        self.default = self.contestant(module)
        one, two = compare([self.default, self.contestant(module)], self.seconds)
        for name in (CALL, *self.kernels):
            if one.knows(name) and two.knows(name):
                spread = abs(one.least(name) - two.least(name)) / one.least(name)
                self.noise[name] = max(one.noise(name), two.noise(name), spread)
        for kernel in self.kernels.values():
            kernel.time = one.least(kernel.label) if one.knows(kernel.label) else None
        self.call_time = one.least(CALL)

    @staticmethod
    def timed_by(label, default, mine, choices):
        """Its own time where both have it; the call where nothing else changes; else nothing says what the kernel takes: without
        Serial, a kernel that is not launched is not seen."""
        if default.knows(label) and mine.knows(label):
            return label
        return CALL if len(choices) == 1 else None

    def is_better(self, name, time, default):
        return time < default * (1 - max(LEAST_GAIN, 2 * self.noise.get(name, 0.0)))

    # --- Candidates ---

    def candidates(self):
        """{label: choices}: those of all kernels that are timed by themselves together, those of the others one at a time."""
        own = {label: kernel.changes(self.seed) for label, kernel in self.kernels.items() if kernel.time is not None}
        while together := {label: change for label, changes in own.items() if (change := next(changes, None))}:
            yield together
        others = [kernel for kernel in self.kernels.values() if kernel.time is None]
        for kernel in others:
            for change in kernel.changes(self.seed):
                yield {kernel.label: change}

    def built(self, choices):
        try:
            return self.build(choices)
        except TuneError:
            raise
        except Error as error:
            return error

    def try_candidate(self, choices, module):
        """Takes what is better over; a candidate that is wrong counts for no kernel."""
        record = Record(choices)
        self.log.append(record)
        if isinstance(module, Error):
            lines = str(module).splitlines()
            record.problem = next((line for line in lines if "error" in line), lines[0])
            return
        try:
            self.judge.check(module.forward)
        except Wrong as wrong:
            record.problem = str(wrong)
            return
        default, mine = compare([self.default, self.contestant(module)], self.seconds)
        record.times, record.default = {}, {}
        for label, change in choices.items():
            name = self.timed_by(label, default, mine, choices)
            if name is None:
                continue
            found, own = mine.least(name), default.least(name)
            record.times[label], record.default[label] = found, own
            kernel = self.kernels[label]
            gain = found / own
            if len(change) == 1:
                kernel.ratios[next(iter(change.items()))] = gain
            if self.is_better(name, found, own) and (kernel.best_time is None or gain < kernel.best_time):
                kernel.best, kernel.best_time = change, gain

    def run(self):
        """{label: (choices, seconds, default seconds)} of what holds in a second measurement."""
        self.measure_default()
        begin = time.monotonic() # one candidate at least is tried, however long the default took to build
        waiting = itertools.islice(self.candidates(), self.most)
        with ThreadPoolExecutor(self.jobs) as pool:
            while time.monotonic() - begin < self.budget and (batch := list(itertools.islice(waiting, self.jobs))):
                for choices, module in zip(batch, list(pool.map(self.built, batch))): # nothing compiles while times are taken
                    self.try_candidate(choices, module)
                self.tell(f"{len(self.log)} candidates", min(1.0, (time.monotonic() - begin) / self.budget))
        return self.confirm()

    # --- The best ---

    def confirm(self):
        """Of all that was better, what still is, together with the others and in a new measurement."""
        chosen = {label: kernel.best for label, kernel in self.kernels.items() if kernel.best}
        while chosen:
            self.tell(f"confirming {len(chosen)} kernels", 1.0)
            module = self.build(chosen)
            self.judge.check(module.forward)
            plain = self.contestant(self.build({})) # as it is printed without a tune file
            default, mine, printed = compare([self.default, self.contestant(module), plain], 2 * self.seconds, 20)
            held = {}
            for label, choices in chosen.items():
                name = self.timed_by(label, default, mine, chosen)
                if name is not None and self.is_better(name, mine.least(name), default.least(name)):
                    held[label] = (choices, mine.least(name), default.least(name))
            whole, own = mine.least(CALL), printed.least(CALL)
            if len(held) == len(chosen):
                slower = whole > own * (1 + self.noise.get(CALL, 0.0))
                self.final = (own, whole)
                return {} if slower else held
            chosen = {label: choices for label, (choices, *_) in held.items()}
        self.final = (self.call_time, self.call_time)
        return {}
