"""The wheel: built without network, it holds all that a model needs and works from where it is unpacked."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from ml2kokkos.tool import find_tool

PACKAGE = Path(__file__).resolve().parents[2] / "python"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    pytest.importorskip("setuptools", reason="no setuptools to build the wheel with")
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source" # setuptools writes beside what it builds
    files = subprocess.run(["cp", "-r", PACKAGE, source])
    assert files.returncode == 0
    done = subprocess.run([sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", folder, source],
                          capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("ml2kokkos-*.whl"))


def test_contents(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {"ml2kokkos/native/CMakeLists.txt", "ml2kokkos/native/ml2kokkos_module.hpp", "ml2kokkos/compiler.py"} <= set(names)
    assert not [name for name in names if "verify" in name or "test" in name]


def test_metadata(wheel):
    archive = zipfile.ZipFile(wheel)
    text = archive.read(next(name for name in archive.namelist() if name.endswith("METADATA"))).decode()
    assert "License: Apache-2.0 WITH LLVM-exception" in text or "License-Expression: Apache-2.0 WITH LLVM-exception" in text
    assert "Requires-Dist: nanobind" in text and "torch" not in text


def test_from_the_wheel(wheel, mlp, paths, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path)
    code = f"import ml2kokkos; print(ml2kokkos.__file__); print(ml2kokkos.compile({str(paths['mlp_batch'])!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env=dict(os.environ, PYTHONPATH=str(tmp_path), ML2KOKKOS=str(find_tool())))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [str(tmp_path / "ml2kokkos/__init__.py"), repr(mlp)]
