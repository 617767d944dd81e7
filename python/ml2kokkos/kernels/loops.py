"""Loops with the values that they carry, and what iterations that are declared to be independent must not do."""

import ast

from .values import Array, Const, Index, Scalar, Tuple
from .source import assigned
from .text import Linear


class Loops:
    """Mixed into the compiler."""

    def rebound(self, nodes):
        """Names that statements give another value; x += y changes the elements of an array."""
        again = assigned(nodes, augmented=False)
        return {name for name in assigned(nodes) if name in again or not isinstance(self.scope.get(name), Array)}

    def carried_kinds(self, node, body):
        """Locals that an iteration takes from the one before: name and type. Found by trials until the types stay."""
        alive = self.alive.after[node] | self.alive.entry[node]
        names = [name for name in sorted(self.rebound(node.body)) if name in alive and self.scope.get(name) is not None]
        for name in names:
            if isinstance(self.scope[name], Array):
                raise self.problem(f"{name} is an array, which a loop cannot exchange for another one; assign its elements")
        kinds = {name: self.common(self.scope[name]) for name in names}
        key = node, tuple(sorted((name, self.summary(value)) for name, value in self.scope.items()))
        if key in self.memo:
            return self.memo[key]
        while names:
            def attempt():
                self.scope = {**self.scope, **{name: Scalar(self.unknown(kinds[name][0]), *kinds[name]) for name in names}}
                body()
                return {name: self.scope.get(name) for name in names}

            ends = self.w.trial(lambda: self.quietly(attempt))
            self.node = node
            for name in names:
                if isinstance(ends[name], (Array, Tuple)):
                    raise self.problem(f"{name} becomes an array in the loop; assign its elements")
            after = {name: self.common(Scalar("", *kinds[name]), ends[name]) if ends[name] is not None else kinds[name] for name in names}
            if after == kinds:
                break
            kinds = after
        self.memo[key] = kinds
        return kinds

    def summary(self, value):
        """What types of a loop's values can depend on."""
        if isinstance(value, Const):
            return f"{type(value.value).__name__} {value.value!r}" if isinstance(value.value, (int, float)) else f"at {id(value.value)}"
        if isinstance(value, Tuple):
            return " ".join(map(self.summary, value.items))
        return "" if value is None else "index" if isinstance(value, Index) else f"{value.kind!s} {getattr(value, 'weak', '')} {isinstance(value, Array)}"

    def loop(self, node, bounds, target, body):
        begin, end, step = bounds
        is_up = not isinstance(step, int) or step > 0
        variable = []

        def whole():
            index = self.w.fresh(target)
            if is_up:
                self.w.begin_loop(index, begin)
            else:
                self.w.lower[index] = 0
            variable[:] = [index]
            own = Linear(0, {index: 1}) if is_up else begin.plus(Linear(0, {index: step}))
            last = self.w.least(end)
            if not is_up and last is not None: # it stays above its end
                self.w.lower_forms[index] = own.terms, last + 1 - own.constant
            self.scope[target] = Index(own)
            body()

        first, last, stride = (begin, end, step) if is_up else (Linear(0), self.ceil_divided(begin.plus(end, -1), -step), 1)
        stride = stride if isinstance(stride, Linear) else Linear(stride)
        bounds = [self.w.index(first), self.w.index(last), self.w.index(stride)] # their names are taken in the body
        self.depth += 1
        try:
            kinds = self.carried_kinds(node, whole)
            names, before = list(kinds), dict(self.scope)
            starts = [self.as_kind(self.scope[name], kinds[name][0]) for name in names]
            carried = []

            def write():
                for name in names:
                    carried.append(self.fresh_value(name, kinds[name][0]))
                    self.scope[name] = Scalar(carried[-1], *kinds[name])
                whole()
                self.node = node
                self.finish([(self.scope[name], kinds[name][0]) for name in names])

            block, _ = self.w.around(write)
        finally:
            self.depth -= 1
        self.scope = before
        for name in self.rebound([node]):
            if name not in names:
                self.scope[name] = None
        self.w.effects += 1
        results = [self.fresh_value(name, kinds[name][0]) for name in names]
        types = ", ".join(self.flat_kinds(kinds[name][0] for name in names))
        head = (f"{', '.join(self.flat(results))} = " if names else "") + f"scf.for {variable[0]} = {bounds[0]} to {bounds[1]} step {bounds[2]}"
        if names:
            head += f" iter_args({', '.join(f'{name} = {start}' for name, start in zip(self.flat(carried), self.flat(starts)))}) -> ({types})"
        self.w.line(head + " {")
        self.w.block.append(block)
        self.w.line("}" + self.comment(node))
        for name, value in zip(names, results):
            self.scope[name] = Scalar(value, *kinds[name])

    def run_For(self, node):
        if node.orelse:
            raise self.problem("else of a loop is not supported; write it behind the loop")
        kind = self.callee(node.iter.func) if isinstance(node.iter, ast.Call) else None
        if kind == "range" and isinstance(node.target, ast.Name):
            return self.loop(node, self.range_bounds(node.iter), node.target.id, lambda: self.run(node.body))
        if kind == "parallel":
            return self.parallel(node)
        values = self.expression(node.iter)
        if isinstance(values, Tuple):
            items = values.items
        elif isinstance(values, Const) and isinstance(values.value, (range, tuple, list)):
            items = values.value
        else:
            raise self.problem("loops run over kk.range, kk.parallel, or what is known when the kernel is read, such as range(3)")
        if len(items) > 1024:
            raise self.problem("Python's range is unrolled, at most 1024 times; use kk.range")
        for item in items:
            self.assign(node.target, item if isinstance(values, Tuple) else self.lifted(item, "it"), node)
            self.run(node.body)

    def range_bounds(self, call):
        values = self.arguments(call.args)
        if not 1 <= len(values) <= 3 or call.keywords:
            raise self.problem("kk.range takes stop, or start, stop and step")
        forms = [self.index_of(value) for value in values]
        step = forms.pop() if len(values) == 3 else Linear(1)
        if step.is_constant:
            step = step.constant
            if step == 0:
                raise self.problem("the step of kk.range is 0")
        elif (self.w.least(step) or 0) < 1:
            self.w.above_zero(self.w.index(step), "the step of kk.range has to be above zero")
        return (Linear(0), forms[0], 1) if len(forms) == 1 else (*forms, step)

    def parallel(self, node):
        targets = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
        spans = self.arguments(node.iter.args)
        if node.iter.keywords or not spans or len(spans) != len(targets) or not all(isinstance(target, ast.Name) for target in targets):
            raise self.problem("kk.parallel needs a bound for each index")
        ends = [[self.index_of(item) for item in span.items] if isinstance(span, Tuple) else [Linear(0), self.index_of(span)]
                for span in spans]
        changed = [name for name in self.rebound(node.body) if name in self.alive.after[node] | self.alive.entry[node]]
        if any(self.scope.get(name) is not None for name in changed):
            raise self.problem(f"iterations of kk.parallel cannot hand on {', '.join(sorted(changed))}; use kk.sum and its like, or kk.range")
        if self.declared:
            raise self.problem("kk.parallel inside kk.parallel; give one kk.parallel all the indices, or use kk.range inside")
        columns = list(zip(*((self.w.index(begin), self.w.index(end)) for begin, end in ends))) # their names are taken in the body
        indices, before, accesses = [], dict(self.scope), self.accesses
        self.accesses = []

        def write():
            for target, (begin, _) in zip(targets, ends):
                indices.append(self.w.fresh(target.id))
                self.w.begin_loop(indices[-1], begin)
                self.scope[target.id] = Index(Linear(0, {indices[-1]: 1}))
            self.depth, self.declared, guarded, self.guarded = self.depth + 1, self.declared + 1, self.guarded, 0
            self.run(node.body)
            self.depth, self.declared, self.guarded = self.depth - 1, self.declared - 1, guarded
            self.w.line("scf.reduce")

        block, _ = self.w.inside(write)
        found, self.accesses = self.accesses, accesses
        self.check_apart(found, indices, [target.id for target in targets])
        self.scope = before
        for name in self.rebound([node]):
            self.scope[name] = None
        self.w.line(f"scf.parallel ({', '.join(indices)}) = ({', '.join(columns[0])}) to ({', '.join(columns[1])}) step "
                    f"({', '.join([self.w.constant(1, 'index')] * len(indices))}) {{")
        self.w.block.append(block)
        self.w.line("}" + self.comment(node))

    def check_apart(self, accesses, indices, names):
        """A conflict between iterations that subscripts prove is an error; what they do not prove is declared."""
        for place, (memory, forms, is_store, node) in enumerate(accesses):
            for other, others, is_other, _ in accesses[:place + 1]:
                if other is not memory or not (is_store or is_other):
                    continue
                apart = self.conflict(forms, others, indices, names)
                if apart:
                    self.node = node
                    raise self.problem(f"iterations of kk.parallel {'write' if is_store and is_other else 'write and read'} the same "
                                       f"element of {memory.name[1:]}: {apart}; use kk.range" + (" or kk.atomic_add" if is_store else ""))

    @staticmethod
    def conflict(forms, others, indices, names):
        """How two iterations meet: distances of the indices that subscripts fix, each by one of them."""
        distance = {}
        for a, b in zip(forms, others):
            if a.terms != b.terms:
                return None
            own = [atom for atom in a.terms if atom in indices]
            if not own:
                if a.constant != b.constant or any(atom not in indices for atom in a.terms):
                    return None # perhaps different ones
            elif len(own) > 1 or len(a.terms) > 1 or (b.constant - a.constant) % a.terms[own[0]]:
                return None
            elif distance.setdefault(own[0], (b.constant - a.constant) // a.terms[own[0]]) != (b.constant - a.constant) // a.terms[own[0]]:
                return None
        free = [name for index, name in zip(indices, names) if index not in distance]
        moved = [f"{name} and {name} {'+' if distance[index] > 0 else '-'} {abs(distance[index])}" for index, name in zip(indices, names)
                 if distance.get(index)]
        return f"those of {moved[0]}" if moved else f"{free[0]} does not choose it" if free else None

    def run_While(self, node):
        if node.orelse:
            raise self.problem("else of a loop is not supported; write it behind the loop")
        self.depth += 1
        try:
            def round():
                self.condition(self.expression(node.test))
                self.run(node.body)

            kinds = self.carried_kinds(node, round)
            names, before = list(kinds), dict(self.scope)
            starts = [self.as_kind(self.scope[name], kinds[name][0]) for name in names]
            types = ", ".join(self.flat_kinds(kinds[name][0] for name in names))
            outer, inner = [], []

            def test():
                for name in names:
                    outer.append(self.fresh_value(name, kinds[name][0]))
                    self.scope[name] = Scalar(outer[-1], *kinds[name])
                more = self.condition(self.expression(node.test))
                self.w.line(f"scf.condition({more})" + (f" {', '.join(self.flat(outer))} : {types}" if names else ""))

            def body():
                for name in names:
                    inner.append(self.fresh_value(name, kinds[name][0]))
                    self.scope[name] = Scalar(inner[-1], *kinds[name])
                if names:
                    pairs = zip(self.flat(inner), self.flat_kinds(kinds[name][0] for name in names))
                    self.w.line(f"^bb0({', '.join(f'{value}: {kind}' for value, kind in pairs)}):")
                self.run(node.body)
                self.node = node
                self.finish([(self.scope[name], kinds[name][0]) for name in names]) if names else self.w.line("scf.yield")

            first, _ = self.w.around(test)
            second, _ = self.w.around(body)
        finally:
            self.depth -= 1
        self.scope = before
        for name in self.rebound([node]):
            if name not in names:
                self.scope[name] = None
        self.w.effects += 1
        results = [self.fresh_value(name, kinds[name][0]) for name in names]
        self.w.line((f"{', '.join(self.flat(results))} = " if names else "") + "scf.while " +
                    (f"({', '.join(f'{name} = {start}' for name, start in zip(self.flat(outer), self.flat(starts)))}) " if names else "") +
                    f": ({types}) -> ({types}) {{")
        self.w.block.append(first)
        self.w.line("} do {")
        self.w.block.append(second)
        self.w.line("}" + self.comment(node))
        for name, value in zip(names, results):
            self.scope[name] = Scalar(value, *kinds[name])
