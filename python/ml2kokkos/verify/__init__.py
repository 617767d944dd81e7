"""Checks what ml2kokkos prints: translate, build, run and compare every output with a reference.

scripts/verify.py is the command line; the tests use the same functions.
"""
