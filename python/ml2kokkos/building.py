"""Builds a printed model as a Python module with CMake; what the result depends on."""

import functools
import importlib.util
import os
import platform
import shutil
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from .errors import BuildError, ToolNotFound
from .processes import run
from .tool import content_hash

NATIVE = Path(__file__).parent / "native"


def find_kokkos(given=None):
    """The folder with KokkosConfig.cmake: as given, $Kokkos_ROOT, or of the wheel pygenten."""
    root = given or os.environ.get("Kokkos_ROOT") or os.environ.get("KOKKOS_ROOT")
    if not root:
        wheel = importlib.util.find_spec("pygenten")
        root = wheel and Path(wheel.submodule_search_locations[0])
    if not root:
        raise ToolNotFound("no Kokkos: set Kokkos_ROOT to an installation, or pip install pygenten==0.1.5")
    places = ("", "lib/cmake/Kokkos", "lib64/cmake/Kokkos", "share/cmake/Kokkos", "cmake/Kokkos")
    for folder in (Path(root).expanduser() / place for place in places):
        if (folder / "KokkosConfig.cmake").is_file():
            return folder.resolve()
    raise ToolNotFound(f"no KokkosConfig.cmake below {root}")


def find_compiler(given=None):
    name = given or os.environ.get("CXX") or "c++"
    found = shutil.which(name)
    if not found:
        raise ToolNotFound(f"there is no C++ compiler {name}")
    return Path(found)


@functools.lru_cache
def _version(compiler, changed):
    return run([compiler, "--version"]).output


def _processor():
    """What -march=native looks at: caches in shared homes serve machines of several kinds."""
    try:
        lines = Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines()
    except OSError:
        return platform.processor()
    return "\n".join(line for line in lines if line.split("\t")[0] in ("flags", "Features", "CPU part"))


def _kokkos_identity(folder):
    libraries = sorted(folder.parents[1].glob("libkokkoscore*"))
    configuration = sorted(folder.glob("*.cmake"))
    return [str(folder), *(content_hash(path) for path in [*configuration, *libraries])]


def identity(compiler, kokkos, flags):
    """Everything but the model and the tool that the built module depends on, as texts."""
    import nanobind
    import numpy

    own = [content_hash(path) for path in sorted([*Path(__file__).parent.glob("*.py"), *NATIVE.iterdir()])]
    return [os.environ.get("CXXFLAGS", ""), str(compiler), _version(str(compiler), os.stat(compiler).st_mtime_ns), _processor(), *_kokkos_identity(kokkos), *flags,
            nanobind.__version__, numpy.__version__.split(".")[0], EXTENSION_SUFFIXES[0], sys.base_prefix, *own]


def _requirements():
    for program in ("cmake",):
        if not shutil.which(program):
            raise ToolNotFound(f"{program} is not on the PATH; it builds the printed code")


def build(folder, module, compiler, kokkos, flags, progress, links=()):
    """folder/module.so from folder/ml2kokkos_binding.cpp and the printed files there."""
    import nanobind
    import numpy

    _requirements()
    made = folder / "build"
    configure = ["cmake", "-S", NATIVE, "-B", made, f"-DML2KOKKOS_SOURCE={folder}", f"-DML2KOKKOS_MODULE={module}",
                 f"-DML2KOKKOS_FLAGS={';'.join(flags)}", f"-DML2KOKKOS_LINKED={';'.join(map(str, links))}", f"-DKokkos_DIR={kokkos}",
                 f"-Dnanobind_DIR={nanobind.cmake_dir()}",
                 f"-DML2KOKKOS_NUMPY={numpy.get_include()}", f"-DPython_EXECUTABLE={sys.executable}", f"-DCMAKE_CXX_COMPILER={compiler}"]
    if shutil.which("ninja"):
        configure += ["-G", "Ninja"]
    if shutil.which("ccache"):
        configure.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    jobs = os.environ.get("JOBS")
    log = ""
    for command in (configure, ["cmake", "--build", made, "--parallel", *([jobs] if jobs else [])]):
        done = run(command, progress)
        log += done.output + done.errors
        if done.code != 0:
            raise BuildError(f"building {module} failed:\n{(done.output + done.errors)[-6000:]}", log)
    (folder / "build.log").write_text(log)
    shutil.rmtree(made)
