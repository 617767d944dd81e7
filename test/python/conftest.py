"""Models are compiled once per session, two at a time, into a cache that later sessions find."""

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(PROJECT / "python"), str(Path(__file__).parent)]

import ml2kokkos # noqa: E402
import models as test_models # noqa: E402


@pytest.fixture(scope="session")
def work():
    folder = Path(os.environ.get("ML2K_TEST_WORK", PROJECT / "build/python-tests"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session", autouse=True)
def cache(work):
    """Of this build; what no session of the last day has asked for is removed."""
    folder = work / "cache"
    os.environ["ML2KOKKOS_CACHE"] = str(folder)
    for old in folder.glob("*/interface.json") if folder.is_dir() else ():
        if time.time() - old.stat().st_mtime > 86400:
            import shutil

            shutil.rmtree(old.parent)
    return folder


@pytest.fixture(scope="session")
def paths(work):
    return test_models.write(work / "models")


@pytest.fixture(scope="session")
def modules(paths, cache):
    with ThreadPoolExecutor(2) as pool:
        names = ["networks", *(name for name in paths if name != "networks")] # the longest first
        built = dict(zip(names, pool.map(lambda name: ml2kokkos.compile(paths[name]), names)))
    for module in built.values():
        os.utime(module.folder / "interface.json")
    return built


@pytest.fixture
def mlp(modules):
    return modules["mlp_batch"]


@pytest.fixture
def kinds(modules):
    return modules["kinds"]


@pytest.fixture
def axpy(modules):
    return modules["axpy"]


@pytest.fixture
def copies(monkeypatch):
    """How often a call had to copy an input."""
    from ml2kokkos.arrays import Face

    counted = []
    prepare = Face.prepare

    def counting(self, number, given):
        array = prepare(self, number, given)
        counted.append(number)
        return array

    monkeypatch.setattr(Face, "prepare", counting)
    return counted
