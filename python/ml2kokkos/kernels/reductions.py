"""Sums, maxima, positions of them: over generators and over arrays.

Outside of kk.parallel, scf.parallel: terms may be joined in any order. In its iterations a loop of one thread."""

import ast
import contextlib

from .values import Array, Const, Index, Scalar, gathered
from .text import Linear
from .types import REAL, UNSIGNED, is_float, is_unsigned, range_of

CARRIED = {"sum": "total", "prod": "product", "min": "smallest", "max": "largest", "any": "found", "all": "holds"}
JOINS = {"sum": ("addf", "addi", "ori"), "prod": ("mulf", "muli", "andi"), "min": ("minimumf", "minsi", "andi"),
         "max": ("maximumf", "maxsi", "ori"), "any": ("", "", "ori"), "all": ("", "", "andi")}


PIECE, GROUP = 512, 256 # terms of which a position is looked for at once; pieces, likewise


def neutral(how, kind):
    """What changes nothing: the result where there are no terms."""
    if how in ("sum", "any"):
        return 0
    if how in ("prod", "all"):
        return 1
    sign = 1 if how == "min" else -1
    if is_float(kind):
        return sign * float("inf")
    return range_of(kind)[how == "min"]


def is_plain(span, outer):
    """Whether bounds are sizes and numbers, which may be computed though no iteration asks for them, and need no index of `outer`."""
    def may_stand(node):
        if isinstance(node, ast.Name):
            return node.id not in outer
        if isinstance(node, ast.Subscript): # of a shape
            return isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
        if isinstance(node, ast.Call):
            return isinstance(node.func, ast.Name) and node.func.id == "len"
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.FloorDiv, ast.Mod)):
            return isinstance(node.right, ast.Constant) and node.right.value != 0
        return True

    return all(may_stand(node) for part in span.args for node in ast.walk(part))


class Reductions:
    """Mixed into the compiler."""

    def reduction(self, how, node):
        axis = [keyword for keyword in node.keywords if keyword.arg == "axis"]
        if len(node.args) != 1 or len(axis) != len(node.keywords):
            raise self.problem(f"kk.{how} takes a generator or an array" + (", and axis=" if how in ("sum", "prod", "min", "max") else ""))
        if isinstance(node.args[0], ast.GeneratorExp):
            if axis:
                raise self.problem("axis= is for arrays")
            return self.of_generator(how, node.args[0])
        value = self.expression(node.args[0])
        if not isinstance(value, Array) or not value.shape:
            raise self.problem(f"kk.{how} takes a generator or an array")
        if how.startswith("arg"):
            if len(value.shape) != 1 or axis:
                raise self.problem(f"kk.{how} takes an array of one dimension")
            return self.position(how, [(Linear(0), value.shape[0])], lambda at: (value.at(at), None))
        if axis:
            return self.along(how, value, self.known_int(self.expression(axis[0].value), "axis"))
        return self.reduced(how, [(Linear(0), extent) for extent in value.shape], lambda at: (value.at(at), None))

    def along(self, how, array, axis):
        """A reduction of one dimension: an array that sums when an element is asked for."""
        rank = len(array.shape)
        if not -rank <= axis < rank or how in ("any", "all"):
            raise self.problem(f"kk.{how} has no axis {axis} here")
        axis %= rank
        shape = array.shape[:axis] + array.shape[axis + 1:]

        def element(at):
            return self.reduced(how, [(Linear(0), array.shape[axis])], lambda k: (array.at([*at[:axis], *k, *at[axis:]]), None), True)

        if not shape:
            return element([])
        kind, _ = self.kind_of(self.w.trial(lambda: element([Linear(0)] * len(shape))))
        return Array(shape, kind, element, gathered(array.reads), gathers=True, sums=True)

    # --- Generators ---

    def of_generator(self, how, node):
        spans, names = [], []
        for part in node.generators:
            if part.is_async or not isinstance(part.iter, ast.Call) or self.callee(part.iter.func) != "range" or \
                    not isinstance(part.target, ast.Name):
                raise self.problem("generators run over kk.range")
            names.append(part.target.id)
            spans.append(part.iter)
        outer = dict(self.scope)
        if how.startswith("arg") and (len(spans) != 1 or node.generators[0].ifs or len(spans[0].args) != 1):
            raise self.problem(f"kk.{how} takes one loop over kk.range(n), without a condition")

        def bounds(place, at):
            """Of loop `place`, inside those in front of it."""
            with self.inner_scope({**outer, **{name: Index(form) for name, form in zip(names, at)}}):
                self.node = spans[place]
                begin, end, step = self.range_bounds(spans[place])
            if step != 1:
                raise self.problem("kk.range in a generator has step 1")
            return begin, end

        def term(at):
            with self.inner_scope({**outer, **{name: Index(form) for name, form in zip(names, at)}}):
                tests = [self.expression(test) for part in node.generators for test in part.ifs]
                test = None
                for other in tests:
                    test = other if test is None else self.both(test, other)
                self.node = node.elt
                if test is None or isinstance(test, Const) and test.value:
                    return self.expression(node.elt), None
                return (lambda: inside(at)), test

        def inside(at):
            with self.inner_scope({**outer, **{name: Index(form) for name, form in zip(names, at)}}):
                return self.expression(node.elt)

        if how.startswith("arg"):
            return self.position(how, [bounds(0, [])], term, names)
        if all(is_plain(span, names[:place]) for place, span in enumerate(spans)):
            return self.reduced(how, [bounds(place, []) for place in range(len(spans))], term, names=names)
        return self.reduced(how, [lambda at, place=place: bounds(place, at) for place in range(len(spans))], term, names=names)

    @contextlib.contextmanager
    def inner_scope(self, scope=None):
        kept, node = self.scope, self.node
        self.scope = dict(kept) if scope is None else scope
        try:
            yield
        finally:
            self.scope, self.node = kept, node

    # --- Loops ---

    def reduced(self, how, spans, term, serial=False, names=None, start=None):
        """spans: (begin, end) by loop, or what gives them from the indices outside; term(indices): value and condition;
        start: what is joined to them, the name of a value."""
        hint, self.hint = self.hint, None
        if self.declared:
            serial = True
        names = names or list("ijklmnpq"[:len(spans)]) if len(spans) > 1 else names or ["k" if serial else "i"]

        def span(place, at):
            return spans[place](at) if callable(spans[place]) else spans[place]

        def value(at, kind=None):
            found, test = term(at)
            if test is None:
                return found if kind is None else self.as_kind(found, kind)
            if kind is None:
                return found()
            nothing = Const(float(neutral(how, kind)) if is_float(kind) else bool(neutral(how, kind)) if kind == "i1" else neutral(how, kind))
            start = Scalar(self.as_kind(nothing, kind), kind) if kind in REAL else Scalar(self.w.constant(nothing.value, kind), kind)
            return self.as_kind(self.conditional(Scalar(self.condition(test), "i1"),
                                                 lambda: Scalar(self.as_kind(found(), kind), kind), lambda: start), kind)

        def indexed(at, place, begin):
            name = self.w.fresh(names[place])
            self.w.begin_loop(name, begin)
            return name, [*at, Linear(0, {name: 1})]

        def kind_at(at=(), place=0):
            if place == len(spans):
                return self.kind_of(value(list(at)))
            _, inner = indexed(at, place, span(place, list(at))[0])
            return self.w.inside(lambda: kind_at(inner, place + 1))[1]

        found, weak = self.w.trial(kind_at)
        if found in REAL and how not in ("any", "all"):
            if how != "sum":
                raise self.problem(f"kk.{how} of complex numbers is not supported; there is kk.sum")
            if not serial:
                return self.of_parts(*(self.sum_of_part(which, spans, term, names) for which in ("real", "imag")), found, weak)
        kind = REAL[found] if found in REAL else "i1" if how in ("any", "all") else found
        if how in ("sum", "prod") and found not in REAL and not is_float(found):
            kind = UNSIGNED[-1] if is_unsigned(found) else "i64"
        first = neutral(how, kind)
        start = start or self.w.constant(float(first) if is_float(kind) else bool(first) if kind == "i1" else first, kind)
        rounded = how in ("sum", "prod") and is_float(kind)
        join = f"arith.{self.by_sign(JOINS[how][0 if is_float(kind) else 2 if kind == 'i1' else 1], kind)}"

        whole = found if found in REAL else kind
        types = ", ".join(self.flat_kinds([whole]))

        def loops(at, place, carried):
            """scf.for from loop `place` on; the joined value, or its two parts."""
            if place == len(spans):
                terms = self.flat([value(at, whole)])
                joined = [self.w.value(f"{join} {one}, {part}{' fastmath<reassoc>' * rounded} : {kind}")
                          for one, part in zip(self.flat([carried]), terms)]
                return tuple(joined) if whole in REAL else joined[0]
            begin, end = span(place, at)
            lower, upper = self.w.index(begin), self.w.index(end)
            heading = []

            def body():
                name, inner = indexed(at, place, begin)
                heading[:] = [name, self.fresh_value(hint or CARRIED[how], whole)]
                self.depth += 1
                joined = loops(inner, place + 1, heading[1])
                self.depth -= 1
                self.w.line(f"scf.yield {', '.join(self.flat([joined]))} : {types}")

            block, _ = self.w.inside(body)
            result = self.fresh_value(hint or CARRIED[how], whole)
            handed = ", ".join(f"{one} = {first}" for one, first in zip(self.flat([heading[1]]), self.flat([carried])))
            self.w.line(f"{', '.join(self.flat([result]))} = scf.for {heading[0]} = {lower} to {upper} step {self.w.constant(1, 'index')} "
                        f"iter_args({handed}) -> ({types}) {{")
            self.w.block.append(block)
            self.w.line("}")
            return result

        self.w.effects += 1
        if serial:
            return Scalar(loops([], 0, (start, start) if whole in REAL else start), whole, weak)
        # all loops at once where no bound needs the index of another one
        together = len(spans) if all(not callable(one) for one in spans) else 1
        bounds = [span(place, []) for place in range(together)]
        lower, upper = [self.w.index(begin) for begin, _ in bounds], [self.w.index(end) for _, end in bounds]
        indices = []

        def body():
            at = []
            for place, (begin, _) in enumerate(bounds):
                name, at = indexed(at, place, begin)
                indices.append(name)
            self.depth += 1
            joined = value(at, kind) if together == len(spans) else loops(at, together, start)
            self.depth -= 1
            self.w.scopes.append(set())
            a, b, both = self.w.fresh(hint or CARRIED[how]), self.w.fresh(), self.w.fresh()
            self.w.scopes.pop()
            self.w.line(f"scf.reduce({joined} : {kind}) {{")
            self.w.line(f"^bb0({a}: {kind}, {b}: {kind}):")
            self.w.line(f"  {both} = {join} {a}, {b} : {kind}")
            self.w.line(f"  scf.reduce.return {both} : {kind}")
            self.w.line("}")

        block, _ = self.w.inside(body)
        result = self.w.fresh(hint or CARRIED[how])
        one = self.w.constant(1, "index")
        self.w.line(f"{result} = scf.parallel ({', '.join(indices)}) = ({', '.join(lower)}) to ({', '.join(upper)}) step "
                    f"({', '.join([one] * together)}) init ({start}) -> {kind} {{")
        self.w.block.append(block)
        self.w.line("}" + self.comment(self.statement))
        return Scalar(result, kind, weak)

    def sum_of_part(self, which, spans, term, names):
        """Of the real or of the imaginary parts."""
        def part(at):
            found, test = term(at)
            return (self.function(which, [found]), None) if test is None else (lambda: self.function(which, [found()]), test)

        return self.reduced("sum", spans, part, False, names)

    def position(self, how, spans, term, names=None):
        """The first position of the smallest or largest term; a NaN is both, as NumPy has it."""
        kind, _ = self.w.trial(lambda: self.kind_of(term([Linear(0, {self.w.fresh("k"): 1})])[0]))
        if kind == "i1":
            raise self.problem("booleans have no order")
        if not self.depth:
            return self.position_by_pieces(how, kind, *spans[0], term, (names or ["k"])[0])
        begin, end = spans[0]
        if not self.declared and self.is_element(term):
            return self.position_by_extremum(how, kind, (begin, end), term, names)
        found = self.first_best(how, kind, begin, end, (names or ["k"])[0],
                                lambda at: Scalar(self.as_kind(term([at])[0], kind), kind))
        return Index(Linear(0, {found[1]: 1}))

    def first_best(self, how, kind, begin, end, name, term):
        """A loop for the best term and the first place that has it, `begin` without any; names of both."""
        hint, self.hint = self.hint, None
        first = neutral("min" if how == "argmin" else "max", kind)
        start = self.w.constant(float(first) if is_float(kind) else first, kind)
        heading = []

        def body():
            index, best, place = self.w.fresh(name), self.w.fresh("best"), self.w.fresh(hint or "place")
            self.w.lower[index] = 0
            heading[:] = [index, best, place]
            self.depth += 1
            value = term(Linear(0, {index: 1}))
            self.depth -= 1
            old = Scalar(best, kind)
            better = self.compare("Lt" if how == "argmin" else "Gt", value, old)
            if is_float(kind): # as long as no NaN has been found
                better = self.either_of(better, self.both_of(self.is_nan(value), self.compare("Eq", old, old)))
            chosen = self.w.value(f"arith.select {better.name}, {value.name}, {best} : {kind}")
            where = self.w.value(f"arith.select {better.name}, {index}, {place} : index")
            self.w.line(f"scf.yield {chosen}, {where} : {kind}, index")

        lower, upper = self.w.index(begin), self.w.index(end)
        block, _ = self.w.inside(body)
        best, place = self.w.fresh("best"), self.w.fresh(hint or "place")
        self.w.effects += 1
        self.w.line(f"{best}, {place} = scf.for {heading[0]} = {lower} to {upper} step {self.w.constant(1, 'index')} "
                    f"iter_args({heading[1]} = {start}, {heading[2]} = {lower}) -> ({kind}, index) {{")
        self.w.block.append(block)
        self.w.line("}" + self.comment(self.statement))
        self.w.lower[place] = 0
        return best, place

    def is_element(self, term):
        """Whether a term is an element whose neighbour in memory is the next term: it is as soon read twice as carried with its place."""
        def look():
            name = self.w.fresh("k")
            return name, self.w.inside(lambda: term([Linear(0, {name: 1})]))[0]

        name, lines = self.w.trial(look)
        loads = [line for line in lines if isinstance(line, str) and "memref.load" in line]
        others = [line for line in lines if line not in loads and not (isinstance(line, str) and line.rstrip().endswith(": index"))]
        return len(loads) == 1 and not others and f"{name}]" in loads[0]

    def position_by_extremum(self, how, kind, span, term, names):
        """The extremum, then the first place that has it: two reductions, which the lanes of a vector or of a team share."""
        hint, self.hint = self.hint, None
        best = Scalar(self.reduced("min" if how == "argmin" else "max", [span], term, names=names).name, kind)
        behind = self.w.value(f"arith.index_cast {self.w.index(span[1])} : index to i32")

        def place(at):
            value = Scalar(self.as_kind(term(at)[0], kind), kind)
            here = self.compare("Eq", value, best)
            if is_float(kind): # a NaN is the extremum, too
                here = self.either_of(here, self.is_nan(value))
            own = self.w.value(f"arith.index_cast {self.w.index(at[0])} : index to i32")
            return Scalar(self.w.value(f"arith.select {here.name}, {own}, {behind} : i32"), "i32"), None

        self.hint = hint or "place"
        found = self.reduced("min", [span], place, names=names, start=behind)
        first = self.w.value(f"arith.index_cast {found.name} : i32 to index")
        self.w.lower[first] = 0
        return Index(Linear(0, {first: 1}))

    def position_by_pieces(self, how, kind, begin, end, term, name):
        """The extremum of each piece, and of each group of pieces, all at once; the first group that has the best one, the first of
        its pieces, the place there: a few hundred steps of one thread, however many terms there are."""
        hint, self.hint = self.hint, None
        reach = "min" if how == "argmin" else "max"
        parts = lambda count, size: Linear(0, {self.index_atom("FloorDiv", count.plus(Linear(size - 1)), Linear(size)): 1})
        pieces = parts(end.plus(begin, -1), PIECE)
        groups = parts(pieces, GROUP)

        def span(part, first, last, size):
            """Of a part of so many of what lies between first and last."""
            here = first.plus(part, size)
            there = self.w.value(f"arith.minsi {self.w.index(here.plus(Linear(size)))}, {self.w.index(last)} : index")
            return here, Linear(0, {there: 1})

        def extrema_of(parts, size, name, first, last, term, names):
            """An array of them, one for each part."""
            extrema = self.local_array(kind, [parts], f"{CARRIED[reach]}_by_{name}")

            def extremum(at):
                self.depth += 1
                self.store(extrema, at, self.reduced(reach, [span(at[0], first, last, size)], term, True, names))
                self.depth -= 1

            self.over([parts], extremum, self.comment(self.statement))
            return extrema

        of_pieces = extrema_of(pieces, PIECE, "piece", begin, end, term, [name])
        of_groups = extrema_of(groups, GROUP, "group", Linear(), pieces, lambda at: (of_pieces.at(at), None), ["piece"])
        _, group = self.first_best(how, kind, Linear(), groups, "group", lambda at: of_groups.at([at]))
        _, piece = self.first_best(how, kind, *span(Linear(0, {group: 1}), Linear(), pieces, GROUP), "piece", lambda at: of_pieces.at([at]))
        self.hint = hint
        place = self.first_best(how, kind, *span(Linear(0, {piece: 1}), begin, end, PIECE), name,
                                lambda at: Scalar(self.as_kind(term([at])[0], kind), kind))[1]
        return Index(Linear(0, {place: 1}))

    def is_nan(self, value):
        return self.compare("NotEq", value, value)

    def both_of(self, a, b):
        return self.op("arith.andi", "i1", a.name, b.name)

    def either_of(self, a, b):
        return self.op("arith.ori", "i1", a.name, b.name)
