"""Kernels of the gpu dialect and loops of omp, against the same loops as numpy writes them; programs that print."""

import numpy

from . import Program, function, memref

C = "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%c4 = arith.constant 4 : index\n%c8 = arith.constant 8 : index\n"
F = memref(32, "f32")


def launch(body, memory="", threads="%sx = %c8, %sy = %c1, %sz = %c1", blocks="%gx = %c4, %gy = %c1, %gz = %c1"):
    return f"""gpu.launch blocks(%bx, %by, %bz) in ({blocks}) threads(%tx, %ty, %tz) in ({threads}) {memory} {{
  %first = arith.muli %bx, %sx : index
  %i = arith.addi %first, %tx : index
{body}
  gpu.terminator
}}
"""


def program(name, arguments, body, reference, **options):
    return Program(name, function(name, arguments, [], C + body + "return"), reference=reference, **options)


def launches():
    yield program("launch_plain", {"a": F, "b": F}, launch(f"""  %x = memref.load %a[%i] : {F}
  %y = arith.addf %x, %x : f32
  memref.store %y, %b[%i] : {F}"""), lambda a, b: [2 * a])
    m = memref(4, 8, "f32")
    yield program("launch_2d", {"a": m, "b": memref(8, 4, "f32")}, launch(f"""  %j = gpu.thread_id y
  %k = gpu.block_id x
  %n = gpu.block_dim y
  %x = memref.load %a[%tx, %j] : {m}
  memref.store %x, %b[%j, %tx] : {memref(8, 4, 'f32')}""", threads="%sx = %c4, %sy = %c8, %sz = %c1", blocks="%gx = %c1, %gy = %c1, %gz = %c1"),
                  lambda a, b: [a.T])
    w = "memref<8xf32, #gpu.address_space<workgroup>>"
    yield program("launch_reversed", {"a": F, "b": F}, launch(f"""  %x = memref.load %a[%i] : {F}
  memref.store %x, %w[%tx] : {w}
  gpu.barrier
  %c7 = arith.constant 7 : index
  %back = arith.subi %c7, %tx : index
  %y = memref.load %w[%back] : {w}
  %s = arith.addf %x, %y : f32
  memref.store %s, %b[%i] : {F}""", f"workgroup(%w : {w})"),
                  lambda a, b: [a + a.reshape(4, 8)[:, ::-1].reshape(-1)])
    yield program("launch_reduce", {"a": F, "b": memref(4, "f32")}, launch(f"""  %x = memref.load %a[%i] : {F}
  %s = gpu.all_reduce add %x uniform {{}} : (f32) -> (f32)
  %is = arith.cmpi eq, %tx, %c0 : index
  scf.if %is {{
    memref.store %s, %b[%bx] : {memref(4, 'f32')}
  }}"""), lambda a, b: [a.reshape(4, 8).sum(1, dtype=numpy.float32)])
    yield program("launch_tree", {"a": F, "b": memref(4, "f32")}, launch(f"""  %x = memref.load %a[%i] : {F}
  memref.store %x, %w[%tx] : {w}
  gpu.barrier
  %c3 = arith.constant 3 : index
  scf.for %step = %c0 to %c3 step %c1 {{
    %half = arith.shrui %c4, %step : index
    %low = arith.cmpi ult, %tx, %half : index
    scf.if %low {{
      %other = arith.addi %tx, %half : index
      %p = memref.load %w[%tx] : {w}
      %q = memref.load %w[%other] : {w}
      %t = arith.addf %p, %q : f32
      memref.store %t, %w[%tx] : {w}
    }}
    gpu.barrier
  }}
  %is = arith.cmpi eq, %tx, %c0 : index
  scf.if %is {{
    %r = memref.load %w[%c0] : {w}
    memref.store %r, %b[%bx] : {memref(4, 'f32')}
  }}""", f"workgroup(%w : {w})"), lambda a, b: [a.reshape(4, 8).sum(1, dtype=numpy.float32)])
    n = memref(8, 8, "f32")
    t = "memref<4x4xf32, #gpu.address_space<workgroup>>"
    yield program("launch_tiled_gemm", {"a": n, "b": n, "c": n}, f"""%c2 = arith.constant 2 : index
%zero = arith.constant 0.0 : f32
gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c2, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c4, %sy = %c4, %sz = %c1) workgroup(%p : {t}, %q : {t}) {{
  %r0 = arith.muli %by, %c4 : index
  %row = arith.addi %r0, %ty : index
  %s0 = arith.muli %bx, %c4 : index
  %column = arith.addi %s0, %tx : index
  %sum = scf.for %tile = %c0 to %c2 step %c1 iter_args(%acc = %zero) -> f32 {{
    %k0 = arith.muli %tile, %c4 : index
    %ka = arith.addi %k0, %tx : index
    %kb = arith.addi %k0, %ty : index
    %x = memref.load %a[%row, %ka] : {n}
    %y = memref.load %b[%kb, %column] : {n}
    memref.store %x, %p[%ty, %tx] : {t}
    memref.store %y, %q[%ty, %tx] : {t}
    gpu.barrier
    %part = scf.for %k = %c0 to %c4 step %c1 iter_args(%u = %acc) -> f32 {{
      %v = memref.load %p[%ty, %k] : {t}
      %w = memref.load %q[%k, %tx] : {t}
      %m = arith.mulf %v, %w : f32
      %z = arith.addf %u, %m : f32
      scf.yield %z : f32
    }}
    gpu.barrier
    scf.yield %part : f32
  }}
  memref.store %sum, %c[%row, %column] : {n}
  gpu.terminator
}}
""", lambda a, b, c: [a @ b])


def teams():
    """Teams whose threads are lanes of vectors, or lie in three dimensions; each operation of all_reduce; private memory; what
    the whole block does in loops and branches."""
    f = memref(512, "f32")
    w = "memref<128xf32, #gpu.address_space<workgroup>>"
    sizes = "%c128 = arith.constant 128 : index\n"

    def line(name, text, reference, memory="", outputs=None):
        return program(name, {"a": f, **(outputs or {"b": f})}, sizes + f"""gpu.launch blocks(%bx, %by, %bz) in (%gx = %c4, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c128, %sy = %c1, %sz = %c1) {memory} {{
  %first = arith.muli %bx, %c128 : index
  %i = arith.addi %first, %tx : index
{text}
  gpu.terminator
}}
""", reference)
    operations = {"add": lambda x: x.sum(1, dtype=numpy.float32), "maxnumf": lambda x: x.max(1), "minnumf": lambda x: x.min(1),
                  "maximumf": lambda x: x.max(1), "minimumf": lambda x: x.min(1)}
    for name, joined in operations.items():
        yield line(f"team_{name}", f"""  %x = memref.load %a[%i] : {f}
  %s = gpu.all_reduce {name} %x uniform {{}} : (f32) -> (f32)
  %y = arith.subf %x, %s : f32
  memref.store %y, %b[%i] : {f}""", lambda a, b, joined=joined: [(a.reshape(4, 128) - joined(a.reshape(4, 128))[:, None]).reshape(-1)])
    yield line("team_scan", f"""  %x = memref.load %a[%i] : {f}
  %c7 = arith.constant 7 : index
  memref.store %x, %w[%tx] : {w}
  gpu.barrier
  scf.for %step = %c0 to %c7 step %c1 {{
    %reach = arith.shli %c1, %step : index
    %has = arith.cmpi uge, %tx, %reach : index
    %own = memref.load %w[%tx] : {w}
    %sum = scf.if %has -> f32 {{
      %before = arith.subi %tx, %reach : index
      %y = memref.load %w[%before] : {w}
      %z = arith.addf %own, %y : f32
      scf.yield %z : f32
    }} else {{
      scf.yield %own : f32
    }}
    gpu.barrier
    memref.store %sum, %w[%tx] : {w}
    gpu.barrier
  }}
  %r = memref.load %w[%tx] : {w}
  memref.store %r, %b[%i] : {f}""", lambda a, b: [numpy.cumsum(a.reshape(4, 128).astype(numpy.float64), 1).astype(numpy.float32).reshape(-1)],
               f"workgroup(%w : {w})")
    p = "memref<3xf32, #gpu.address_space<private>>"
    yield line("team_private", f"""  %x = memref.load %a[%i] : {f}
  %c2 = arith.constant 2 : index
  memref.store %x, %own[%c0] : {p}
  %d = arith.addf %x, %x : f32
  memref.store %d, %own[%c2] : {p}
  memref.store %x, %w[%tx] : {w}
  gpu.barrier
  %c127 = arith.constant 127 : index
  %back = arith.subi %c127, %tx : index
  %y = memref.load %w[%back] : {w}
  %p = memref.load %own[%c0] : {p}
  %q = memref.load %own[%c2] : {p}
  %r = arith.addf %p, %q : f32
  %s = arith.subf %r, %y : f32
  memref.store %s, %b[%i] : {f}""", lambda a, b: [3 * a - a.reshape(4, 128)[:, ::-1].reshape(-1)], f"workgroup(%w : {w}) private(%own : {p})")
    yield line("team_swap", f"""  %x = memref.load %a[%i] : {f}
  %zero = arith.constant 0.0 : f32
  %c5 = arith.constant 5 : index
  %r:2 = scf.for %step = %c0 to %c5 step %c1 iter_args(%p = %x, %q = %zero) -> (f32, f32) {{
    memref.store %p, %w[%tx] : {w}
    gpu.barrier
    %c127 = arith.constant 127 : index
    %back = arith.subi %c127, %tx : index
    %y = memref.load %w[%back] : {w}
    %s = arith.addf %y, %q : f32
    gpu.barrier
    scf.yield %s, %p : f32, f32
  }}
  %t = arith.subf %r#0, %r#1 : f32
  memref.store %t, %b[%i] : {f}""", swapped, f"workgroup(%w : {w})")
    m = memref(4, 2, 4, 8, "f32")
    t = "memref<2x4x8xf32, #gpu.address_space<workgroup>>"
    yield program("team_3d", {"a": m, "b": m}, f"""%c2 = arith.constant 2 : index
gpu.launch blocks(%bx, %by, %bz) in (%gx = %c4, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c8, %sy = %c4, %sz = %c2) workgroup(%w : {t}) {{
  %x = memref.load %a[%bx, %tz, %ty, %tx] : {m}
  memref.store %x, %w[%tz, %ty, %tx] : {t}
  %s = gpu.all_reduce add %x uniform {{}} : (f32) -> (f32)
  gpu.barrier
  %c3 = arith.constant 3 : index
  %o = arith.subi %c1, %tz : index
  %p = arith.subi %c3, %ty : index
  %y = memref.load %w[%o, %p, %tx] : {t}
  %z = arith.addf %y, %s : f32
  memref.store %z, %b[%bx, %tz, %ty, %tx] : {m}
  gpu.terminator
}}
""", lambda a, b: [a[:, ::-1, ::-1] + a.sum((1, 2, 3), dtype=numpy.float32)[:, None, None, None]])
    n = memref(16, 24, "f32")
    u = "memref<4x24xf32, #gpu.address_space<workgroup>>"
    yield program("team_wide", {"a": n, "b": n}, f"""%c24 = arith.constant 24 : index
%c3 = arith.constant 3 : index
gpu.launch blocks(%bx, %by, %bz) in (%gx = %c4, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c24, %sy = %c4, %sz = %c1) workgroup(%w : {u}) {{
  %r0 = arith.muli %bx, %c4 : index
  %r = arith.addi %r0, %ty : index
  %x = memref.load %a[%r, %tx] : {n}
  memref.store %x, %w[%ty, %tx] : {u}
  gpu.barrier
  %p = arith.subi %c3, %ty : index
  %y = memref.load %w[%p, %tx] : {u}
  %z = arith.addf %y, %x : f32
  memref.store %z, %b[%r, %tx] : {n}
  gpu.terminator
}}
""", lambda a, b: [a + a.reshape(4, 4, 24)[:, ::-1].reshape(16, 24)])


def swapped(a, b):
    p, q = a.reshape(4, 128), numpy.zeros((4, 128), numpy.float32)
    for _ in range(5):
        p, q = p[:, ::-1] + q, p
    return [(p - q).reshape(-1)]


def hierarchies():
    """Parallel loops with long parallel loops inside: rows with temporaries, triangles, mapped loops, three levels."""
    x = memref(6, 600, "f32")
    join = """scf.reduce (%t : f32) {{
      ^bb0(%p: f32, %q: f32):
        %j = arith.{0} %p, %q : f32
        scf.reduce.return %j : f32
      }}"""
    head = "%c6 = arith.constant 6 : index\n%c600 = arith.constant 600 : index\n%zero = arith.constant 0.0 : f32\n%low = arith.constant 0xFF800000 : f32\n"
    yield program("team_softmax", {"a": x, "b": x}, head + f"""scf.parallel (%r) = (%c0) to (%c6) step (%c1) {{
  %row = memref.alloca() : memref<600xf32>
  %most = scf.parallel (%k) = (%c0) to (%c600) step (%c1) init (%low) -> f32 {{
    %t = memref.load %a[%r, %k] : {x}
    {join.format("maximumf")}
  }}
  scf.parallel (%k) = (%c0) to (%c600) step (%c1) {{
    %t = memref.load %a[%r, %k] : {x}
    %d = arith.subf %t, %most : f32
    %e = math.exp %d : f32
    memref.store %e, %row[%k] : memref<600xf32>
  }}
  %total = scf.parallel (%k) = (%c0) to (%c600) step (%c1) init (%zero) -> f32 {{
    %t = memref.load %row[%k] : memref<600xf32>
    {join.format("addf")}
  }}
  scf.parallel (%k) = (%c0) to (%c600) step (%c1) {{
    %t = memref.load %row[%k] : memref<600xf32>
    %d = arith.divf %t, %total : f32
    memref.store %d, %b[%r, %k] : {x}
  }}
}}
""", lambda a, b: [numpy.exp(a - a.max(1, keepdims=True)) / numpy.exp(a - a.max(1, keepdims=True)).sum(1, keepdims=True)])
    yield program("team_reversed_rows", {"a": x, "b": x, "s": memref(6, "f32")}, head + f"""%c599 = arith.constant 599 : index
scf.parallel (%r) = (%c0) to (%c6) step (%c1) {{
  %row = memref.alloc() : memref<600xf32>
  scf.parallel (%k) = (%c0) to (%c600) step (%c1) {{
    %t = memref.load %a[%r, %k] : {x}
    %e = arith.mulf %t, %t : f32
    memref.store %e, %row[%k] : memref<600xf32>
  }}
  %last = memref.load %row[%c599] : memref<600xf32>
  memref.store %last, %s[%r] : {memref(6, 'f32')}
  scf.parallel (%k) = (%c0) to (%c600) step (%c1) {{
    %back = arith.subi %c599, %k : index
    %t = memref.load %row[%back] : memref<600xf32>
    memref.store %t, %b[%r, %k] : {x}
  }}
  memref.dealloc %row : memref<600xf32>
}}
""", lambda a, b, s: [(a * a)[:, ::-1], (a * a)[:, -1]])
    large = memref(3, 20000, "f32")
    yield program("team_large_rows", {"a": large, "b": large}, f"""%c3 = arith.constant 3 : index
%c20000 = arith.constant 20000 : index
%c19999 = arith.constant 19999 : index
scf.parallel (%r) = (%c0) to (%c3) step (%c1) {{
  %row = memref.alloc() : memref<20000xf32>
  scf.parallel (%k) = (%c0) to (%c20000) step (%c1) {{
    %t = memref.load %a[%r, %k] : {large}
    memref.store %t, %row[%k] : memref<20000xf32>
  }}
  scf.parallel (%k) = (%c0) to (%c20000) step (%c1) {{
    %back = arith.subi %c19999, %k : index
    %t = memref.load %row[%back] : memref<20000xf32>
    memref.store %t, %b[%r, %k] : {large}
  }}
  memref.dealloc %row : memref<20000xf32>
}}
""", lambda a, b: [a[:, ::-1]])
    square = memref(300, 300, "f32")
    yield program("team_triangle", {"a": square, "b": memref(300, "f32")}, f"""%c300 = arith.constant 300 : index
%c2 = arith.constant 2 : index
%one = arith.constant 1.0 : f32
scf.parallel (%r) = (%c0) to (%c300) step (%c1) {{
  %total = scf.parallel (%k) = (%r) to (%c300) step (%c2) init (%one) -> f32 {{
    %t = memref.load %a[%r, %k] : {square}
    {join.format("addf")}
  }}
  memref.store %total, %b[%r] : {memref(300, 'f32')}
}}
""", lambda a, b: [numpy.array([1 + a[r, r::2].sum(dtype=numpy.float64) for r in range(300)], numpy.float32)])
    deep = memref(5, 40, 300, "f32")
    yield program("team_three_levels", {"a": deep, "b": memref(5, 40, "f32")}, f"""%c5 = arith.constant 5 : index
%c40 = arith.constant 40 : index
%c300 = arith.constant 300 : index
%zero = arith.constant 0.0 : f32
scf.parallel (%r) = (%c0) to (%c5) step (%c1) {{
  %first = memref.load %a[%r, %c0, %c0] : {deep}
  scf.parallel (%s) = (%c0) to (%c40) step (%c1) {{
    %total = scf.parallel (%k) = (%c0) to (%c300) step (%c1) init (%zero) -> f32 {{
      %t = memref.load %a[%r, %s, %k] : {deep}
      {join.format("addf")}
    }}
    %v = arith.addf %total, %first : f32
    memref.store %v, %b[%r, %s] : {memref(5, 40, 'f32')}
  }}
}}
""", lambda a, b: [a.sum(2, dtype=numpy.float64).astype(numpy.float32) + a[:, 0, :1]])
    y = memref(16, 8, 4, "f32")
    yield program("team_mapped", {"a": y, "b": y, "s": memref(16, "f32")}, f"""scf.forall (%r) in (16) {{
  %f = memref.load %s[%r] : {memref(16, 'f32')}
  %g = arith.mulf %f, %f : f32
  scf.forall (%j, %k) in (8, 4) {{
    %t = memref.load %a[%r, %j, %k] : {y}
    %v = arith.mulf %t, %g : f32
    memref.store %v, %b[%r, %j, %k] : {y}
  }} {{mapping = [#gpu.thread<y>, #gpu.thread<x>]}}
}} {{mapping = [#gpu.block<x>]}}
""", lambda a, b, s: [a * (s * s)[:, None, None]])


def openmp():
    yield program("omp_loop", {"a": F, "b": F}, f"""%c32 = arith.constant 32 : index
omp.parallel {{
  omp.wsloop {{
    omp.loop_nest (%i) : index = (%c0) to (%c32) step (%c1) {{
      %x = memref.load %a[%i] : {F}
      %y = arith.mulf %x, %x : f32
      memref.store %y, %b[%i] : {F}
      omp.yield
    }}
    omp.terminator
  }}
  omp.terminator
}}
""", lambda a, b: [a * a])
    m = memref(4, 8, "f32")
    yield program("omp_collapsed", {"a": m, "b": m}, f"""%z = arith.constant 0 : i32
%o = arith.constant 1 : i32
%h = arith.constant 3 : i32
%w = arith.constant 7 : i32
omp.parallel {{
  omp.wsloop {{
    omp.loop_nest (%p, %q) : i32 = (%z, %z) to (%h, %w) inclusive step (%o, %o) {{
      %i = arith.index_cast %p : i32 to index
      %j = arith.index_cast %q : i32 to index
      %x = memref.load %a[%i, %j] : {m}
      %y = arith.negf %x : f32
      memref.store %y, %b[%i, %j] : {m}
      omp.yield
    }}
    omp.terminator
  }}
  omp.terminator
}}
""", lambda a, b: [-a])


def programs():
    yield from launches()
    yield from teams()
    yield from hierarchies()
    yield from openmp()
