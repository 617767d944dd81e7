"""Runs the tool and says what it took."""

import os
import resource
import subprocess
from dataclasses import dataclass


@dataclass
class Cost:
    code: int
    seconds: float  # of the processor in user mode: other programs do not count
    megabytes: int
    message: str


def translate(tool, model, output, seconds, megabytes):
    """Translates under hard limits of processor time and memory."""

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    process = subprocess.Popen([tool, model, "-o", output], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               preexec_fn=limit)
    message = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    return Cost(os.waitstatus_to_exitcode(status), usage.ru_utime, usage.ru_maxrss >> 10, message[-300:])
