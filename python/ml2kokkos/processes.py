"""Child processes that end with their parent's call, and what a terminal shows meanwhile."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass


@dataclass
class Done:
    code: int
    output: str
    errors: str


class Progress:
    """One line on a terminal: what is being done, and for how long. Elsewhere nothing."""

    def __init__(self, shown=None, stream=None):
        self.stream = stream or sys.stderr
        self.shown = self.stream is not None and self.stream.isatty() if shown is None else shown
        self.text, self.start, self.last = "", time.monotonic(), ""

    def step(self, text):
        self.text, self.start = text, time.monotonic()
        self.tick()

    def tick(self):
        line = f"ml2kokkos: {self.text} ({time.monotonic() - self.start:.0f} s)"
        if self.shown and line != self.last:
            self.stream.write("\r\033[K" + line)
            self.stream.flush()
            self.last = line

    def close(self):
        if self.shown and self.last:
            self.stream.write("\r\033[K")
            self.stream.flush()
        self.last = ""


def _signal(process, number):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def _end(process):
    """The whole group: ninja and its compilers, too, also those that do not end with their parent."""
    _signal(process, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(2)
    _signal(process, signal.SIGKILL)
    process.wait()


@contextlib.contextmanager
def _held_back(number):
    """A signal that arrives meanwhile is handled afterwards. Not a mask: the library's other threads would take it."""
    before, arrived = signal.getsignal(number), []
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield # Python handles signals in the main thread only
        return
    signal.signal(number, lambda *_: arrived.append(True))
    try:
        yield
    finally:
        signal.signal(number, before)
        if arrived:
            signal.raise_signal(number)


def run(command, progress=None, **options):
    """Runs to the end, or ends the child with everything that it started when an exception arrives, Ctrl-C for one."""
    with tempfile.TemporaryFile("w+", errors="replace") as output, tempfile.TemporaryFile("w+", errors="replace") as errors:
        process = None
        try:
            with _held_back(signal.SIGINT): # between the start of the child and knowing it, nobody would end it
                process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=output, stderr=errors,
                                           start_new_session=True, **options)
            pause = 0.002
            while process.poll() is None:
                time.sleep(pause)
                pause = min(2 * pause, 0.1)
                if progress:
                    progress.tick()
        except BaseException:
            if process:
                _end(process)
            raise
        output.seek(0)
        errors.seek(0)
        return Done(process.returncode, output.read(), errors.read())
