"""The program ml2kokkos: where it is, and how it is run."""

import functools
import hashlib
import os
import shutil
from pathlib import Path

from .errors import ToolNotFound, TranslationError
from .processes import run

# Options that decide where the tool writes, which is not the user's to say here
RESERVED = ("-o", "--output", "--emit", "--check", "--report", "--report-json", "--verify", "--dump-stages", "--kokkos")


def find_tool(given=None):
    """The tool: as given, $ML2KOKKOS, on the PATH, or of the checkout that this package lies in."""
    if given or os.environ.get("ML2KOKKOS"):
        path = Path(given or os.environ["ML2KOKKOS"])
        if not path.is_file():
            raise ToolNotFound(f"there is no tool {path}")
        return path.resolve()
    found = shutil.which("ml2kokkos")
    built = Path(__file__).resolve().parents[2] / "build/release/bin/ml2kokkos"
    if not found and not built.is_file():
        raise ToolNotFound("the program ml2kokkos is not on the PATH; build it and set ML2KOKKOS to where it lies")
    return Path(found or built).resolve()


@functools.lru_cache
def _hash_of(path, size, changed):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else \
            hashlib.sha256(file.read()).hexdigest()


def content_hash(path):
    """SHA-256 of a file, read again only when its size or time stamp has changed."""
    status = os.stat(path)
    return _hash_of(str(path), status.st_size, status.st_mtime_ns)


def check_options(options):
    for option in options:
        if option.split("=", 1)[0] in RESERVED or option.startswith("-o"):
            raise ValueError(f"the option {option} cannot be given here")
    return list(options)


def run_tool(tool, *arguments, progress=None):
    """Standard output of the tool; TranslationError with what it says otherwise."""
    done = run([tool, *arguments], progress)
    if done.code != 0:
        raise TranslationError(done.errors.strip() or f"{tool} ended with {done.code}", done.code)
    return done.output
