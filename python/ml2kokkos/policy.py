"""A model in another process, asked over two pipes: the other side of a program that `ml2kokkos --form=server` printed.

    with Policy("build/unroll_server", "unroll.spec.json") as policy:
        factor = policy(loop=counts)

The protocol is that of LLVM's interactive model runner: a training loop that speaks it to a compiler can speak it to this program."""

import json
import os
import subprocess
import tempfile
import time

import numpy as np

from .errors import Error

_KINDS = {"float": np.float32, "double": np.float64}
_KINDS.update({f"{sign}int{bits}_t": np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)})


def _kind(spec):
    if spec["type"] not in _KINDS:
        raise Error(f"'{spec['name']}' has elements of type {spec['type']}, which the protocol does not have")
    return np.dtype(_KINDS[spec["type"]])


class Policy:
    """`server`: the program; `specs`: FILE.spec.json, its path or what it holds; `result`: the name of the one that calls return, where the
    model has several. One query at a time; any number of policies at once, a process each."""

    def __init__(self, server, specs, result=None):
        self._process, self._from, self._to, self._asked = None, None, None, 0
        if not isinstance(specs, dict):
            with open(specs, encoding="utf-8") as file:
                specs = json.load(file)
        self.features = specs["features"]
        results = [spec for spec in specs["results"] if result in (None, spec["name"])]
        if len(results) != 1:
            raise Error(f"result={result!r}: the model has " + ", ".join(spec["name"] for spec in specs["results"]))
        self.result = results[0]
        self._kinds = [_kind(spec) for spec in (*self.features, self.result)]
        self._folder = tempfile.TemporaryDirectory(prefix="ml2kokkos-policy-")
        try:
            self._connect(server)
        except BaseException:
            self.close()
            raise

    def _connect(self, server):
        base = os.path.join(self._folder.name, "pipe")
        for end in (".in", ".out"):
            os.mkfifo(base + end)
        self._from = os.open(base + ".in", os.O_RDONLY | os.O_NONBLOCK)  # waits for nobody
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen([server, base], stderr=self._errors)
        while self._to is None:
            try:
                self._to = os.open(base + ".out", os.O_WRONLY | os.O_NONBLOCK)
            except OSError:  # not opened by the server yet
                self._require_alive()
                time.sleep(0.001)
        for pipe in (self._from, self._to):
            os.set_blocking(pipe, True)
        self._send(json.dumps({"features": self.features, "advice": self.result}).encode() + b"\n")

    def _require_alive(self):
        if self._process.poll() is None:
            return
        self._errors.seek(0)
        raise Error(f"the server ended with code {self._process.returncode}: {self._errors.read().decode(errors='replace').strip()}")

    def _send(self, data):
        try:
            while data:
                data = data[os.write(self._to, data):]
        except BrokenPipeError:
            self._process.wait()
            self._require_alive()

    def _receive(self, count):
        parts = []
        while count > 0:
            part = os.read(self._from, count)
            if not part:
                self._process.wait()
                self._require_alive()
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def __call__(self, **values):
        """The result for these features, as an array, or as a number where it is one."""
        unknown = set(values) - {spec["name"] for spec in self.features}
        if unknown:
            raise Error(f"the model has no feature {sorted(unknown)[0]!r}")
        data = [json.dumps({"observation": self._asked}).encode() + b"\n"]
        for spec, kind in zip(self.features, self._kinds):
            if spec["name"] not in values:
                raise Error(f"the feature {spec['name']!r} is missing")
            array = np.asarray(values[spec["name"]])
            if array.size != np.prod(spec["shape"]) or not np.can_cast(array.dtype, kind, "same_kind"):
                raise Error(f"'{spec['name']}' is {spec['type']} x {np.prod(spec['shape'])}, not {array.dtype} x {array.size}")
            data.append(array.astype(kind).tobytes())
        self._asked += 1
        self._send(b"".join([*data, b"\n"]))
        kind, count = self._kinds[-1], int(np.prod(self.result["shape"]))
        result = np.frombuffer(self._receive(count * kind.itemsize), kind)
        return result[0] if count == 1 else result.reshape(self.result["shape"])

    def close(self):
        """Ends the server."""
        for pipe in (self._to, self._from):
            if pipe is not None:
                os.close(pipe)
        self._to = self._from = None
        if self._process is not None:
            self._process.wait()
            self._process = None
            self._errors.close()
        self._folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
