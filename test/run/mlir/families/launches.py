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
    yield from openmp()
