#!/usr/bin/env python3
"""Draws bench/speed.json as the picture of README.md, and writes its figures into the text there.

    bench/figure.py --results "one Zen 5 core, gcc 12" one.json two.json   # of bench/run.py --json: makes speed.json of them
    bench/figure.py                                                       # writes speed.svg and README.md's lines
    bench/figure.py --check                                               # exit code 1 if that would change anything
"""

import json
import sys
import textwrap
from html import escape
from pathlib import Path

BENCH = Path(__file__).resolve().parent
README = BENCH.parent / "README.md"
RESULTS, PICTURE = BENCH / "speed.json", BENCH / "speed.svg"
BEGIN, END = "<!-- speed: bench/figure.py -->", "<!-- /speed -->"

NAMES = {"resnet18": "ResNet18", "mobilenet_v2": "MobileNetV2", "mobilenet_v3_small": "MobileNetV3-small", "squeezenet1_1": "SqueezeNet 1.1",
         "unet_small": "U-Net", "bert_l2_h128": "BERT 2 x 128", "enc256": "encoder 4 x 256", "lstm_linear": "LSTM",
         "conv1d_net": "1-D convolutions", "mlp_256_1024_1024_10": "MLP 256-1024-1024-10", "mala_mlp": "MALA, batch 64"}

ROW, BAR, LEFT, SCALE = 34, 12, 170, 130
STYLE = """text { font: 13px sans-serif; fill: #57606a; }
.one { fill: #3b7dd8; } .two { fill: #e08a2c; } .line { stroke: #57606a; stroke-width: 1; }"""


def ratios(results):
    """Network to its ratios, {threads: ratio}, the fastest first."""
    found = {}
    for row in results:
        if row["peer"] == "onnxruntime" and row["case"] in NAMES:
            found.setdefault(row["case"], {})[row["threads"]] = row["ratio"]
    return dict(sorted(found.items(), key=lambda item: -item[1][1]))


def bar(x, y, ratio, kind):
    width = round(ratio * SCALE)
    return (f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{BAR}"/>'
            f'<text x="{x + width + 6}" y="{y + BAR - 1}">{ratio:.2f}</text>')


def draw(results, machine):
    networks = ratios(results)
    height = ROW * len(networks) + 92
    width = LEFT + round(SCALE * max(max(r.values()) for r in networks.values())) + 60
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img" '
             'aria-label="time of onnxruntime divided by ours">', f"<style>{STYLE}</style>",
             f'<rect class="one" x="{LEFT}" y="10" width="{BAR}" height="{BAR}"/><text x="{LEFT + 18}" y="21">one thread</text>',
             f'<rect class="two" x="{LEFT + 110}" y="10" width="{BAR}" height="{BAR}"/><text x="{LEFT + 128}" y="21">two threads</text>']
    for i, (name, of) in enumerate(networks.items()):
        y = 38 + ROW * i
        lines.append(f'<text x="{LEFT - 8}" y="{y + BAR + 4}" text-anchor="end">{escape(NAMES[name])}</text>')
        lines += [bar(LEFT, y + j * (BAR + 2), of[threads], kind) for j, (threads, kind) in enumerate([(1, "one"), (2, "two")]) if threads in of]
    bottom = 38 + ROW * len(networks)
    lines += [f'<line class="line" x1="{LEFT + SCALE}" y1="32" x2="{LEFT + SCALE}" y2="{bottom}"/>',
              f'<text x="{LEFT}" y="{bottom + 20}">time of onnxruntime / ours</text>',
              f'<text x="{LEFT}" y="{bottom + 38}">{escape(machine)}</text>', "</svg>", ""]
    return "\n".join(lines)


def sentence(results, machine):
    networks = ratios(results)
    one, two = ([of[n] for of in networks.values() if n in of] for n in (1, 2))
    text = (f"Times of onnxruntime divided by ours for {len(networks)} networks, {machine}: "
            f"{min(one):.1f} to {max(one):.1f} with one thread, {min(two):.1f} to {max(two):.1f} with two; every result agrees to "
            f"{max(row['max_error'] for row in results):.0e}. [docs/performance.md](docs/performance.md) says which rules give these, and "
            "where the printed code is slower.")
    return f"![time of onnxruntime divided by ours](bench/speed.svg)\n\n{textwrap.fill(text, 128, break_on_hyphens=False)}\n"


def keep(machine, paths):
    """Writes speed.json: the networks of several runs of bench/run.py."""
    rows = [row for path in paths for row in json.loads(Path(path).read_text())]
    kept = [{name: row[name] for name in ("case", "peer", "threads", "ours_ms", "peer_ms", "ratio", "max_error")}
            for row in rows if row["peer"] == "onnxruntime" and row["case"] in NAMES]
    RESULTS.write_text(json.dumps({"machine": machine, "results": kept}, indent=1) + "\n")


def main():
    if "--results" in sys.argv[1:]:
        keep(sys.argv[2], sys.argv[3:])
    measured = json.loads(RESULTS.read_text())
    text = README.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    wanted = {PICTURE: draw(measured["results"], measured["machine"]),
              README: f"{before}{BEGIN}\n{sentence(measured['results'], measured['machine'])}{END}{after}"}
    stale = [path for path, content in wanted.items() if not path.exists() or path.read_text() != content]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"{path.name} is not what bench/figure.py makes of speed.json", file=sys.stderr)
        return 1 if stale else 0
    for path in stale:
        path.write_text(wanted[path])
        print(f"wrote {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
