"""The tune file, the log and the picture of a search."""

import json
import re
from pathlib import Path

FORMAT = 1


def family_of_machine(cpuinfo="/proc/cpuinfo"):
    """Of this processor, as the printed code asks its compiler: -march=native."""
    import platform

    if platform.machine() == "aarch64":
        return "neon"
    flags = set(re.search(r"^flags\s*: (.*)$", Path(cpuinfo).read_text(), re.MULTILINE)[1].split())
    return "avx512" if "avx512f" in flags else "avx2" if "avx2" in flags else None


def read(path):
    path = Path(path)
    if not path.is_file():
        return []
    data = json.loads(path.read_text())
    if data.get("ml2kokkos-tune") != FORMAT:
        raise ValueError(f"{path} is no tune file of this version")
    return data["entries"]


def entry_of(kernel, found, family, threads):
    choices, seconds, default = found
    return {"kernel": kernel.label, "class": kernel.shape_class, "family": family, "threads": threads, "choices": choices,
            "nanoseconds": round(seconds * 1e9), "default_nanoseconds": round(default * 1e9)}


def text_of(entries):
    """One line an entry, in a fixed order: a diff shows which ones changed."""
    ordered = sorted(entries, key=lambda entry: (entry["kernel"], entry["family"]))
    lines = ",\n".join("  " + json.dumps(entry) for entry in ordered)
    return f'{{"ml2kokkos-tune": {FORMAT},\n "entries": [\n{lines}\n ]}}\n' if ordered else f'{{"ml2kokkos-tune": {FORMAT}, "entries": []}}\n'


def merged(old, new, family, measured):
    """Entries of other families and of kernels that were not measured stay; of those that were, only the new ones do."""
    kept = [entry for entry in old if entry["family"] != family or entry["kernel"] not in measured]
    return kept + new


def log_text(search, family):
    records = [{"choices": record.choices, "problem": record.problem, "seconds": record.times, "default": record.default}
               for record in search.log]
    noise = {name or "call": value for name, value in search.noise.items()}
    return json.dumps({"family": family, "call": search.final, "noise": noise, "candidates": records}, indent=1) + "\n"


def draw(search, path):
    """Time of every candidate over that of the default, by kernel. False where there is no matplotlib."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        return False
    labels = list(search.kernels)
    figure, axes = pyplot.subplots(figsize=(8, 1 + 0.3 * len(labels)))
    for row, label in enumerate(labels):
        ratios = [record.times[label] / record.default[label] for record in search.log if record.times and label in record.times]
        axes.plot(ratios, [row] * len(ratios), ".")
    axes.axvline(1, linewidth=0.8)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_xlabel("time / default")
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)
    return True
