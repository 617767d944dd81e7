"""Many functions through upstream's own lowering at once: mlir-opt to LLVM, one shared library."""

import ctypes
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts"))
import upstream_run # noqa: E402
from upstream_run import Failed # noqa: E402


class Reference:
    """The functions of several programs; where one of them keeps all from being lowered, each is lowered alone."""

    def __init__(self, programs, folder):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.functions, self.failures = {}, {}
        self.add(programs)

    def add(self, programs):
        try:
            text = "".join(program.text for program in programs)
            library = upstream_run.Library(text, tempfile.mkdtemp(dir=self.folder))
            for program in programs:
                self.functions[program.name] = library.function(program.name)
        except Failed as failure:
            if len(programs) == 1:
                self.failures[programs[0].name] = str(failure)
                return
            half = len(programs) // 2
            self.add(programs[:half])
            self.add(programs[half:])

    def __call__(self, program, inputs, model):
        """The outputs in the order of the printed code's: memrefs that it writes, then results."""
        if program.name in self.failures:
            raise Failed(self.failures[program.name])
        function = self.functions[program.name]
        results = function(*inputs)
        updated = [function.updated[i] for i, argument in enumerate(model.arguments) if argument.is_updated]
        return (updated + results)[: len(model.outputs)] # a memref that is returned is one that was given
