"""Two runs of verify.py in one folder take turns: neither writes under the other's hands."""

import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "python"
TURN = """
import sys, time
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from ml2kokkos.verify.build import only_user

folder = Path(sys.argv[2])
with only_user(folder / "runners"):
    (folder / "inside").mkdir() # fails while another one is there
    time.sleep(0.1)
    (folder / "inside").rmdir()
"""


def main():
    with tempfile.TemporaryDirectory() as folder:
        runs = [subprocess.Popen([sys.executable, "-c", TURN, str(PACKAGE), folder]) for _ in range(4)]
        assert [run.wait() for run in runs] == [0] * 4, "two runs were in one folder at once"


main()
