#!/usr/bin/env python3
"""Checks a translated model against a reference; see --help. Run it with build/venv/bin/python or after setup.sh."""

import os
import sys
from pathlib import Path

project = Path(__file__).resolve().parents[1]
python = project / "build/venv/bin/python"
if python.exists() and Path(sys.prefix) != project / "build/venv" and "ML2K_PYTHON" not in os.environ:
    os.execv(python, [str(python), *sys.argv])

sys.path.insert(0, str(project / "python"))
from ml2kokkos.verify.cli import main # noqa: E402

sys.exit(main())
