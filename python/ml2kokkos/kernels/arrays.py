"""Whole arrays: views of parameters, elementwise expressions with broadcasting."""

import ast
import math

from .problems import Restart
from .values import Array, Const, Index, Memory, Scalar, gathered
from .text import Linear
from .types import REAL, memory_type


class Arrays:
    """Mixed into the compiler."""

    def view_of(self, memory):
        return self.view(memory, [(Linear(), 1)] * len(memory.shape), memory.shape)

    def view(self, memory, spans, shape):
        def subscripts(at):
            left = iter(at)
            return [start if step is None else start.plus(next(left).times(step)) for start, step in spans]

        def element(at, hint=None):
            forms = subscripts(at)
            stored = self.w.stored(memory.name, forms)
            if stored is not None:
                self.accessed(memory, forms, False)
                return Scalar(stored, memory.kind)
            self.w.effects += not self.is_inside(memory, forms)
            self.accessed(memory, forms, False)
            where = [self.w.index(form) for form in forms]
            if memory.kind in REAL:
                return self.load_parts(memory, where, hint)
            return Scalar(self.w.value(f"memref.load {memory.name}[{', '.join(where)}] : {memory.type}", hint), memory.kind)

        made = Array(shape, memory.kind, element, [], memory, spans)
        made.reads, made.subscripts = [made], subscripts
        return made

    def store(self, view, at, value):
        self.w.effects += 1
        name, forms = self.as_kind(value, view.kind), view.subscripts(at)
        self.accessed(view.memory, forms, True)
        where, lines = [self.w.index(form) for form in forms], []
        for place, part in enumerate(self.flat([name])):
            at = [*where, self.w.constant(place, "index")] if view.kind in REAL else where
            lines.append(f"memref.store {part}, {view.memory.name}[{', '.join(at)}] : {view.memory.type}")
        is_rounded = view.kind in ("f16", "bf16") # where it lies
        self.w.store(view.memory.name, forms, None if is_rounded else name, lines)

    def is_inside(self, memory, forms):
        """Whether an element lies between others that have been touched here for certain, so that it may always be read."""
        before = [touched for known in self.w.known for touched in known.get(("touched", memory.name), ())]

        def between(place, form):
            distances = [own[place].constant - form.constant for own in before if own[place].terms == form.terms]
            return any(distance <= 0 for distance in distances) and any(distance >= 0 for distance in distances)

        return all(between(place, form) for place, form in enumerate(forms))

    def accessed(self, memory, forms, is_store):
        """Notes which elements are touched: in kk.parallel those of each iteration for certain."""
        self.w.known[-1].setdefault(("touched", memory.name), []).append(forms)
        if self.declared and not self.guarded and memory.depth < self.depth:
            self.accesses.append((memory, forms, is_store, self.node))

    # --- Subscripts ---

    def bound(self, value, extent, otherwise):
        if value is None:
            return otherwise
        form = self.index_of(value)
        if form.is_constant and form.constant < 0:
            return extent.plus(form)
        least = self.w.least(form)
        of_loop = len(form.terms) == 1 and not any(
            atom in self.sizes.values() or atom in self.w.begins_later for atom in form.terms) # of sizes forward() asks
        if least is not None and least < 0 and not self.guarded and of_loop:
            raise self.problem("the position is negative in the first iteration; only constants count from the end")
        return form

    def subscript(self, array, node):
        """The part of an array that subscripts choose; of an expression one that computes its elements when it is asked for them."""
        parts = self.subscript_parts(array, node)
        chosen, shape, new, extents = [], [], [], iter(array.shape)
        for part in parts:
            if part is None:
                new.append(len(shape))
                shape.append(Linear(1))
                continue
            extent = next(extents)
            if isinstance(part, ast.Slice):
                start, stop, step = (self.expression(bound) if bound else None for bound in (part.lower, part.upper, part.step))
                stride = 1 if step is None else self.known_int(step, "the step of a slice")
                if stride == 0:
                    raise self.problem("the step of a slice is 0")
                first, behind = (Linear(), extent) if stride > 0 else (extent.plus(Linear(-1)), Linear(-1))
                begin, end = self.bound(start, extent, first), self.bound(stop, extent, behind)
                chosen.append((begin, stride))
                shape.append(self.ceil_divided(end.plus(begin, -1) if stride > 0 else begin.plus(end, -1), abs(stride)))
            else:
                chosen.append((self.bound(part, extent, None), None))
        own = [extent for place, extent in enumerate(shape) if place not in new]
        is_view = array.memory is not None and all(stride is None or stride > 0 for _, stride in chosen)
        view = self.part_of_view(array, chosen, own) if is_view else self.part_of_expression(array, chosen, own)
        return self.with_new_axes(view, shape, new) if new else view

    def subscript_parts(self, array, node):
        """A slice or a value for each dimension, None for one that is new."""
        parts = []
        for part in node.elts if isinstance(node, ast.Tuple) else [node]:
            if isinstance(part, ast.Slice) or isinstance(part, ast.Constant) and part.value is ...:
                parts.append(part)
            else:
                value = self.expression(part)
                if isinstance(value, Array):
                    raise self.problem("an array does not choose elements here; use kk.where, or a loop with if")
                parts.append(None if isinstance(value, Const) and value.value is None else value)
        count = sum(part is not None and not isinstance(part, ast.Constant) for part in parts)
        if count > len(array.shape):
            raise self.problem(f"an array of {len(array.shape)} dimensions has {count} subscripts")
        place = next((place for place, part in enumerate(parts) if isinstance(part, ast.Constant)), len(parts))
        if any(isinstance(part, ast.Constant) for part in parts[place + 1:]):
            raise self.problem("... stands once in a subscript")
        return parts[:place] + [ast.Slice()] * (len(array.shape) - count) + parts[place + 1:]

    def part_of_view(self, array, chosen, shape):
        inner, spans = iter(chosen), []
        for start, step in array.spans:
            if step is None:
                spans.append((start, None))
            else:
                begin, stride = next(inner)
                spans.append((start.plus(begin.times(step)), None if stride is None else step * stride))
        return self.view(array.memory, spans, shape)

    def part_of_expression(self, array, chosen, shape):
        def element(at):
            left = iter(at)
            return array.at([begin if stride is None else begin.plus(next(left).times(stride)) for begin, stride in chosen])

        return Array(shape, array.kind, element, gathered(array.reads), gathers=True, cheap=array.memory is not None or array.cheap, sums=array.sums)

    def computed_once(self, array):
        """What is a loop for each element is stored before it is spread over more than its own elements."""
        is_kept = not self.depth or all(extent.is_constant for extent in array.shape) or self.room_for(array.shape, array.reads)
        return self.copied(array, "totals", self.comment(self.statement)) if array.sums and is_kept else array

    def with_new_axes(self, array, shape, new):
        """x[:, None]: dimensions of one element, along which the rest of an expression spreads it."""
        array = self.computed_once(array)

        def element(at):
            return array.at([form for place, form in enumerate(at) if place not in new])

        return Array(shape, array.kind, element, gathered(array.reads), gathers=True, cheap=array.memory is not None or array.cheap)

    def written_part(self, array, node):
        """What an assignment to subscripts changes."""
        view = self.subscript(array, node)
        if view.memory is None:
            raise self.problem("only elements of parameters and of local arrays can be assigned, not of an expression, a transposed or a reversed array")
        return view

    def ceil_divided(self, form, step):
        if step == 1:
            return form
        moved = form.plus(Linear(step - 1))
        if moved.is_constant:
            return Linear(moved.constant // step)
        # A size, so that arrays in front of loops may have it; what is below 0 has no elements, whichever way it is rounded
        x, y = moved, Linear(step)
        return Linear(0, {self.w.once(("FloorDiv", x, y), lambda: self.index_atom("FloorDiv", x, y)): 1})

    # --- Elementwise ---

    def broadcast(self, arrays):
        rank = max(len(array.shape) for array in arrays)
        shape = [Linear(1)] * rank
        for array in arrays:
            for place, extent in enumerate(array.shape, rank - len(array.shape)):
                if shape[place] == Linear(1):
                    shape[place] = extent
                elif extent != Linear(1):
                    self.same_extent(shape[place], extent)
        return shape

    def same_extent(self, a, b):
        if a == b:
            return
        if a.is_constant and b.is_constant or a.terms == b.terms:
            raise self.problem("the shapes of the arrays differ")
        difference = a.plus(b, -1)
        names = [self.size_named(atom) for atom in difference.terms]
        factors = sorted(difference.terms.values())
        extent = difference.constant * -difference.terms.get(next(iter(difference.terms), None), 0)
        if None not in names and len(names) == 1 and abs(factors[0]) == 1 and extent > 0:
            self.merged[names[0]] = extent
            raise Restart
        if difference.constant or None in names or factors != [-1, 1]:
            self.w.equal(a, b, "the shapes of the arrays differ") # as of slices with steps
            return
        self.merged[names[1]] = names[0]
        raise Restart

    def size_named(self, atom):
        """The size that an atom is, if it is one."""
        return next((name for name, own in self.sizes.items() if own == atom and self.same_size(name) == name), None)

    def elementwise(self, compute, values):
        """An array that computes each element when it is asked for it."""
        arrays = [value for value in values if isinstance(value, Array)]
        if not arrays:
            return compute(*values)
        shape = self.broadcast(arrays)
        values = [self.computed_once(value) if isinstance(value, Array) and value.shape != shape else value for value in values]
        arrays = [value for value in values if isinstance(value, Array)]

        def element(at):
            return compute(*(self.element(value, at) if isinstance(value, Array) else value for value in values))

        kind, _ = self.kind_of(self.w.trial(lambda: element([Linear(0)] * len(shape))))
        return Array(shape, kind, element, [view for array in arrays for view in array.reads], gathers=any(array.gathers for array in arrays),
                     sums=any(array.sums for array in arrays))

    def element(self, array, at):
        own = at[len(at) - len(array.shape):]
        return array.at([Linear(0) if extent == Linear(1) else form for extent, form in zip(array.shape, own)])

    def transposed(self, array):
        if len(array.shape) < 2:
            return array
        return Array(array.shape[::-1], array.kind, lambda at: array.at(at[::-1]), gathered(array.reads), gathers=True,
                     cheap=array.memory is not None or array.cheap, sums=array.sums)

    # --- Statements ---

    def over(self, shape, write, text):
        """Parallel loops over a shape around what write(coordinates) writes."""
        names = [name for place, name in enumerate("ijklmnpq"[:len(shape)])]
        ends = [self.w.index(extent) for extent in shape]
        zero, one = self.w.constant(0, "index"), self.w.constant(1, "index")
        indices = []

        def body():
            for name in names:
                indices.append(self.w.fresh(name))
                self.w.lower[indices[-1]] = 0
            write([Linear(0, {index: 1}) for index in indices])
            self.w.line("scf.reduce")

        if self.declared:
            return self.nested(names, ends, write)
        block, _ = self.w.inside(body)
        count = len(shape)
        self.w.line(f"scf.parallel ({', '.join(indices)}) = ({', '.join([zero] * count)}) to ({', '.join(ends)}) step "
                    f"({', '.join([one] * count)}) {{")
        self.w.block.append(block)
        self.w.line("}" + text)

    def nested(self, names, ends, write, at=()):
        """The same as loops of one thread, where iterations are parallel already."""
        if len(at) == len(names):
            return write(list(at))
        index = []

        def body():
            index.append(self.w.fresh(names[len(at)]))
            self.w.lower[index[0]] = 0
            self.depth += 1
            self.nested(names, ends, write, (*at, Linear(0, {index[0]: 1})))
            self.depth -= 1

        block, _ = self.w.inside(body)
        self.w.line(f"scf.for {index[0]} = {self.w.constant(0, 'index')} to {ends[len(at)]} step {self.w.constant(1, 'index')} {{")
        self.w.block.append(block)
        self.w.line("}")

    def assign_array(self, target, value, text):
        if isinstance(value, Array):
            if len(value.shape) > len(target.shape):
                raise self.problem("the value has more dimensions than its target")
            self.broadcast([target, value])
            if value.shape != target.shape:
                value = self.computed_once(value)
            for mine, own in zip(target.shape[len(target.shape) - len(value.shape):], value.shape):
                if mine == Linear(1) and own != Linear(1):
                    raise self.problem("the shapes of the arrays differ")
            if any(self.meets(target, view) for view in value.reads):
                value = self.copied(value, None, like=[target])
        if not target.shape:
            return self.store(target, [], value)
        self.over(target.shape, lambda at: self.store(target, at, self.element(value, at) if isinstance(value, Array) else value), text)

    def meets(self, target, view):
        """Whether an assignment to `target` may change what other elements still have to read of `view`."""
        if view.memory is not target.memory or not view.gathers and view.spans == target.spans and view.shape == target.shape:
            return False
        ends = [self.ends_of(one) for one in (target, view)]
        return not any(self.is_above(a[0], b[1]) or self.is_above(b[0], a[1]) for a, b in zip(*ends)) and \
            not any(self.are_between(a, b) for a, b in zip(target.spans, view.spans))

    @staticmethod
    def are_between(a, b):
        """Positions of one dimension that steps keep apart, such as odd ones and even ones."""
        common, difference = math.gcd(a[1] or 0, b[1] or 0), a[0].plus(b[0], -1)
        return common > 1 and difference.constant % common != 0 and all(factor % common == 0 for factor in difference.terms.values())

    @staticmethod
    def ends_of(view):
        """The first and the last position in each dimension of the memory."""
        extents = iter(view.shape)
        return [(start, start if step is None else start.plus(next(extents).plus(Linear(-1)).times(step))) for start, step in view.spans]

    def is_above(self, a, b):
        least = self.w.least(a.plus(b, -1))
        return least is not None and least > 0

    def local_array(self, kind, shape, hint, like=()):
        """`like`: views that have as many elements, or parts of what has."""
        if self.depth and any(not extent.is_constant for extent in shape):
            return self.array_in_front(kind, shape, hint, like)
        sizes = [self.w.index(extent) for extent in shape if not extent.is_constant]
        type = self.type_of(kind, shape)
        name = self.w.value(f"memref.{'alloca' if self.depth else 'alloc'}({', '.join(sizes)}) : {type}", hint)
        return self.view_of(Memory(name, kind, shape, type, self.depth))

    @staticmethod
    def type_of(kind, shape):
        return memory_type("".join(f"{extent.constant if extent.is_constant else '?'}x" for extent in shape), kind)

    def array_in_front(self, kind, shape, hint, like):
        """An array of each iteration that all of them share: they run in order."""
        room = self.room_for(shape, like)
        if room is None:
            raise self.problem("iterations of kk.parallel cannot share an array; give it a known size, or make it in front of the loop and "
                               "give each iteration a part" if self.declared else
                               "how large this array may become cannot be seen in front of the loop; make it there")
        type = self.type_of(kind, room)

        def write(name):
            sizes = [self.w.index(extent) for extent in room if not extent.is_constant]
            self.w.line(f"{name} = memref.alloc({', '.join(sizes)}) : {type}")

        memory = Memory(self.w.in_front(write, hint), kind, room, type)
        return self.view(memory, [(Linear(), 1)] * len(shape), shape)

    def room_for(self, shape, like):
        """Sizes that are known in front of the outermost loop and are enough for `shape`; None if that cannot be seen."""
        if self.declared:
            return None
        room = []
        for extent in shape:
            enough = [extent] if self.w.is_in_front(extent) else []
            for view in like:
                whole = [size for size, (_, step) in zip(view.memory.shape, view.spans) if step is not None]
                enough += [size for size, own in zip(whole, view.shape) if own == extent and self.w.is_in_front(size)]
            if not enough:
                return None
            room.append(enough[0])
        return room

    def copied(self, value, hint, text="", like=()):
        made = self.local_array(value.kind, value.shape, hint, [*like, *value.reads])
        self.over(value.shape, lambda at: self.store(made, at, value.at(at)), text)
        return made
