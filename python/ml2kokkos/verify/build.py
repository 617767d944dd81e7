"""Writes and builds the program that runs generated models."""

import os
import subprocess
from pathlib import Path

from .translate import PROJECT, Failure

MAIN = """\
// Written by ml2kokkos.verify: runs {names}.
#include "runner.hpp"

{includes}
{functions}
int main(int argc, char **argv) {{ return ml2k_run::runModels({{{table}}}, argc, argv); }}
"""

FUNCTION = """\
static void run_{stem}(ml2k_run::Run &run) {{
  using namespace {namespace};
  ExecutionSpace const space = ml2k_run::ownInstance<ExecutionSpace>();
{setup}
  run.call(space, [&] {{ forward({call}); }});
{results}
}}
"""


def write_if_new(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def function_of(model):
    """The C++ function that runs one model."""
    setup = [f"  auto const a{i} = run.argument<{argument.type}>();" for i, argument in enumerate(model.arguments)]
    call = ["space"]
    if model.has_weights:
        path = "" if model.is_embedded else ", run.weights"
        setup.append(f"  Weights const weights = load_weights(space{path});")
        call.append("weights")
    if model.has_workspace:
        sizes = model.room or [f"int(a{argument})" if dim is None else f"int(run.extent({argument}, {dim}))"
                               for argument, dim in model.sizes]
        setup.append(f"  Workspace const workspace({', '.join(map(str, ['space', *sizes]))});")
        if model.room: # views of its memory do not lie where those that it was made for do
            setup.append("  ml2k_run::fillWithNan(workspace, 0);")
        call.append("workspace")
    call += [f"a{i}" for i in range(len(model.arguments))]
    results = "\n".join(f"  run.result({i}, a{i});" for i in range(len(model.arguments)))
    return FUNCTION.format(stem=model.stem, namespace=model.namespace, setup="\n".join(setup), call=", ".join(call),
                           results=results)


def write_runner(folder, models):
    """main.cpp beside the printed files of `models` (all in `folder`)."""
    text = MAIN.format(
        names=", ".join(model.stem for model in models),
        includes="\n".join(f'#include "{model.stem}.hpp"' for model in models) + "\n",
        functions="\n".join(function_of(model) for model in models),
        table=", ".join(f'{{"{model.stem}", run_{model.stem}}}' for model in models))
    write_if_new(Path(folder) / "main.cpp", text)
    kept = {f"{model.stem}.cpp" for model in models} | {"main.cpp"}
    for path in Path(folder).glob("*.cpp"):
        if path.name not in kept:
            path.unlink() # of an earlier run


def run_quietly(command, what, **options):
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        raise Failure(f"{what} failed:\n{done.stdout[-6000:]}")
    return done.stdout


def kokkos_root(backend):
    if backend == "serial":
        script = PROJECT / "scripts/kokkos-serial.sh"
        return run_quietly([script], "building Kokkos for the Serial back end").strip().splitlines()[-1]
    if os.environ.get("Kokkos_ROOT"):
        return os.environ["Kokkos_ROOT"]
    found = sorted((PROJECT / "build/venv/lib").glob("python*/site-packages/pygenten/lib64/cmake/Kokkos"))
    if not found:
        raise Failure("no Kokkos: set Kokkos_ROOT or run scripts/setup.sh")
    return str(found[0])


def configure_runners(runners, backend="openmp", compiler=None, flags=""):
    """The build folder for all programs below `runners`; `flags` come behind those of a fast build."""
    build = Path(runners) / ".build" / (Path(compiler).name if compiler else "default")
    command = ["cmake", "-G", "Ninja", "-S", Path(__file__).parent, "-B", build, f"-DML2K_RUNNERS={Path(runners).resolve()}",
               f"-DKokkos_ROOT={kokkos_root(backend)}", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache",
               f"-DML2K_RUNNER_FLAGS={';'.join(flags.split())}"]
    if compiler:
        command.append(f"-DCMAKE_CXX_COMPILER={compiler}")
    run_quietly(command, "configuring the program", env=ccache_environment())
    return build


def ccache_environment():
    return dict(os.environ, CCACHE_BASEDIR=str(PROJECT), CCACHE_SLOPPINESS="pch_defines,time_macros,"
                "include_file_mtime,include_file_ctime")


def build_runner(runners, name, backend="openmp", compiler=None):
    """Compiles runners/name/*.cpp; returns the program."""
    build = configure_runners(runners, backend, compiler)
    run_quietly(["ninja", "-C", build, *(["-j", os.environ["JOBS"]] if os.environ.get("JOBS") else []), name],
                "compiling the printed code", env=ccache_environment())
    return build / name
