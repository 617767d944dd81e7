"""The blocks and whole networks on a GPU beside PyTorch with cuBLAS and cuDNN: values first, then captured graphs."""

import json
import subprocess
import sys
from pathlib import Path

import device_networks
from ml2kokkos.verify.translate import PROJECT, Failure

BUILD = PROJECT / "build/bench/device"


def run(command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"{command[0]} failed:\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def kokkos_for_cuda():
    return Path(run([PROJECT / "scripts/build_kokkos.sh", "--backend", "cuda"]).strip().splitlines()[-1])


def build(kokkos):
    """test/blocks/DeviceSpeed.cpp with Kokkos for CUDA."""
    run(["cmake", "-S", PROJECT / "test/blocks", "-B", BUILD, f"-DKokkos_ROOT={kokkos}",
         f"-DCMAKE_CXX_COMPILER={kokkos}/bin/nvcc_for_kokkos", f"-DCMAKE_CXX_FLAGS=-include {kokkos}/bin/cuda13.hpp"])
    run(["cmake", "--build", BUILD, "--target", "blocks_device_speed", "-j", "2"])
    return BUILD / "blocks_device_speed"


def rows_of(text):
    return {row["case"]: row for row in map(json.loads, text.splitlines())}


def measure_blocks(arguments, kokkos):
    """A result for every case with the peer's time; without PyTorch, ours alone."""
    ours = rows_of(run([build(kokkos), arguments.filter]))
    try:
        peers = rows_of(run([arguments.peer_python or sys.executable, PROJECT / "bench/device_peers.py", arguments.filter]))
    except Failure as failure:
        print(f"no peer: {failure}", file=sys.stderr)
        peers = {}
    results = []
    for name, row in ours.items():
        result = {"case": name, "threads": "gpu", "compiler": "nvcc", "peer": "torch", "ours_ms": row["ours_us"] / 1e3,
                  "max_error": row["max_error"], "same_bits": row["same_bits"]}
        peer = peers.get(name, {}).get("peer_us")
        results.append(result | ({"peer_ms": peer / 1e3, "ratio": peer / row["ours_us"]} if peer else {}))
    return results


def made_networks(folder):
    """Those of bench/networks.py as files."""
    import networks
    import onnx
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in networks.NETWORKS.items():
        if not (folder / f"{name}.onnx").exists():
            onnx.save(make(), folder / f"{name}.onnx")
    return folder


def prepare(arguments):
    """Printed networks in the folder --printed."""
    folders = [made_networks(BUILD / "models"), *arguments.models]
    paths = sorted(path for folder in folders for path in folder.rglob("*.onnx") if arguments.filter in path.stem)
    device_networks.prepare(paths, arguments.printed, arguments.options)


def measure(arguments):
    kokkos = kokkos_for_cuda()
    networks = device_networks.measure(arguments, arguments.printed, kokkos) if arguments.printed else []
    results = (networks if arguments.networks_only else measure_blocks(arguments, kokkos) + networks)
    for row in results:
        if not row["same_bits"]:
            print(f"{row['case']}: replays differ", file=sys.stderr)
    return results
