"""Kernels written in Python: read by their syntax tree, printed as MLIR text, translated to Kokkos C++. docs/python-kernels.md.

types.py       element types, annotations, promotion
language.py    range, parallel, sum, ... as plain Python, so that a kernel runs without a translation, too
source.py      the syntax tree of a function, what its names mean, which locals are alive
text.py        MLIR text: blocks, names of values, linear forms of subscripts
values.py      what an expression can be
scalars.py     operations on scalars
arrays.py      whole arrays: views, broadcasting, products
externs.py     functions of C
reductions.py  sums, maxima, positions of them
expressions.py, calls.py, statements.py, loops.py, compiler.py   from the syntax tree to text
kernel.py      the decorator"""
