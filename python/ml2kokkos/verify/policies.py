"""Reads in printed code that every kernel runs on the instance that forward() was given.

Kokkos Tools tell instances apart on some back ends only (OpenMP gives all of its instances one number), so the text is
read: what stands between a pattern of Kokkos and its lambda names `space`, or the policy made from it."""

import re

INSIDE = r"\b(?:space|policy|Team\w*Range|ThreadVectorRange)\b"
PATTERN = re.compile(r"Kokkos::parallel_(?:for|reduce|scan)\((.*?)(?:KOKKOS_LAMBDA|;)", re.DOTALL)


def kernels_elsewhere(text):
    """The launches of `text` that do not name the instance."""
    return [" ".join(found.group(0).split())[:100] for found in PATTERN.finditer(text)
            if not re.search(INSIDE, found.group(1))]


def waits(text):
    """Calls that wait or allocate between kernels: forward() makes none."""
    body = text[text.find("\nvoid forward("):]
    return re.findall(r"(?:\.|::)fence\(|Kokkos::deep_copy\(|view_alloc\(", body[:body.find("\n}")])
