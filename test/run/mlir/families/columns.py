"""Loops over steps on tensors whose columns do not meet, and such that only look like it."""

from . import Program, function, is_float, tensor, zero

C = "".join(f"%c{i} = arith.constant {i} : index\n" for i in (0, 1, 2, 3, 8, 9, 17, 18))


def parts(kind):
    """Extents, as text, and the element of a tensor type."""
    *extents, element = kind[len("tensor<"):-1].split("x")
    return extents, element


def dims(letters):
    return ", ".join(letters)


def generic(result, kind, loops, reads, body, reduced="", into="%e"):
    """%result over `loops`, letters, the reduced ones last; `reads`: (value, type, letters); the body computes %r from %x0, %x1, ... and %acc."""
    _, element = parts(kind)
    kept = [letter for letter in loops if letter not in reduced]
    maps = [letters for _, _, letters in reads] + ["".join(kept)]
    kinds = ", ".join('"reduction"' if letter in reduced else '"parallel"' for letter in loops)
    arguments = ", ".join([f"%x{i}: {parts(type)[1]}" for i, (_, type, _) in enumerate(reads)] + [f"%acc: {element}"])
    return f"""%{result} = linalg.generic {{indexing_maps = [{', '.join(f'affine_map<({dims(loops)}) -> ({dims(m)})>' for m in maps)}], iterator_types = [{kinds}]}}
    ins({', '.join(value for value, _, _ in reads)} : {', '.join(type for _, type, _ in reads)}) outs({into} : {kind}) {{
^bb0({arguments}):
{body}
  linalg.yield %r : {element}
}} -> {kind}"""


def arithmetic(element, *lines):
    """'add a b' and so on; the last result is %r."""
    suffix = "f" if is_float(element) else "i"
    text = []
    for i, line in enumerate(lines):
        operation, *operands = line.split()
        name = "r" if i + 1 == len(lines) else f"t{i}"
        text.append(f"  %{name} = arith.{operation}{suffix} {', '.join(operands)} : {element}")
    return "\n".join(text)


def loop(name, arguments, carried, body, steps="%c9", step="%c1", first="%c0", before="", results=None):
    """`carried`: (name, type, initial value); the body yields %next_NAME."""
    kinds = [kind for _, kind, _ in carried]
    chosen = results if results is not None else range(len(carried))
    text = f"""{C}{before}
%r:{len(carried)} = scf.for %t = {first} to {steps} step {step} iter_args({', '.join(f'%{n} = {init}' for n, _, init in carried)}) -> ({', '.join(kinds)}) {{
{body}
  scf.yield {', '.join(f'%next_{n}' for n, _, _ in carried)} : {', '.join(kinds)}
}}
return {', '.join(f'%r#{i}' for i in chosen)} : {', '.join(kinds[i] for i in chosen)}"""
    return Program(name, function(name, arguments, [kinds[i] for i in chosen], text))


def averages(element, n, name):
    """A state of numbers, and a sequence that begins as the caller's."""
    h, x = tensor(n, element), tensor(9, n, element)
    size = "%n" if n == "?" else n
    before = f"%n = tensor.dim %x, %c1 : {x}\n" * (n == "?") + f"%e = tensor.empty({'%n' * (n == '?')}) : {h}\n"
    body = f"""%part = tensor.extract_slice %x[%t, 0] [1, {size}] [1, 1] : {x} to {h}
{generic('next_h', h, 'n', [('%h', h, 'n'), ('%part', h, 'n')], arithmetic(element, 'add %x0 %x1', 'sub %t0 %x1', 'add %t1 %x1'))}
%next_y = tensor.insert_slice %next_h into %y[%t, 0] [1, {size}] [1, 1] : {h} into {x}"""
    return loop(name, {"x": x, "y0": x, "h0": h}, [("h", h, "%h0"), ("y", x, "%y0")], body, before=before)


def selective(name, n, k, element="f64"):
    """A state of a few numbers for each column, with a sum of them for each step; what decays is computed in front."""
    h, x, w, y, row = tensor(n, k, element), tensor(9, n, k, element), tensor(9, k, element), tensor(9, n, element), tensor(n, element)
    before = f"""%e = tensor.empty() : {h}
%all = tensor.empty() : {x}
%none = arith.constant {zero(element)} : {element}
%rows = tensor.empty() : {row}
%y0 = tensor.empty() : {y}
{generic('d', x, 'tnk', [('%x', x, 'tnk')], arithmetic(element, 'mul %x0 %x0', 'add %t0 %x0'), into='%all')}
"""
    body = f"""%part = tensor.extract_slice %d[%t, 0, 0] [1, {n}, {k}] [1, 1, 1] : {x} to {h}
{generic('next_h', h, 'nk', [('%h', h, 'nk'), ('%part', h, 'nk')], arithmetic(element, 'sub %x0 %x1', 'add %t0 %x1', 'add %t1 %x1'))}
%c = tensor.extract_slice %w[%t, 0] [1, {k}] [1, 1] : {w} to {tensor(k, element)}
%start = linalg.fill ins(%none : {element}) outs(%rows : {row}) -> {row}
{generic('sum', row, 'nk', [('%next_h', h, 'nk'), ('%c', tensor(k, element), 'k')], arithmetic(element, 'mul %x0 %x1', 'add %acc %t0'), 'k', '%start')}
%next_y = tensor.insert_slice %sum into %y[%t, 0] [1, {n}] [1, 1] : {row} into {y}"""
    return loop(name, {"x": x, "w": w, "h0": h}, [("h", h, "%h0"), ("y", y, "%y0")], body, before=before)


def exchanged(name, first, second):
    """Two states; what each becomes is given."""
    h, x = tensor(5, 2, "f64"), tensor(9, 5, 2, "f64")
    before = f"%e = tensor.empty() : {h}\n%w = arith.constant dense<[[0.5, 0.25], [-0.25, 0.5]]> : {tensor(2, 2, 'f64')}\n%none = arith.constant 0.0 : f64\n"
    body = f"""%part = tensor.extract_slice %x[%t, 0, 0] [1, 5, 2] [1, 1, 1] : {x} to {h}
%start = linalg.fill ins(%none : f64) outs(%e : {h}) -> {h}
{generic('turned', h, 'nck', [('%a', h, 'nk'), ('%w', tensor(2, 2, 'f64'), 'kc')], arithmetic('f64', 'mul %x0 %x1', 'add %acc %t0'), 'k', '%start')}
{generic('mixed', h, 'nc', [('%a', h, 'nc'), ('%part', h, 'nc')], arithmetic('f64', 'mul %x0 %x1', 'add %t0 %x1'))}
{generic('late', h, 'nc', [('%b', h, 'nc'), ('%mixed', h, 'nc')], arithmetic('f64', 'sub %x0 %x1', 'mul %t0 %x0'))}
%flat = tensor.collapse_shape %b [[0, 1]] : {h} into {tensor(10, 'f64')}
%back = tensor.expand_shape %flat [[0, 1]] output_shape [5, 2] : {tensor(10, 'f64')} into {h}"""
    for state, value in (("a", first), ("b", second)):
        if value == "sum":
            body += "\n" + generic(f"next_{state}", h, "nc", [("%a", h, "nc"), ("%b", h, "nc")], arithmetic("f64", "add %x0 %x1"))
        else:
            body = body.replace(f"%{value} =", f"%next_{state} =").replace(f"%{value} ", f"%next_{state} ").replace(f"%{value},", f"%next_{state},") \
                if value not in ("a", "b") else body + "\n" + generic(f"next_{state}", h, "nc", [(f"%{value}", h, "nc")], "  %half = arith.constant 0.5 : f64\n" + arithmetic("f64", "mul %x0 %half"))
    return loop(name, {"x": x, "a0": h, "b0": h}, [("a", h, "%a0"), ("b", h, "%b0")], body, before=before)


def backwards(name, offset, steps, step="%c1", first="%c0"):
    """Parts and sequences at positions that are computed from the step."""
    h, x = tensor(6, "f32"), tensor(18, 6, "f32")
    body = f"""%at = {offset} : index
%part = tensor.extract_slice %x[%at, 0] [1, 6] [1, 1] : {x} to {h}
{generic('next_h', h, 'n', [('%h', h, 'n'), ('%part', h, 'n')], arithmetic('f32', 'mul %x0 %x1', 'sub %t0 %x1'))}
%next_y = tensor.insert_slice %next_h into %y[%at, 0] [1, 6] [1, 1] : {h} into {x}"""
    return loop(name, {"x": x, "y0": x, "h0": h}, [("h", h, "%h0"), ("y", x, "%y0")], body, steps, step, first, f"%e = tensor.empty() : {h}\n")


def reads_start(name, written):
    """What a sequence begins with is read by later steps as it was."""
    h, x = tensor(6, "f64"), tensor(18, 6, "f64")
    body = f"""%at = arith.addi %t, {written} : index
%part = tensor.extract_slice %whole[%t, 0] [1, 6] [1, 1] : {x} to {h}
{generic('next_h', h, 'n', [('%h', h, 'n'), ('%part', h, 'n')], arithmetic('f64', 'mul %x0 %x1', 'sub %x1 %t0'))}
%next_y = tensor.insert_slice %next_h into %y[%at, 0] [1, 6] [1, 1] : {h} into {x}"""
    before = f"%e = tensor.empty() : {h}\n%ex = tensor.empty() : {x}\n" + generic("whole", x, "tn", [("%x", x, "tn")], arithmetic("f64", "mul %x0 %x0"), into="%ex")
    return loop(name, {"x": x, "h0": h}, [("h", h, "%h0"), ("y", x, "%whole")], body, "%c9", before=before)


def turned(name):
    """A sequence of transposed parts, every second column of it."""
    h, y = tensor(6, 3, "f64"), tensor(3, 12, 9, "f64")
    body = f"""{generic('next_h', h, 'nc', [('%h', h, 'nc')], arithmetic('f64', 'mul %x0 %x0', 'sub %t0 %x0'))}
%et = tensor.empty() : {tensor(3, 6, 'f64')}
%across = linalg.transpose ins(%next_h : {h}) outs(%et : {tensor(3, 6, 'f64')}) permutation = [1, 0]
%next_y = tensor.insert_slice %across into %y[0, 1, %t] [3, 6, 1] [1, 2, 1] : {tensor(3, 6, 'f64')} into {y}"""
    return loop(name, {"y0": y, "h0": h}, [("h", h, "%h0"), ("y", y, "%y0")], body, before=f"%e = tensor.empty() : {h}\n")


def meeting(name):
    """Every step needs the largest of all columns."""
    h, one = tensor(6, "f64"), "tensor<f64>"
    before = f"%e = tensor.empty() : {h}\n%e0 = tensor.empty() : {one}\n%low = arith.constant -1.0e30 : f64\n"
    body = f"""%start = linalg.fill ins(%low : f64) outs(%e0 : {one}) -> {one}
{generic('most', one, 'n', [('%h', h, 'n')], arithmetic('f64', 'maximum %acc %x0'), 'n', '%start')}
{generic('next_h', h, 'n', [('%h', h, 'n'), ('%most', one, '')], arithmetic('f64', 'sub %x1 %x0', 'sub %t0 %x0'))}"""
    return loop(name, {"h0": h}, [("h", h, "%h0")], body, before=before)


def programs():
    for element in ("f64", "f32", "i32"):
        yield averages(element, 6, f"columns_{element}")
    yield averages("f64", "?", "columns_dynamic")
    yield selective("columns_selective", 6, 4)
    yield selective("columns_of_many", 3, 16, "f32")
    for first, second in (("sum", "mixed"), ("b", "mixed"), ("turned", "a"), ("late", "sum"), ("b", "a"), ("mixed", "late"), ("back", "turned")):
        yield exchanged(f"columns_{first}_{second}", first, second)
    yield backwards("columns_backwards", "arith.subi %c17, %t", "%c18")
    yield backwards("columns_shifted", "arith.addi %t, %c3", "%c9")
    yield backwards("columns_second_steps", "arith.addi %t, %c1", "%c17", "%c2")
    yield backwards("columns_from_two", "arith.subi %c9, %t", "%c9", "%c1", "%c2")
    yield backwards("columns_no_step", "arith.addi %t, %c1", "%c2", "%c1", "%c3")
    yield reads_start("columns_reads_start", "%c1")
    yield reads_start("columns_reads_start_late", "%c9")
    yield turned("columns_turned")
    yield meeting("columns_that_meet")
