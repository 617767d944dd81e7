"""Contractions and scans: a @ b, kk.einsum, kk.scan."""

import ast

from .reductions import CARRIED, JOINS, neutral
from .text import Linear
from .types import REAL, is_float
from .values import Array, Const, Index, Scalar, gathered


class Contractions:
    """Mixed into the compiler."""

    def operand(self, value, what):
        """Something whose elements are loaded, not computed again for each term."""
        if not isinstance(value, Array) or not value.shape:
            raise self.problem(what)
        return self.copied(value, None) if value.memory is None and not value.cheap else value

    def product(self, a, b):
        """a @ b of vectors and matrices, its terms joined in any order."""
        takes = "@ takes vectors and matrices"
        a, b = self.operand(a, takes), self.operand(b, takes)
        if len(a.shape) > 2 or len(b.shape) > 2:
            raise self.problem(takes)
        rows, columns = "i" * (len(a.shape) - 1), "j" * (len(b.shape) - 1)
        return self.contracted([(a, rows + "k"), (b, "k" + columns)], rows + columns)

    def contracted(self, operands, output):
        """The sums over the letters that `output` does not have of the products of elements."""
        extents = {}
        for array, letters in operands:
            for letter, extent in zip(letters, array.shape):
                self.same_extent(extents.setdefault(letter, extent), extent)
        summed = [letter for letter in extents if letter not in output]

        def term(at):
            found = None
            for array, letters in operands:
                own = array.at([at[letter] for letter in letters])
                found = own if found is None else self.binary("Mult", found, own)
            return found

        def element(at):
            known = dict(zip(output, at))
            if not summed:
                return term(known)
            spans = [(Linear(0), extents[letter]) for letter in summed]
            return self.reduced("sum", spans, lambda k: (term({**known, **dict(zip(summed, k))}), None), bool(output), summed)

        if not output:
            return element([])
        kind, _ = self.common(*(Scalar("", array.kind) for array, _ in operands))
        return Array([extents[letter] for letter in output], kind, element, gathered(view for array, _ in operands for view in array.reads), gathers=True,
                     sums=bool(summed))

    def einsum(self, arguments):
        takes = 'kk.einsum takes subscripts and arrays, as in kk.einsum("ik,kj->ij", a, b)'
        if not arguments or not isinstance(arguments[0], Const) or not isinstance(arguments[0].value, str):
            raise self.problem(takes)
        inputs, arrow, output = arguments[0].value.replace(" ", "").partition("->")
        inputs = inputs.split(",")
        if len(inputs) != len(arguments) - 1 or not all(letters.isalpha() for letters in inputs) or not (output.isalpha() or not output):
            raise self.problem(takes)
        operands = [(self.operand(value, takes), letters) for value, letters in zip(arguments[1:], inputs)]
        for array, letters in operands:
            if len(letters) != len(array.shape):
                raise self.problem(f'"{letters}" has {len(letters)} subscripts, the array {len(array.shape)} dimensions')
        if not arrow: # as NumPy has it: letters that stand once, in alphabetical order
            every = "".join(inputs)
            output = "".join(sorted(letter for letter in set(every) if every.count(letter) == 1))
        if len(set(output)) != len(output) or not set(output) <= set("".join(inputs)):
            raise self.problem(f'"{output}" has a letter twice, or one that no operand has')
        return self.contracted(operands, output)

    # --- Scans ---

    def scan(self, node, target=None):
        """Running sums and their like along one axis: a new array, or `target`."""
        takes = 'kk.scan takes an array, how="sum", "prod", "min" or "max", and axis='
        named = {keyword.arg: self.expression(keyword.value) for keyword in node.keywords}
        if len(node.args) != 1 or not set(named) <= {"how", "axis"}:
            raise self.problem(takes)
        is_generator = isinstance(node.args[0], ast.GeneratorExp)
        value = self.generated(node.args[0]) if is_generator else self.expression(node.args[0])
        how = named["how"].value if isinstance(named.get("how"), Const) else None if "how" in named else "sum"
        if not isinstance(value, Array) or not value.shape or how not in ("sum", "prod", "min", "max"):
            raise self.problem(takes)
        if value.kind in REAL:
            raise self.problem("kk.scan takes no complex numbers")
        if value.kind == "i1":
            raise self.problem("booleans have no running sums; convert them")
        axis = self.known_int(named["axis"], "axis") if "axis" in named else -1
        if not -len(value.shape) <= axis < len(value.shape):
            raise self.problem(f"the array has no axis {axis}")
        meets = target is not None and (is_generator or target.kind != value.kind or
                                        any(self.meets(target, view) for view in value.reads))
        if target is None or meets:
            made = self.local_array(value.kind, value.shape, self.hint, value.reads)
        else:
            made = target
            if len(self.broadcast([made, value])) != len(value.shape):
                raise self.problem("the value has other dimensions than its target")
        self.scan_into(made, value, how, axis % len(value.shape))
        return made

    def scan_into(self, target, value, how, axis):
        self.hint = None
        extent, kind = value.shape[axis], value.kind
        outer = value.shape[:axis] + value.shape[axis + 1:]
        join = f"arith.{self.by_sign(JOINS[how][0 if is_float(kind) else 1], kind)}"
        order = " fastmath<reassoc>" * (how == "sum" and is_float(kind)) # as of kk.sum: threads begin with sums of parts

        def along(at):
            first = neutral(how, kind)
            start = self.w.constant(float(first) if is_float(kind) else first, kind)
            heading = []

            def body():
                name, carried = self.w.fresh("k"), self.w.fresh(CARRIED[how])
                self.w.lower[name] = 0
                heading[:] = [name, carried]
                place = [*at[:axis], Linear(0, {name: 1}), *at[axis:]]
                self.depth += 1
                joined = self.w.value(f"{join} {carried}, {self.as_kind(value.at(place), kind)}{order} : {kind}")
                self.store(target, place, Scalar(joined, kind))
                self.depth -= 1
                self.w.line(f"scf.yield {joined} : {kind}")

            zero, one, upper = self.w.constant(0, "index"), self.w.constant(1, "index"), self.w.index(extent)
            block, _ = self.w.inside(body)
            self.w.effects += 1
            self.w.line(f"{self.w.fresh()} = scf.for {heading[0]} = {zero} to {upper} step {one} iter_args({heading[1]} = {start}) -> ({kind}) {{")
            self.w.block.append(block)
            self.w.line("}" + ("" if outer else self.comment(self.statement)))

        if not outer:
            return along([])
        self.over(outer, along, self.comment(self.statement))

    def generated(self, node):
        """The array of a generator's terms."""
        part = node.generators[0]
        if len(node.generators) != 1 or part.ifs or part.is_async or not isinstance(part.target, ast.Name) or \
                not isinstance(part.iter, ast.Call) or self.callee(part.iter.func) != "range":
            raise self.problem("kk.scan takes one loop over kk.range, without a condition")
        begin, end, step = self.range_bounds(part.iter)
        if step != 1:
            raise self.problem("kk.range in a generator has step 1")
        outer = dict(self.scope)

        def element(at):
            with self.inner_scope({**outer, part.target.id: Index(begin.plus(at[0]))}):
                return self.expression(node.elt)

        def measured():
            name = self.w.fresh("k")
            self.w.lower[name] = 0
            return self.kind_of(element([Linear(0, {name: 1})]))[0]

        return Array([end.plus(begin, -1)], self.w.trial(measured), element, gathers=True)
