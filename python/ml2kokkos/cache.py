"""Folders by content hash, each made once: a folder appears complete, or not at all."""

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path


def cache_root(given=None):
    """$ML2KOKKOS_CACHE, or ml2kokkos in the user's cache folder."""
    if given or os.environ.get("ML2KOKKOS_CACHE"):
        return Path(given or os.environ["ML2KOKKOS_CACHE"]).expanduser().absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ml2kokkos"


@contextlib.contextmanager
def locked(path, waiting=None):
    """Holds the lock of a file, which the system gives back if the process dies. `waiting()` is called while another has it."""
    with open(path, "w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                waiting()
        yield


def made_once(root, key, make, waiting):
    """The folder root/key; `make(folder)` fills it if it is not there. Of several processes one makes it, the others wait."""
    folder = Path(root) / key
    if folder.is_dir():
        return folder
    Path(root).mkdir(parents=True, exist_ok=True)
    with locked(Path(root) / f".{key}.lock", waiting):
        if folder.is_dir():
            return folder
        for left in Path(root).glob(f".{key}.making-*"): # by a process that was killed: it held this lock
            shutil.rmtree(left, ignore_errors=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{key}.making-", dir=root))
        try:
            make(staging)
            os.chmod(staging, 0o777 & ~_umask())
            os.rename(staging, folder)
        except BaseException:
            shutil.rmtree(staging, ignore_errors=True)
            raise
    return folder


def _umask():
    value = os.umask(0)
    os.umask(value)
    return value
