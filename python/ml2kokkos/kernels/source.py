"""The syntax tree of a function, what its free names mean, and which locals are alive where."""

import ast
import builtins
import inspect
import textwrap

from .problems import KernelError
from .types import Size


class Source:
    def __init__(self, function):
        self.function, self.name, self.signature = function, function.__name__, inspect.signature(function)
        self.file = inspect.getsourcefile(function) or "<unknown>"
        try:
            lines, first = inspect.getsourcelines(function)
        except (OSError, TypeError):
            raise KernelError([(self.file, 1, 1, f"the source of {function.__name__} cannot be read; write it in a file")]) from None
        text = "".join(lines)
        self.shift = len(text) - len(text.lstrip(" \t")) # of a nested function
        self.first = first
        tree = ast.parse(textwrap.dedent(text))
        self.node = tree.body[0]
        self.lines = {(self.file, first + number): line.rstrip("\n") for number, line in enumerate(lines)}
        if isinstance(self.node, ast.FunctionDef):
            self.alive = Liveness(self.node.body)
            arguments = self.node.args
            self.locals = assigned(self.node.body) | {argument.arg for argument in arguments.posonlyargs + arguments.args + arguments.kwonlyargs}
        else:
            raise KernelError([(*self.place(self.node), "only functions made by def can be kernels")], self.lines)

    def place(self, node):
        line = self.first + node.lineno - 1
        before = self.lines.get((self.file, line), "").encode()[:node.col_offset + self.shift]
        return self.file, line, len(before.decode(errors="replace")) + 1

    def meaning(self, name):
        """What a name means that is no local: of the closure, the module or Python itself. KeyError if nothing."""
        for names in (self.closure(), self.function.__globals__, vars(builtins)):
            if name in names:
                return names[name]
        raise KeyError(name)

    def closure(self):
        """Variables of enclosing functions."""
        found = {}
        for name, cell in zip(self.function.__code__.co_freevars, self.function.__closure__ or ()):
            try:
                found[name] = cell.cell_contents
            except ValueError: # not assigned yet
                pass
        return found

    def annotation(self, name):
        """What a parameter's annotation is; of text, names that mean nothing are sizes."""
        found = self.function.__annotations__.get(name)
        if not isinstance(found, str):
            return found
        return eval(compile(found, "<annotation>", "eval"), self.function.__globals__, Names(self))


class Inner:
    """A function that is defined inside of a kernel or of another function: names that are free in it are those around it, as
    they are when it is called."""

    def __init__(self, node, outer):
        self.node, self.outer = node, outer
        self.file, self.first, self.shift, self.lines = outer.file, outer.first, outer.shift, outer.lines
        self.alive = Liveness(node.body)
        arguments = node.args
        self.parameters = [argument.arg for argument in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
        self.locals = assigned(node.body) | set(self.parameters)
        self.place, self.meaning = outer.place, outer.meaning
        self.name, self.signature = node.name, self._signature()

    def _signature(self):
        kinds, arguments = inspect.Parameter, self.node.args
        positional = [(argument, kinds.POSITIONAL_ONLY) for argument in arguments.posonlyargs] + \
            [(argument, kinds.POSITIONAL_OR_KEYWORD) for argument in arguments.args]
        defaults = [None] * (len(positional) - len(arguments.defaults)) + arguments.defaults
        found = [(*argument, default) for argument, default in zip(positional, defaults)]
        if arguments.vararg:
            found.append((arguments.vararg, kinds.VAR_POSITIONAL, None))
        found += [(argument, kinds.KEYWORD_ONLY, default) for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults)]
        if arguments.kwarg:
            found.append((arguments.kwarg, kinds.VAR_KEYWORD, None))
        return inspect.Signature([kinds(argument.arg, kind, default=kinds.empty if default is None else self._constant(default))
                                  for argument, kind, default in found])

    def _constant(self, node):
        """A default: a literal, or a name of the closure or the module."""
        return self.meaning(node.id) if isinstance(node, ast.Name) else ast.literal_eval(node)

    def annotation(self, name):
        for argument in ast.walk(self.node.args):
            if isinstance(argument, ast.arg) and argument.arg == name and argument.annotation is not None:
                text = ast.unparse(argument.annotation)
                return eval(compile(text, "<annotation>", "eval"), {}, Names(self.outer))
        return None


class Names(dict):
    """Names in the text of an annotation."""

    def __init__(self, source):
        self.source = source

    def __missing__(self, name):
        try:
            return self.source.meaning(name)
        except KeyError:
            return Size(name)


def assigned(nodes, augmented=True):
    """Names that statements assign; `augmented`: also by x += y."""
    found, left = set(), list(nodes)
    while left:
        node = left.pop()
        if isinstance(node, ast.FunctionDef): # its names are its own
            found.add(node.name)
            continue
        if isinstance(node, ast.AugAssign) and not augmented:
            node = node.value
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        inner = list(ast.iter_child_nodes(node))
        left += [child.iter for child in inner if isinstance(child, ast.comprehension)] # their targets are their own
        left += [child for child in inner if not isinstance(child, ast.comprehension)]
    return found


def _loaded(node):
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load)}


class Liveness:
    """after[statement]: names that are read behind it before they are assigned again. entry[loop]: at the start of its body."""

    def __init__(self, body):
        self.after, self.entry = {}, {}
        # What calls of functions inside read
        self.inner = {node.name: _loaded(node) for statement in body for node in ast.walk(statement) if isinstance(node, ast.FunctionDef)}
        self._block(body, set())

    def _read(self, node):
        names = _loaded(node)
        while more := {name for called in names & self.inner.keys() for name in self.inner[called]} - names:
            names |= more
        return names

    def _block(self, body, live):
        for statement in reversed(body):
            self.after[statement] = live
            live = self._statement(statement, live)
        return live

    def _statement(self, node, live):
        if isinstance(node, ast.FunctionDef):
            return live - {node.name}
        if isinstance(node, ast.Assign) and all(isinstance(target, (ast.Name, ast.Tuple)) for target in node.targets):
            plain = {name.id for target in node.targets for name in (target.elts if isinstance(target, ast.Tuple) else [target])
                     if isinstance(name, ast.Name)}
            return (live - plain) | self._read(node)
        if isinstance(node, ast.AugAssign):
            return live | self._read(node) | ({node.target.id} if isinstance(node.target, ast.Name) else set())
        if isinstance(node, ast.If):
            return self._block(node.body, live) | self._block(node.orelse, live) | self._read(node.test)
        if isinstance(node, (ast.For, ast.While)):
            head = self._read(node.iter if isinstance(node, ast.For) else node.test)
            own = assigned([node.target]) if isinstance(node, ast.For) else set()
            start = set(live) | head
            while True:
                entry = self._block(node.body, start) - own
                if isinstance(node, ast.While):
                    entry |= head
                if entry <= start:
                    break
                start = start | entry
            self.entry[node] = entry
            return start
        return live | self._read(node)
