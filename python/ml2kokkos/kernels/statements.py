"""Statements other than loops."""

import ast
import re

from .loops import Loops
from .problems import Problem
from .values import Array, Const, Scalar, Tuple
from .source import Inner, assigned
from .text import Linear, quoted
from .types import REAL, is_float


class Statements(Loops):
    """Mixed into the compiler. `scope` has the meaning of each local."""

    def comment(self, node):
        text = ast.unparse(node).splitlines()[0]
        if self.numbered: # for explain()
            text = f"{self.source.place(node)[1]}: {text}"
        return f" loc({quoted(text)})"

    def run(self, body):
        for statement in body:
            self.node = statement
            if not isinstance(statement, (ast.For, ast.While, ast.If)):
                self.statement = statement
            kept = (self.depth, self.declared, self.guarded, self.accesses, self.source, self.scope, self.alive, self.broken)
            try:
                getattr(self, f"run_{type(statement).__name__}", self.refused)(statement)
            except Problem as problem:
                self.depth, self.declared, self.guarded, self.accesses, self.source, self.scope, self.alive, self.broken = kept
                self.report(problem)
                for name in assigned([statement]):
                    self.scope[name] = None
                    self.broken.add(name)

    def refused(self, node):
        instead = {"Break": "put the condition into a while", "Continue": "put what follows under an if", "Try": "check before the call",
                   "Assert": "check before the call", "Global": "pass it as an argument", "Nonlocal": "pass it as an argument",
                   "Return": "return outside of loops only", "Delete": "leave it out", "With": "leave it out",
                   "Raise": "check before the call", "Import": "import outside of the kernel", "ImportFrom": "import outside of the kernel",
                   "ClassDef": "define it outside of the kernel",
                   "Match": "use if and elif"}.get(type(node).__name__)
        called = {"ClassDef": "a class inside", "ImportFrom": "import", "Delete": "del",
                  "Return": "return inside a loop"}
        name = called.get(type(node).__name__, type(node).__name__.lower())
        raise self.problem(f"{name} is not supported in kernels" + (f"; {instead}" if instead else ""))

    # --- Functions ---

    def returned(self, body):
        """Writes a function's body; its value. A branch that returns takes what follows it into the other one."""
        for place, statement in enumerate(body):
            self.node = statement
            if isinstance(statement, ast.Return):
                return Const(None) if statement.value is None else self.held(self.expression(statement.value))
            if isinstance(statement, ast.If) and any(isinstance(inner, ast.Return) for inner in ast.walk(statement)):
                test, rest = self.expression(statement.test), body[place + 1:]
                if isinstance(test, Const):
                    return self.returned((statement.body if test.value else statement.orelse) + rest)
                return self.either(test, [statement.body + rest, statement.orelse + rest])
            self.run([statement])
        return Const(None)

    def held(self, value):
        if isinstance(value, Tuple):
            return Tuple([self.held(item) for item in value.items])
        return self.copied(value, None) if isinstance(value, Array) and value.memory is None else value

    def either(self, test, bodies):
        condition, before = self.condition(test), self.scope

        def items(body):
            self.scope = dict(before)
            value = self.returned(body)
            many = value.items if isinstance(value, Tuple) else [] if isinstance(value, Const) and value.value is None else [value]
            return many, isinstance(value, Tuple)

        (yes, is_tuple), (no, is_other) = (self.w.trial(lambda: self.quietly(items, body)) for body in bodies)
        if len(yes) != len(no) or is_tuple != is_other:
            raise self.problem("one branch returns something else than the other")
        if any(isinstance(value, (Array, Tuple)) for value in yes + no):
            raise self.problem("branches can return numbers only; write into an array")
        kinds = [self.common(*pair) for pair in zip(yes, no)]
        names = self.branches(condition, [lambda body=body: items(body)[0] for body in bodies], [kind for kind, _ in kinds])
        self.scope = before
        values = [Scalar(name, *kind) for name, kind in zip(names, kinds)]
        return Tuple(values) if is_tuple else values[0] if values else Const(None)

    def run_FunctionDef(self, node):
        if node.decorator_list:
            raise self.problem("functions inside of a kernel have no decorators")
        try:
            self.scope[node.name] = Const(Inner(node, self.source))
        except (KeyError, ValueError):
            raise self.problem("parameters of a function inside have constants as defaults") from None

    def run_Pass(self, node):
        pass

    def run_Expr(self, node):
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return # what the kernel does
        if isinstance(node.value, ast.Call) and self.callee(node.value.func) == "atomic_add":
            return self.atomic_add(node.value)
        before = self.called_out
        value = self.expression(node.value) if isinstance(node.value, ast.Call) else None
        if self.called_out != before:
            return
        if not isinstance(value, Const) or value.value is not None:
            raise self.problem("an expression without effect")

    def atomic_add(self, call):
        if len(call.args) != 3 or call.keywords:
            raise self.problem("kk.atomic_add takes an array, a position and a value")
        array = self.expression(call.args[0])
        if not isinstance(array, Array):
            raise self.problem("kk.atomic_add takes an array, a position and a value")
        view, value = self.written_part(array, call.args[1]), self.expression(call.args[2])
        if view.shape:
            raise self.problem("kk.atomic_add changes one element; the position has too few subscripts")
        if not self.declared:
            return self.store(view, [], self.binary("Add", view.at([]), value))
        if view.kind == "i1":
            raise self.problem("booleans cannot be added to")
        name, memory, kind = self.as_kind(value, view.kind), view.memory, REAL.get(view.kind, view.kind)
        where = [self.w.index(form) for form in view.subscripts([])]
        self.w.effects += 1
        for place, part in enumerate(self.flat([name])):
            at = [*where, self.w.constant(place, "index")] if view.kind in REAL else where
            self.w.value(f"memref.atomic_rmw {'addf' if is_float(kind) else 'addi'} {part}, {memory.name}[{', '.join(at)}] : "
                         f"({kind}, {memory.type}) -> {kind}")

    def run_Assign(self, node):
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.Call):
            self.hint = node.targets[0].id
        if self.scans_into(node):
            return
        begin = len(self.w.block)
        value = self.expression(node.value)
        self.hint = None
        if isinstance(value, Tuple) or len(node.targets) > 1:
            value = self.held(value)
        for target in node.targets:
            self.assign(target, value, node, begin)
            if len(node.targets) > 1: # the name that the first one gave is that of all
                value = self.scope[target.id] if isinstance(target, ast.Name) else value
                begin = len(self.w.block)

    def scans_into(self, node):
        """y[...] = kk.scan(...) writes y without an array between."""
        target = node.targets[0]
        if len(node.targets) != 1 or not isinstance(target, ast.Subscript) or not isinstance(node.value, ast.Call) or \
                self.callee(node.value.func) != "scan":
            return False
        array = self.expression(target.value)
        if not isinstance(array, Array):
            return False
        view = self.written_part(array, target.slice)
        made = self.scan(node.value, view)
        if made is not view:
            self.assign_array(view, made, self.comment(node))
        return True

    def run_AnnAssign(self, node):
        raise self.problem("locals have the type of their value; convert it, as in f64(x)")

    def run_AugAssign(self, node):
        old = ast.copy_location(ast.Name(node.target.id, ast.Load()), node) if isinstance(node.target, ast.Name) else node.target
        before = self.expression(old)
        value = self.operation(type(node.op).__name__, before, self.expression(node.value))
        if isinstance(before, Array): # in place, as in NumPy
            if before.memory is None:
                raise self.problem("this cannot be changed in place")
            kind = value.kind if isinstance(value, Array) else self.kind_of(value)[0]
            if is_float(kind) and not is_float(before.kind) and before.kind not in REAL:
                raise self.problem(f"an array of {before.kind!s} cannot be changed in place by {kind!s}")
            return self.assign_array(before, value, self.comment(node))
        self.assign(node.target, value, node)

    def assign(self, target, value, node, begin=None):
        """`begin`: where the lines of the statement begin in the block, if it may have made several values."""
        if isinstance(target, ast.Tuple):
            if isinstance(value, Array) and value.shape and value.shape[0].is_constant:
                value = self.rows_of(value)
            items = value.items if isinstance(value, Tuple) else [Const(item) for item in value.value] \
                if isinstance(value, Const) and isinstance(value.value, (tuple, list)) else None
            if items is None or len(items) != len(target.elts):
                raise self.problem("the numbers of targets and values differ")
            for inner, item in zip(target.elts, items):
                self.assign(inner, item, node, begin)
        elif isinstance(target, ast.Name):
            self.scope[target.id] = self.named(value, target.id, node, begin)
            self.broken.discard(target.id)
        elif isinstance(target, ast.Subscript):
            array = self.expression(target.value)
            if not isinstance(array, Array):
                raise self.problem("only elements of arrays can be assigned")
            part = self.written_part(array, target.slice)
            if isinstance(value, Const) and isinstance(value.value, tuple):
                value = Tuple([Const(item) for item in value.value])
            if isinstance(value, Tuple):
                return self.assign_numbers(part, value.items, node)
            self.assign_array(part, value, self.comment(node))
        else:
            raise self.problem("this cannot be assigned")

    def assign_numbers(self, part, items, node):
        """v[p] = (x, y, z), of numbers that were read before."""
        extents = part.shape
        if len(extents) != 1 or not extents[0].is_constant or extents[0].constant != len(items) or \
                any(isinstance(item, (Array, Tuple)) for item in items):
            raise self.problem("a tuple of numbers is assigned to as many elements along one dimension of known size")
        for place, item in enumerate(items):
            self.assign_array(self.part_of_view(part, [(Linear(place), None)], ()), item, self.comment(node))

    def rows_of(self, array):
        """x, y, z = position[i]: elements, or parts, in order; all are read before the first target changes."""
        if array.shape[0].constant > 1024:
            raise self.problem("an array of more than 1024 rows is not unpacked; use its subscripts")
        rows = [self.part_of_view if array.memory is not None else self.part_of_expression] * array.shape[0].constant
        whole = [(Linear(0), 1)] * (len(array.shape) - 1)
        views = [row(array, [(Linear(place), None), *whole], array.shape[1:]) for place, row in enumerate(rows)]
        return Tuple([view if view.shape else view.at([]) for view in views])

    def line_of(self, value, begin):
        """Where the statement computes a value that no later line uses yet."""
        def mentions(block):
            return any(value.name in re.findall(r"%\w+", line) if isinstance(line, str) else mentions(line) for line in block)

        for place in range(len(self.w.block) - 1, begin - 1, -1):
            line = self.w.block[place]
            if not isinstance(line, str): # of a loop or branch
                if mentions(line):
                    return None
                continue
            head, equal, text = line.partition(" = ")
            if equal and head == value.name:
                return place
            if value.name in re.findall(r"%\w+", text if equal else line):
                return None
        return None

    def named(self, value, name, node, begin=None):
        if isinstance(value, Array) and value.memory is None and not value.cheap: # those are views
            return self.copied(value, name, self.comment(node))
        place = self.line_of(value, len(self.w.block) - 1 if begin is None else begin) if isinstance(value, Scalar) and self.w.block else None
        if place is None:
            return value
        head, _, text = self.w.block[place].partition(" = ")
        if head[1:].isdigit() and not self.w.is_pending(head) and text.startswith(("arith.", "math.", "memref.load", "func.call", "scf.if")):
            fresh = self.w.fresh(name)
            if not text.startswith(("memref.load", "scf.if")) and "index_cast" not in text and self.scope.get(name) is None:
                body, colon, kind = text.rpartition(" : ")
                text = f"{body} {{nest.let, nest.name = {quoted(name)}}}{colon}{kind}"
            self.w.block[place] = f"{fresh} = {text}"
            return Scalar(fresh, value.kind, value.weak)
        return value

    # --- Branches ---

    def run_If(self, node):
        test = self.expression(node.test)
        if isinstance(test, (Array, Tuple)):
            raise self.problem("the condition is not a number; of arrays, use kk.where")
        if isinstance(test, Const):
            return self.run(node.body if test.value else node.orelse)
        condition, alive = self.condition(test), self.alive.after[node]
        changed = [name for name in sorted(self.rebound(node.body + node.orelse)) if name in alive]
        before = dict(self.scope)

        def branch(body):
            self.scope = dict(before)
            self.guarded += 1
            self.run(body)
            self.guarded -= 1
            return [self.scope.get(name) for name in changed]

        kinds = []
        for name, yes, no in zip(changed, self.w.trial(lambda: self.quietly(branch, node.body)),
                                 self.w.trial(lambda: self.quietly(branch, node.orelse))):
            if yes is None or no is None:
                kinds.append(None)
            else:
                self.node = node
                if isinstance(yes, Array) or isinstance(no, Array):
                    raise self.problem(f"{name} is an array that a branch chooses; assign its elements")
                kinds.append(self.common(yes, no))
        kept = [(name, kind) for name, kind in zip(changed, kinds) if kind]

        def write(body):
            values = dict(zip(changed, branch(body)))
            self.node = node
            self.finish([(values[name], kind) for name, (kind, _) in kept])

        yes, _ = self.w.inside(lambda: write(node.body))
        no, _ = self.w.inside(lambda: write(node.orelse)) if node.orelse or kept else (None, None)
        self.scope = before
        names = [self.fresh_value(name, kind) for name, (kind, _) in kept]
        types = ", ".join(self.flat_kinds(kind for _, (kind, _) in kept))
        self.w.effects += 1
        self.w.line((f"{', '.join(self.flat(names))} = " if names else "") + f"scf.if {condition} " + (f"-> ({types}) " if names else "") + "{")
        self.w.block.append(yes)
        if no is not None:
            self.w.line("} else {")
            self.w.block.append(no)
        self.w.line("}")
        for name in changed:
            self.scope[name] = None
        for (name, (kind, weak)), value in zip(kept, names):
            self.scope[name] = Scalar(value, kind, weak)

    def finish(self, values):
        if values:
            names = self.flat(self.as_kind(value, kind) for value, kind in values)
            self.w.line(f"scf.yield {', '.join(names)} : {', '.join(self.flat_kinds(kind for _, kind in values))}")

    def quietly(self, function, *arguments):
        """For trials: what is wrong is reported when the text is written."""
        kept = dict(vars(self))
        scope, copies = dict(self.scope), {name: kept[name].copy() for name in ("problems", "accesses", "broken")}
        try:
            return function(*arguments)
        finally:
            vars(self).update(kept)
            vars(self).update(copies, scope=scope)
