"""Patterns of networks as PyTorch's exporter writes them: unrolled state space models, stages of a Runge-Kutta method, windows by
tables of indices. onnx's reference evaluator says what is right."""

from types import SimpleNamespace

import numpy as np
from onnx import helper, numpy_helper, parser
from onnx.reference import ReferenceEvaluator

random = np.random.default_rng(17)
numbers = lambda *shape: (random.standard_normal(shape) / 2).astype(np.float32)


def case(name, signature, body, constants=None):
    """`signature` is that of the text form; `constants` are initializers."""
    model = parser.parse_model(f'<ir_version: 9, opset_import: ["" : 17]>\n{name} {signature} {{\n{body}\n}}')
    model.graph.initializer.extend(numpy_helper.from_array(np.asarray(value), label)
                                   for label, value in (constants or {}).items())
    types = {value.name: value.type.tensor_type for value in model.graph.input}
    inputs = {label: numbers(*(dim.dim_value for dim in type.shape.dim)).astype(helper.tensor_dtype_to_np_dtype(type.elem_type))
              for label, type in types.items()}
    outputs = ReferenceEvaluator(model).run(None, inputs)
    tensors = lambda values, arrays: [numpy_helper.from_array(np.asarray(array), value.name)
                                      for value, array in zip(values, arrays)]
    data = tensors(model.graph.input, inputs.values()), tensors(model.graph.output, outputs)
    return SimpleNamespace(name=f"test_{name}", model=model, data_sets=[data])


def state_space(length):
    """h = a_t h + b_t, y_t = Σ_j c_t h: outputs of all steps."""
    lines, last = [], "b0"
    for t in range(length):
        lines += [f"{name}{t} = Gather <axis = 1> ({name}, at{t})" for name in "ab"]
        lines += [f"c{t} = Gather <axis = 1> (c, span{t})"] # [2, 1, 5]
        if t > 0:
            lines += [f"scaled{t} = Mul (a{t}, h{t - 1})", f"h{t} = Add (scaled{t}, b{t})"]
        else:
            lines += ["h0 = Identity (b0)"]
        lines += [f"terms{t} = Mul (h{t}, c{t})", f"y{t} = ReduceSum <keepdims = 0> (terms{t}, last)",
                  f"row{t} = Unsqueeze (y{t}, second)"]
    lines.append(f"y = Concat <axis = 1> ({', '.join(f'row{t}' for t in range(length))})")
    constants = {"last": np.array([-1]), "second": np.array([1])}
    for t in range(length):
        constants |= {f"at{t}": np.array(t), f"span{t}": np.array([t])}
    signature = f"(float[2, {length}, 24, 5] a, float[2, {length}, 24, 5] b, float[2, {length}, 5] c) => (float[2, {length}, 24] y)"
    return case("unrolled_state_space", signature, "\n".join(lines), constants)


def stages(name, parts, transposed):
    """A layer with the same weights for several times; `parts` are the operands of the concatenation."""
    width = {"x": 4, "t": 1, "z": 2, "s": 3}
    rows = sum(width[part] for part in parts)
    lines, constants, last = [], {"w": numbers(6, rows) if transposed else numbers(rows, 6), "bias": numbers(6), "v": numbers(6, 4)}, "x"
    for stage, time in enumerate((0., .25, -1.5)):
        constants |= {f"t{stage}": np.full((5, 1), time, np.float32), f"s{stage}": np.full((5, 3), time / 2, np.float32)}
        operands = [last if part == "x" else "z" if part == "z" else f"{part}{stage}" for part in parts]
        lines += [f"joined{stage} = Concat <axis = 1> ({', '.join(operands)})",
                  f"sum{stage} = Gemm <transB = {int(transposed)}> (joined{stage}, w, bias)", f"hidden{stage} = Tanh (sum{stage})",
                  f"step{stage} = MatMul (hidden{stage}, v)", f"next{stage} = Add (x, step{stage})"]
        last = f"next{stage}"
    lines.append(f"y = Neg ({last})")
    return case(name, "(float[5, 4] x, float[5, 2] z) => (float[5, 4] y)", "\n".join(lines), constants)


def coupling(layers):
    """Halves that change places: one moves the other, both are joined and split again."""
    lines, constants = [], {"halves": np.array([3, 3])}
    for at in range(layers):
        constants |= {f"w{at}": numbers(3, 3), f"b{at}": numbers(3)}
        lines += [f"u{at}, v{at} = Split <axis = 1> (x{at}, halves)", f"sum{at} = Gemm (u{at}, w{at}, b{at})", f"s{at} = Tanh (sum{at})",
                  f"e{at} = Exp (s{at})", f"scaled{at} = Mul (v{at}, e{at})", f"moved{at} = Add (scaled{at}, s{at})",
                  f"x{at + 1} = Concat <axis = 1> (moved{at}, u{at})"]
    lines.append(f"y = Identity (x{layers})")
    return case("coupled_halves", "(float[5, 6] x0) => (float[5, 6] y)", "\n".join(lines), constants)


def cases():
    windows = np.arange(3)[:, None] + np.arange(10)[None]
    strided = 2 * np.arange(5)[:, None] + np.arange(4)[None]
    return [
        state_space(12),
        stages("time_as_column", "xt", True),
        stages("time_in_front", "tx", False),
        stages("times_between", "txsz", True),
        coupling(3),
        case("run_time_as_column", "(float[5, 4] x, float dt) => (float[5, 4] y)",
             "t1 = Reshape (dt, unit)\ncolumn1 = Expand (t1, rows)\nj1 = Concat <axis = 1> (x, column1)\nsum1 = Gemm (j1, w, bias)\nh1 = Tanh (sum1)\n"
             "part = Mul (h1, dt)\nmoved = Add (x, part)\nt2 = Add (t1, t1)\ncolumn2 = Expand (t2, rows)\nj2 = Concat <axis = 1> (moved, column2)\n"
             "sum2 = Gemm (j2, w, bias)\ny = Tanh (sum2)",
             {"unit": np.array([1, 1]), "rows": np.array([5, 1]), "w": numbers(5, 4), "bias": numbers(4)}),
        case("windows_by_indices", "(float[2, 3, 12, 12] x) => (float[2, 3, 3, 10, 5, 4] y, float[2, 3, 12, 4, 3] z, float[2, 3, 2, 3, 12] r)",
             "rows = Gather <axis = 2> (x, windows)\ny = Gather <axis = 4> (rows, strided)\nz = Gather <axis = 3> (x, parts)\nr = Gather <axis = 2> (x, back)",
             {"windows": windows, "strided": strided, "parts": np.arange(12).reshape(4, 3), "back": np.array([[-1, -3, -5], [-2, -4, -6]])}),
        case("einsum_without_sum", "(float[2, 3, 7, 4] q, float[2, 3, 4, 4] s, float[2, 3, 7] g, float[7] u, float[4] v) => (float[2, 3, 7, 4] y, float[7, 4] z)",
             'y = Einsum <equation = "bhld,bhde,bhl->bhle"> (q, s, g)\nz = Einsum <equation = "i,j->ij"> (u, v)'),
        case("constant_queries", "(float[2, 4, 30, 8] k, float[2, 4, 30, 8] v) => (float[2, 4, 6, 8] y)",
             "t = Transpose <perm = [0, 1, 3, 2]> (k)\nscores = MatMul (q, t)\np = Softmax <axis = -1> (scores)\ny = MatMul (p, v)",
             {"q": numbers(2, 4, 6, 8)}),
        case("state_beside_image", "(float[2, 3, 8, 8] x) => (float[2, 4, 8, 8] y)",
             "a = Conv <pads = [1, 1, 1, 1]> (x, first)\nh = Tanh (a)\njoined = Concat <axis = 1> (x, h)\ny = Conv <pads = [1, 1, 1, 1]> (joined, second)",
             {"first": numbers(4, 3, 3, 3), "second": numbers(4, 7, 3, 3)}),
        case("normalised_columns", "(double[6, 5] t, double[6, 5] q, double[6] p) => (float[6, 4] y, double[6, 5] z)",
             "a = Abs (q)\nb = Add (a, floor)\nlogs = Log (b)\nz = Exp (logs)\np1 = Unsqueeze (p, axis)\njoined = Concat <axis = 1> (t, logs, p1)\n"
             "d = Sub (joined, mean)\nn = Div (d, deviation)\nf = Cast <to = 1> (n)\ny = Gemm (f, w, bias)",
             {"axis": np.array([1]), "floor": np.array(.01), "mean": np.linspace(-1, 1, 11), "deviation": np.linspace(1, 2, 11),
              "w": numbers(11, 4), "bias": numbers(4)}),
        case("images_by_parts", "(float[2, 3, 6, 6] x, float[2, 7, 6, 6] r) => (float[2, 7, 6, 6] y, float[7, 6, 6] z)",
             "a = Conv <pads = [1, 1, 1, 1]> (x, first)\njoined = Concat <axis = 1> (a, x)\ns = Mul (joined, scale)\nt = Add (s, r)\ny = Relu (t)\n"
             "x0 = Gather <axis = 0> (x, zero)\na1 = Gather <axis = 0> (a, one)\nw = Concat <axis = 0> (x0, a1)\nv = Mul (w, scale3)\nz = Tanh (v)",
             {"first": numbers(4, 3, 3, 3), "scale": numbers(1, 7, 1, 1), "scale3": numbers(7, 1, 1), "zero": np.array(0), "one": np.array(1)}),
        case("cell_states", "(float[3, 2, 5] x, float[2, 4] c) => (float[2, 4] y, float[2, 4] state)",
             "\n".join(f"x{t} = Gather <axis = 0> (x, t{t})\nsum{t} = Gemm (x{t}, w, bias)\n"
                       + (f"old{t} = MatMul (h{t - 1}, r)\nall{t} = Add (sum{t}, old{t})\n" if t else f"all{t} = Identity (sum{t})\n")
                       + f"i{t}, f{t}, g{t}, o{t} = Split <axis = 1> (all{t}, parts)\nsi{t} = Sigmoid (i{t})\nsf{t} = Sigmoid (f{t})\nsg{t} = Tanh (g{t})\n"
                       f"so{t} = Sigmoid (o{t})\nkept{t} = Mul (sf{t}, {f'c{t - 1}' if t else 'c'})\nnew{t} = Mul (si{t}, sg{t})\n"
                       f"c{t} = Add (kept{t}, new{t})\nout{t} = Tanh (c{t})\nh{t} = Mul (so{t}, out{t})" for t in range(3))
             + "\ny = Identity (h2)\nstate = Identity (c2)",
             {"w": numbers(5, 16), "bias": numbers(16), "r": numbers(4, 16), "parts": np.array([4, 4, 4, 4]), **{f"t{t}": np.array(t) for t in range(3)}}),
        case("rolled_rows", "(float[2, 3, 8, 9] u) => (float[2, 3, 8, 9] y, float[2, 3, 8, 9] z)",
             "head = Slice (u, zero, one, axis)\nrest = Slice (u, one, end, axis)\nup = Concat <axis = 2> (rest, head)\n"
             "front = Slice (u, zero, most, axis)\nback = Slice (u, most, end, axis)\ndown = Concat <axis = 2> (back, front)\n"
             "difference = Sub (up, down)\ny = Tanh (difference)\ntotal = Add (up, down)\nz = Sub (total, u)",
             {"zero": np.array([0]), "one": np.array([1]), "most": np.array([7]), "end": np.array([1 << 31]), "axis": np.array([2])}),
    ]
