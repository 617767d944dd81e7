#!/usr/bin/env python3
"""No byte of a model becomes code, a path, an escape of a terminal or misleading text.

  hostile.py names|files|messages --clang CLANG --kokkos DIR --work DIR [--seeds N] [--first N]

names:    every name of a model is replaced by hostile bytes. The printed files must be those of the plain names, token by token as
          clang's lexer sees them, but for the model's own identifiers, the contents of literals, and comments; a compiler takes them.
files:    the same for the names of the files that go in and come out.
messages: refusals, --report, --check and --emit=json that quote such names."""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import models
from bait import BAIT, Names

TOOL = os.environ.get("ML2KOKKOS", "ml2kokkos")
ESCAPE = re.compile(r"<U\+[0-9A-F]{4,6}>|<[0-9A-F]{2}>")
VISIBLE = ((0x20, 0x7E), (0xA1, 0xAC), (0xAE, 0x2AF), (0x384, 0x3FF), (0x400, 0x482), (0x48A, 0x52F), (0x2010, 0x2027), (0x2190, 0x22FF),
           (0x3041, 0x3096), (0x30A1, 0x30FC), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3))
OBEYED = re.compile(r"clang-format (on|off)|NOLINT|IWYU|LCOV_|GCOV|-\*-|(^|\s)(vim?|ex):|Local Variables|@formatter|\\$|\?\?|/\*|\*/", re.I)


class Wrong(Exception):
    pass


def is_visible(character):
    return any(first <= ord(character) <= last for first, last in VISIBLE)


def check_text(data, what):
    """Nothing but visible characters and newlines."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Wrong(f"{what}: {error}") from None
    for number, line in enumerate(text.split("\n"), 1):
        for character in line:
            if not is_visible(character):
                raise Wrong(f"{what}:{number}: U+{ord(character):04X} in {line[:200]!r}")
    return text


def run(*command, cwd=None, data=b""):
    done = subprocess.run([TOOL, *command], cwd=cwd, input=data, capture_output=True, timeout=120)
    check_text(done.stderr, "stderr")
    if done.returncode not in (0, 1, 2, 3, 4):
        raise Wrong(f"exit code {done.returncode}: {done.stderr.decode()}")
    return done


#===--- Tokens -------------------------------------------------------------------------------------------------------===#


def tokens(clang, paths):
    """(kind, spelling) of every token, comments apart; the contents of literals are not compared, nor in how many parts a
    formatter wrote them."""
    path = paths[0]
    link = path.parent / "lexed.cpp" # in messages of the lexer a name of ours
    link.write_bytes(b"".join(each.read_bytes() for each in paths))
    said = subprocess.run([clang, "-std=c++20", "-fsyntax-only", "-Xclang", "-dump-raw-tokens", link], capture_output=True)
    if said.returncode != 0:
        raise Wrong(f"{path}: the lexer refuses it")
    found = re.findall(r"^(\w+) '(.*?)'\t[^\n]*?Loc=<[^\n]*>$", said.stderr.decode(errors="replace"), re.M | re.S)
    found = [each for each in found if each[0] not in ("unknown", "eof")]
    found = [(kind, text) for (kind, text), (before, _) in zip(found, [("", ""), *found]) if not kind == before == "string_literal"]
    kept = [(kind, "" if kind == "string_literal" else text) for kind, text in found if kind != "comment"]
    words = [text for _, text in kept]
    for at in range(len(kept) - 4):
        if words[at:at + 4] == ["file", ".", "check", "("]: # size and hash of a header that has the names in it
            kept[at + 4:at + 7:2] = [("numeric_constant", "")] * 2
    if len(kept) < 100:
        raise Wrong(f"{path}: only {len(kept)} tokens")
    comments = [text for kind, text in found if kind == "comment"]
    return kept, comments


def pair(path):
    return [path.with_suffix(kind) for kind in (".hpp", ".cpp")]


def compare(clang, plain, hostile):
    """The same tokens, where a name of the model may be another one, but none that means something else."""
    (expected, _), (seen, comments) = tokens(clang, plain), tokens(clang, hostile)
    for path in hostile:
        check_text(path.read_bytes(), path)
    renamed = {}
    for at, (want, have) in enumerate(zip(expected, seen)):
        if want == have:
            continue
        is_name = want[0] == have[0] == "raw_identifier" and "plain" in want[1].lower()
        if not is_name:
            context = " ".join(text for _, text in seen[max(0, at - 12):at + 12])
            raise Wrong(f"{hostile[-1]}: token {at} is {have}, not {want}: {context}")
        renamed.setdefault(want[1], set()).add(have[1])
    if len(expected) != len(seen):
        raise Wrong(f"{hostile[-1]}: {len(seen)} tokens, not {len(expected)}")
    fixed = {text for kind, text in expected if kind == "raw_identifier"} | {"system", "abort", "exit", "asm", "define"}
    if taken := fixed & {other for others in renamed.values() for other in others}:
        raise Wrong(f"{hostile[-1]}: names of the model are {sorted(taken)}, which mean something else")
    # Long lines at the top stand in a pair of our own
    if comments[1:2] == ["// clang-format off"] and "// clang-format on" in comments[2:12]:
        comments = [comments[0], *comments[2:]]
        comments.remove("// clang-format on")
    for comment in comments:
        text = comment.replace("DO NOT EDIT", "")
        if re.fullmatch(r"/\*\w+\*/", text): # a parameter without a use
            continue
        if not text.startswith("//") or OBEYED.search(text[2:]):
            raise Wrong(f"{hostile[-1]}: comment {comment!r}")


#===--- Compilers ----------------------------------------------------------------------------------------------------===#

def headers_of(kokkos):
    for folder in [Path(kokkos), *Path(kokkos).parents]:
        for place in ("include", "include/kokkos", "."):
            if (folder / place / "Kokkos_Core.hpp").exists():
                return folder / place
    sys.exit(f"no Kokkos_Core.hpp near {kokkos}")


def compile_all(arguments, sources):
    """All files in one go, as C++17, with every warning about comments and directions of text."""
    whole = arguments.work / "all.cpp"
    whole.write_text("".join(f'#include "{source}"\n' for source in sources))
    flags = ["-std=c++17", "-fopenmp", "-fsyntax-only", "-Wall", "-Wextra", "-Wcomment", "-Wno-unknown-pragmas", "-Werror",
             "-trigraphs", "-isystem", headers_of(arguments.kokkos), whole]
    for compiler in ([arguments.clang], ["g++", "-Wbidi-chars=any"]):
        done = subprocess.run([*compiler, *flags], capture_output=True, text=True, errors="backslashreplace")
        if done.returncode != 0:
            raise Wrong(f"{compiler[0]}: {done.stderr[:3000]}")


#===--- Models -------------------------------------------------------------------------------------------------------===#

def plain_and_hostile(name, seed, bait=None):
    """The model's file with plain and with hostile names."""
    n = Names(seed, bait)
    if name in models.ONNX:
        data = models.ONNX[name](n)
        return data, n.replace(data)
    text = models.MLIR[name](n)
    return text.encode(), n.replace_in_mlir(text).encode()


def suffix(name):
    return ".onnx" if name in models.ONNX else ".mlir"


def translated(data, folder, stem, kind, *options):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"model{kind}").write_bytes(data)
    done = run(f"model{kind}", "-o", f"{stem}.cpp", *options, cwd=folder)
    if done.returncode != 0:
        raise Wrong(f"{folder}/model{kind}: {done.stderr.decode()}")
    return folder / f"{stem}.cpp"


def keys_of(path):
    """The names in a sidecar, which must be there once each and be UTF-8; before them the format's own, which tells who wrote it."""
    data = path.read_bytes()
    pairs = json.loads(data[8:8 + int.from_bytes(data[:8], "little")].decode("utf-8"), object_pairs_hook=lambda found: found)
    if len({key for key, _ in pairs}) != len(pairs) or pairs[0] != ("__metadata__", [("generator", "ml2kokkos")]):
        raise Wrong(f"{path}: keys {[key for key, _ in pairs]}")
    return len(pairs)


def check_names(arguments):
    sources = []
    for name in [*models.ONNX, *models.MLIR]:
        cases = [(seed, None) for seed in range(arguments.seeds)] + [(0, bait) for bait in BAIT[:arguments.first]]
        for number, (seed, bait) in enumerate(cases):
            folder = arguments.work / f"{name}-{number}"
            plain, hostile = plain_and_hostile(name, seed, bait)
            options = [f"--namespace={name}_{number}", *models.OPTIONS.get(name, [])]
            expected = translated(plain, folder / "plain", "out", suffix(name), *options)
            seen = translated(hostile, folder / "hostile", f"{name}_{number}", suffix(name), *options)
            rename_guard(expected.with_suffix(".hpp"), f"{name}_{number}")
            compare(arguments.clang, pair(expected), pair(seen))
            if name == "network" and keys_of(seen.with_suffix(".safetensors")) != keys_of(expected.with_suffix(".safetensors")):
                raise Wrong(f"{seen}: another number of weights in the sidecar")
            sources.append(seen)
    compile_all(arguments, sources)
    print(f"{len(sources)} models with hostile names print the tokens of plain ones and compile")


def rename_guard(path, stem):
    path.write_bytes(path.read_bytes().replace(b"OUT_HPP", stem.upper().encode() + b"_HPP"))


#===--- Names of files -----------------------------------------------------------------------------------------------===#

def shell_safe(line):
    """The command of the banner, run by a shell that knows no ml2kokkos, touches nothing."""
    command = line.split("Regenerate: ")[1].split("     (verify")[0]
    return "ml2kokkos() { :; }\n" + command + "\n"


def check_files(arguments):
    data, _ = plain_and_hostile("attention", 0)
    expected = translated(data, arguments.work / "plain", "plain_file", ".onnx", "--namespace=model")
    inputs = outputs = refused = 0
    for number, bait in enumerate(bait for bait in BAIT if b"/" not in bait and b"\0" not in bait and len(bait) < 240):
        folder = arguments.work / str(number)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        given = bait + b".onnx"
        (folder / os.fsdecode(given)).write_bytes(data)
        done = run(b"./" + given, "-o", "plain_file.cpp", "--namespace=model", cwd=folder)
        if done.returncode != 0:
            raise Wrong(f"{given}: {done.stderr.decode()}")
        inputs += 1
        compare(arguments.clang, pair(expected), pair(folder / "plain_file.cpp"))
        banner = next(line for line in (folder / "plain_file.hpp").read_text().splitlines() if "Regenerate" in line)
        before = set(os.listdir(os.fsencode(folder)))
        if "\n" not in banner and banner.count("'") % 2 == 0:
            subprocess.run(["bash", "-c", shell_safe(banner)], cwd=folder, capture_output=True)
            if set(os.listdir(os.fsencode(folder))) != before:
                raise Wrong(f"{given}: the command of the banner makes files: {banner}")
        made = bait + b".cpp"
        done = run(b"./" + given, "-o", b"./" + made, "--namespace=model", cwd=folder)
        if done.returncode == 2 and b"#include cannot write this name" in done.stderr:
            refused += 1
            continue
        if done.returncode != 0:
            raise Wrong(f"-o {made}: {done.stderr.decode()}")
        outputs += 1
        texts = {kind: (folder / os.fsdecode(bait + kind.encode())).read_bytes() for kind in (".hpp", ".cpp")}
        guard = re.search(rb"#ifndef (\w+)", texts[".hpp"])[1]
        for kind, text in texts.items():
            (folder / f"copy{kind}").write_bytes(text.replace(guard, b"PLAIN_FILE_HPP"))
        compare(arguments.clang, pair(expected), pair(folder / "copy.cpp"))
        if b'#include "' + bait + b'.hpp"\n' not in texts[".cpp"]:
            raise Wrong(f"{made} does not include its header")
    if outputs < 20 or refused < 20:
        raise Wrong(f"{outputs} names of outputs taken, {refused} refused")
    print(f"{inputs} hostile names of inputs, {outputs} of outputs; {refused} refused")


#===--- What people read ---------------------------------------------------------------------------------------------===#

def check_messages(arguments):
    count = 0
    for name in [*models.ONNX, *models.MLIR]:
        for seed in range(arguments.seeds):
            plain, hostile = plain_and_hostile(name, seed)
            folder = arguments.work / f"{name}-{seed}"
            source = translated(hostile, folder, "out", suffix(name))
            given = f"model{suffix(name)}"
            check_text(run(given, "--report", cwd=folder).stdout, "--report")
            shown = run(given, "--emit=json", "-o", "-", cwd=folder).stdout
            json.loads(check_text(shown, "--emit=json"))
            # What a difference shows may come from somebody else's file, too
            source.write_bytes(source.read_bytes().replace(b"Asynchronous", b"\x1b[2J\xff") + b"\x1b]0;pwned\x07\n")
            difference = run(given, "-o", "out.cpp", "--check", cwd=folder)
            if difference.returncode != 1 or b"<U+001B>" not in difference.stdout:
                raise Wrong(f"--check: {difference.stdout.decode()[:300]}")
            check_text(difference.stdout.replace(b"\t", b""), "--check")
            for refused in broken(name, plain, hostile, seed):
                (folder / f"broken{suffix(name)}").write_bytes(refused)
                done = run(f"broken{suffix(name)}", "-o", "broken.cpp", cwd=folder)
                if done.returncode == 0 or b"error: " not in done.stderr:
                    raise Wrong(f"{folder}/broken{suffix(name)} is not refused: {done.stderr.decode()}")
                count += 1
    for bait in BAIT:
        if b"\0" not in bait:
            for command in ((b"no/" + bait,), (b"--" + bait,), (b"x.onnx", b"--dim", bait), (b"x.onnx", b"--target", bait), (b"x", b"-o", bait)):
                if run(*command, cwd=arguments.work).returncode == 0 and command[0] != b"--":
                    raise Wrong(f"{command} is taken")
                count += 1
    print(f"{count} refusals quote hostile names")


def broken(name, plain, hostile, seed):
    """Models that are refused, with names in the message."""
    if name in models.ONNX:
        n = Names(seed)
        data = models.ONNX[name](n)
        for operator in (b"Relu", b"Tanh", b"Gemm", b"Exp"):
            if operator in data:
                yield n.replace(data.replace(operator, b"Nope"[:len(operator)].ljust(len(operator), b"x")))
        first = list(n.places.values())[0]
        yield n.replace(data.replace(first[0].encode(), first[0].encode()[:-1] + b"?", 1)) # a name that nothing makes
        yield hostile[:len(hostile) // 2]
        return
    text = hostile.decode()
    yield text.replace("arith.mulf", "arith.muli").encode()
    yield text.replace("math.tanh", "unknown.operation").encode()
    yield text.replace("index\n", "\x1b]0;pwned\x07 \u202e index\n", 1).encode() # the line is quoted
    yield text.replace("memref.load %x", "memref.load %\u202ex", 1).encode()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("names", "files", "messages"))
    parser.add_argument("--clang", default="clang++-19")
    parser.add_argument("--kokkos", default=os.environ.get("Kokkos_ROOT", "/usr"))
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--first", type=int, default=6, metavar="N", help="models that carry one bait everywhere")
    arguments = parser.parse_args()
    arguments.work = arguments.work.resolve()
    arguments.work.mkdir(parents=True, exist_ok=True)
    try:
        {"names": check_names, "files": check_files, "messages": check_messages}[arguments.what](arguments)
    except Wrong as error:
        sys.exit(f"{arguments.what}: error: {error}")


if __name__ == "__main__":
    main()
