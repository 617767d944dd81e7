"""Bytes that want to be more than a name: bait by hand, and random bytes."""

import random

# Each is one that has worked against some tool, or nearly so
BAIT = [
    # The three that once ran at the user's: out of a label, out of a comment, and a comment that hides the next line
    b'a" + 0 * std::system("touch pwned") + !"b',
    b'/Relu"\nstatic int const warmed = std::system("touch pwned"); //',
    b"relu\\",
    # Ends of comments, literals, parameter lists, files
    b"*/ int pwned; /*", b"??/\nint pwned;", b"relu??/", b'");std::abort();//', b'\\"', b"'", b"\\", b'R"(', b')"', b"#include <pwned>",
    b"\n#include </etc/passwd>\n", b"\r#define float double\r", b"\x0b\x0c\nint pwned;\x00", b"%s%n%999999d", b"{{namespace}}", b"{{{x}}}",
    b"{{/comments}}", b"{{>file/header}}", b"${PATH}", b"$(touch pwned)", b"`touch pwned`", b"';touch pwned;'", b"../../pwned", b"//", b"///<",
    # Terminals
    b"\x1b[2J\x1b]0;pwned\x07", b"\x9b2J", "\u009b2J".encode(), b"\x08\x08\x08ok", b"\rmodel.onnx: ok", b"\x7f",
    # What reads differently from what it is
    "\u202e;)(metsys\u202c".encode(), "\u2066a\u2069".encode(), "a\u200bb".encode(), "a\u0301\u0302".encode(), "\ufeff".encode(),
    "\u05d0\u05d1 \u0627".encode(), "\U000e0041".encode(), "\u2028int pwned;\u2029".encode(), "\u0085int pwned;".encode(), "\u00a0".encode(),
    "\uff1b\uff08".encode(), "\U0001f600".encode(),
    # No UTF-8
    b"\xff\xfe", b"\xc0\xaf", b"\xed\xa0\x80", b"\xe2\x82", b"\xf4\x90\x80\x80", b"a\x80b",
    # What formatters, linters and editors obey
    b"clang-format off", b"x clang-format off: y", b"NOLINTBEGIN", b"IWYU pragma: private", b"SPDX-License-Identifier: MIT",
    b"LCOV_EXCL_START", b"GCOVR_EXCL_START", b"-*- mode: c -*-", b"vim: set ft=sh:", b"a vi:x", b"Local Variables:", b"@formatter:off",
    # Words of the language and names that every file has
    b"int", b"class", b"std", b"Kokkos", b"main", b"forward", b"weights", b"work", b"space", b"Weights", b"Workspace", b"Tensor", b"NULL", b"EOF", b"EINVAL", b"offsetof",
    b"__metadata__", b"_Reserved", b"__FILE__", b"operator()", b"and", b"label", b"in", b"out", b"batch", b"arena", b"t", b"i",
    # Lengths
    b"", b" ", b"_", b"0", b"9lives", b"." * 40, b"a" * 4000, b"\x1b" * 400, ("\u00e4" * 700).encode(),
]


def hostile_name(chance):
    kind = chance.random()
    if kind < 0.6:
        return chance.choice(BAIT)
    if kind < 0.85:
        return bytes(chance.randrange(256) for _ in range(chance.randrange(1, 40)))
    return b"".join(chance.choice(BAIT)[:60] for _ in range(chance.randrange(2, 5)))


class Names:
    """The names of one model: for each place a plain one, which no other text contains, and the bytes that replace it. The
    lengths are equal, so that a serialized model stays one when its bytes are replaced."""

    def __init__(self, seed, bait=None):
        self.chance = random.Random(seed)
        self.bait = bait
        self.places = {}

    def __call__(self, place):
        if place not in self.places:
            # Different places have different names, which is all that a model asks of them. What stands in front of a dot is a
            # layer, whose weights one call reads: no two places are one layer.
            tail = b"#%d" % len(self.places)
            name = (self.bait if self.bait is not None else hostile_name(self.chance)).replace(b".", tail + b".", 1) + tail
            plain = f"plain{len(self.places):03}{place}"
            size = max(len(name), len(plain))
            self.places[place] = (plain.ljust(size, "x"), name.ljust(size, b"x"))
        return self.places[place][0]

    def replace(self, data):
        for plain, name in self.places.values():
            data = data.replace(plain.encode(), name)
        return data

    def replace_in_mlir(self, text):
        """In string literals of MLIR, where every byte can be written in hexadecimal digits."""
        for plain, name in self.places.values():
            text = text.replace(plain, "".join(f"\\{byte:02X}" for byte in name))
        return text
