"""Complex numbers, which printed code has as pairs of reals, against numpy's."""

import numpy

from . import Program, function, memref, tensor

ONE = {"neg": lambda z: -z, "conj": numpy.conj, "exp": numpy.exp, "log": numpy.log, "sqrt": numpy.sqrt, "sin": numpy.sin, "cos": numpy.cos}
REAL = {"re": numpy.real, "im": numpy.imag, "abs": numpy.abs, "angle": numpy.angle}
TWO = {"add": numpy.add, "sub": numpy.subtract, "mul": numpy.multiply, "div": numpy.divide, "pow": numpy.power}
SAME = {"eq": numpy.equal, "neq": numpy.not_equal}


def joined(array):
    return array[..., 0] + 1j * array[..., 1]


def parted(numbers, like):
    return numpy.stack([numbers.real, numbers.imag], -1).astype(like)


def program(name, arguments, results, body, reference, **options):
    """`reference` is on complex numbers, where the arguments are such."""
    pairs = ["complex" in kind for kind in arguments.values()]

    def on_pairs(*arrays):
        outputs = reference(*(joined(array) if pair else array for pair, array in zip(pairs, arrays)))
        like = arrays[0].dtype
        return [parted(output, like) if numpy.iscomplexobj(output) else output for output in outputs]

    return Program(name, function(name, arguments, results, body), reference=on_pairs, **options)


def mapped(op, arguments, number):
    kind = arguments["a"]
    listed, types = ", ".join("%" + name for name in arguments), ", ".join(arguments.values())
    inner = ", ".join(f"%{name}0: {number}" for name in arguments)
    return f"""%e = tensor.empty() : {kind}
%out = linalg.map ins({listed} : {types}) outs(%e : {kind}) ({inner}) {{
  %y = complex.{op} {', '.join(f'%{name}0' for name in arguments)} : {number}
  linalg.yield %y : {number}
}}
return %out : {kind}"""


def scalars():
    for element in ["f32", "f64"]:
        number, vector = f"complex<{element}>", tensor(10, f"complex<{element}>")
        for op, compute in ONE.items():
            yield program(f"complex_{op}_{element}", {"a": vector}, [vector], mapped(op, {"a": vector}, number),
                          lambda a, compute=compute: [compute(a)])
        for op, compute in TWO.items():
            yield program(f"complex_{op}_{element}", {"a": vector, "b": vector}, [vector],
                          mapped(op, {"a": vector, "b": vector}, number), lambda a, b, compute=compute: [compute(a, b)])
        a, b = memref(10, number), memref(10, element)
        head = "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%c10 = arith.constant 10 : index\n"
        for op, compute in REAL.items():
            yield program(f"complex_{op}_{element}", {"a": a, "b": b}, [], head + f"""scf.for %i = %c0 to %c10 step %c1 {{
  %x = memref.load %a[%i] : {a}
  %y = complex.{op} %x : {number}
  memref.store %y, %b[%i] : {b}
}}
return""", lambda a, b, compute=compute: [compute(a)])
        for op, compute in SAME.items():
            yield program(f"complex_{op}_{element}", {"a": a, "b": b}, [], head + f"""%unit = complex.constant [1.0 : {element}, 0.0 : {element}] : {number}
scf.for %i = %c0 to %c10 step %c1 {{
  %x = memref.load %a[%i] : {a}
  %q = complex.div %x, %x : {number}
  %r = complex.re %q : {number}
  %z = arith.constant 0.0 : {element}
  %p = complex.create %r, %z : {number}
  %t = complex.{op} %p, %unit : {number}
  %n = arith.uitofp %t : i1 to {element}
  memref.store %n, %b[%i] : {b}
}}
return""", lambda a, b, op=op: [numpy.full(10, op == "eq", b.dtype)])


def named():
    for element in ["f32", "f64"]:
        number = f"complex<{element}>"
        a, b, c, v, s = (tensor(*shape, number) for shape in [(6, 5), (5, 7), (6, 7), (5,), ()])
        zero = f"%zero = complex.constant [0.0 : {element}, 0.0 : {element}] : {number}\n"

        def filled(kind):
            return zero + f"%empty = tensor.empty() : {kind}\n%init = linalg.fill ins(%zero : {number}) outs(%empty : {kind}) -> {kind}\n"

        yield program(f"complex_matmul_{element}", {"a": a, "b": b}, [c], filled(c) +
                      f"%c = linalg.matmul ins(%a, %b : {a}, {b}) outs(%init : {c}) -> {c}\nreturn %c : {c}", lambda a, b: [a @ b])
        yield program(f"complex_matmul_update_{element}", {"a": a, "b": b, "init": c}, [c],
                      f"%c = linalg.matmul ins(%a, %b : {a}, {b}) outs(%init : {c}) -> {c}\nreturn %c : {c}", lambda a, b, c: [c + a @ b])
        turned, small_b, small_c = tensor(12, 9, number), b, c
        b, c = tensor(12, 10, number), tensor(9, 10, number)
        yield program(f"complex_matmul_large_{element}", {"a": tensor(9, 12, number), "b": b, "init": c}, [c],
                      f"%c = linalg.matmul ins(%a, %b : {tensor(9, 12, number)}, {b}) outs(%init : {c}) -> {c}\nreturn %c : {c}", lambda a, b, c: [c + a @ b])
        yield program(f"complex_matvec_{element}", {"a": tensor(9, 12, number), "b": tensor(12, number), "init": tensor(9, number)}, [tensor(9, number)],
                      f"%c = linalg.matvec ins(%a, %b : {tensor(9, 12, number)}, {tensor(12, number)}) outs(%init : {tensor(9, number)}) -> {tensor(9, number)}\n"
                      f"return %c : {tensor(9, number)}", lambda a, b, c: [c + a @ b])
        yield program(f"complex_vecmat_{element}", {"a": tensor(12, number), "b": b, "init": tensor(10, number)}, [tensor(10, number)],
                      f"%c = linalg.vecmat ins(%a, %b : {tensor(12, number)}, {b}) outs(%init : {tensor(10, number)}) -> {tensor(10, number)}\n"
                      f"return %c : {tensor(10, number)}", lambda a, b, c: [c + a @ b])
        yield program(f"complex_matmul_conjugate_{element}", {"a": turned, "b": b}, [c], filled(c) +
                      "%c = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], "
                      f"iterator_types = [\"parallel\", \"parallel\", \"reduction\"]}} ins(%a, %b : {turned}, {b}) outs(%init : {c}) {{\n"
                      f"^bb0(%x: {number}, %y: {number}, %sum: {number}):\n  %z = complex.conj %x : {number}\n  %p = complex.mul %z, %y : {number}\n"
                      f"  %t = complex.add %sum, %p : {number}\n  linalg.yield %t : {number}\n}} -> {c}\nreturn %c : {c}", lambda a, b: [a.conj().T @ b])
        yield program(f"complex_matmul_transposed_{element}", {"a": turned, "b": b}, [c], filled(c) +
                      f"%c = linalg.matmul_transpose_a ins(%a, %b : {turned}, {b}) outs(%init : {c}) -> {c}\nreturn %c : {c}", lambda a, b: [a.T @ b])
        b, c = small_b, small_c
        yield program(f"complex_dot_{element}", {"a": v, "b": v}, [s], filled(s) +
                      f"%c = linalg.dot ins(%a, %b : {v}, {v}) outs(%init : {s}) -> {s}\nreturn %c : {s}", lambda a, b: [numpy.sum(a * b)])
        yield program(f"complex_transpose_{element}", {"a": a}, [tensor(5, 6, number)],
                      f"%e = tensor.empty() : {tensor(5, 6, number)}\n%c = linalg.transpose ins(%a : {a}) outs(%e : {tensor(5, 6, number)}) permutation = [1, 0]\n"
                      f"return %c : {tensor(5, 6, number)}", lambda a: [a.T])
        yield program(f"complex_norm_{element}", {"a": v}, [tensor(element)],
                      f"%zero = arith.constant 0.0 : {element}\n%empty = tensor.empty() : {tensor(element)}\n"
                      f"%init = linalg.fill ins(%zero : {element}) outs(%empty : {tensor(element)}) -> {tensor(element)}\n"
                      "%n = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = [\"reduction\"]} "
                      f"ins(%a : {v}) outs(%init : {tensor(element)}) {{\n^bb0(%x: {number}, %sum: {element}):\n  %y = complex.conj %x : {number}\n"
                      f"  %p = complex.mul %x, %y : {number}\n  %r = complex.re %p : {number}\n  %t = arith.addf %sum, %r : {element}\n"
                      f"  linalg.yield %t : {element}\n}} -> {tensor(element)}\nreturn %n : {tensor(element)}",
                      lambda a: [numpy.sum(numpy.abs(a)**2)])
        part = tensor(2, number)
        yield program(f"complex_slices_{element}", {"a": v, "b": part}, [v, part],
                      f"%c = tensor.insert_slice %b into %a[2] [2] [1] : {part} into {v}\n%d = tensor.extract_slice %a[0] [2] [2] : {v} to {part}\n"
                      f"return %c, %d : {v}, {part}", lambda a, b: [numpy.concatenate([a[:2], b, a[4:]]), a[0:4:2]])


def loops():
    number, row = "complex<f64>", memref("?", "complex<f64>")
    head = f"%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%n = memref.dim %a, %c0 : {row}\n"
    yield program("complex_rotate", {"a": row, "phase": "memref<complex<f64>>"}, [], head + f"""%p = memref.load %phase[] : memref<complex<f64>>
scf.parallel (%i) = (%c0) to (%n) step (%c1) {{
  %here = memref.load %a[%i] : {row}
  %turned = complex.mul %here, %p : {number}
  memref.store %turned, %a[%i] : {row}
}}
return""", lambda a, phase: [a * phase], extents={"n": 9})
    yield program("complex_series", {"a": row}, [], head + f"""scf.parallel (%i) = (%c0) to (%n) step (%c1) {{
  %z = memref.load %a[%i] : {row}
  %c4 = arith.constant 4 : index
  %sum = scf.for %k = %c0 to %c4 step %c1 iter_args(%s = %z) -> ({number}) {{
    %square = complex.mul %s, %s : {number}
    %next = complex.add %square, %z : {number}
    %size = complex.abs %next : {number}
    %two = arith.constant 2.0 : f64
    %large = arith.cmpf ogt, %size, %two : f64
    %kept = scf.if %large -> ({number}) {{
      scf.yield %s : {number}
    }} else {{
      scf.yield %next : {number}
    }}
    scf.yield %kept : {number}
  }}
  memref.store %sum, %a[%i] : {row}
}}
return""", series, extents={"n": 9})


def series(a):
    s = a.copy()
    for _ in range(4):
        following = s * s + a
        s = numpy.where(numpy.abs(following) > 2, s, following)
    return [s]


def programs():
    yield from scalars()
    yield from named()
    yield from loops()
