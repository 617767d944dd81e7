"""Expressions."""

import ast
import types

import numpy as np

from .calls import Calls
from .problems import Problem
from .values import Array, Const, Index, Scalar, Tuple
from .types import Kind, Size, is_integer, is_unsigned, kind_of_dtype, range_of

INSTEAD = {"Lambda": "write a function with def and call it", "ListComp": "fill an array in a loop", "SetComp": "fill an array in a loop",
           "DictComp": "fill an array in a loop", "Dict": "pass arrays and numbers", "Set": "pass arrays and numbers",
           "GeneratorExp": "put it into kk.sum, kk.min and their like", "NamedExpr": "assign in front", "JoinedStr": "leave it out",
           "Await": "leave it out", "Yield": "write into an array", "YieldFrom": "write into an array", "Starred": "write the arguments out"}
CALLED = {"ListComp": "a list comprehension", "SetComp": "a set comprehension", "DictComp": "a dict comprehension", "Dict": "a dict",
          "Set": "a set", "Lambda": "lambda", "GeneratorExp": "a generator", "NamedExpr": ":=", "JoinedStr": "an f-string", "Starred": "*"}


class Expressions(Calls):
    """Mixed into the compiler."""

    def expression(self, node):
        outer, self.node = self.node, node
        value = getattr(self, f"value_of_{type(node).__name__}", self.refused_expression)(node)
        self.node = outer
        return value

    def refused_expression(self, node):
        kind = type(node).__name__
        raise self.problem(f"{CALLED.get(kind, kind.lower())} is not supported in kernels" +
                           (f"; {INSTEAD[kind]}" if kind in INSTEAD else ""))

    def value_of_Constant(self, node):
        return Const(node.value)

    def value_of_Tuple(self, node):
        return Tuple([self.expression(item) for item in node.elts])

    value_of_List = value_of_Tuple

    # --- Names ---

    def value_of_Name(self, node):
        name = node.id
        if name in self.scope:
            value = self.scope[name]
            if value is None:
                raise self.problem(None if name in self.broken else f"{name} may have no value here")
            return value.at([]) if isinstance(value, Array) and value.is_number else value
        if name in self.source.locals:
            raise self.problem(None if name in self.broken else f"{name} has no value yet")
        try:
            return self.lifted(self.source.meaning(name), name)
        except KeyError:
            if name in self.extents:
                return Index(self.extents[name])
            raise self.problem(f"there is no {name}") from None

    def lifted(self, value, name):
        """What a value of Python's means in a kernel."""
        if isinstance(value, Size):
            if value.name not in self.extents:
                raise self.problem(f"no parameter has the size {value.name}")
            return Index(self.extents[value.name])
        if isinstance(value, np.ndarray):
            return self.captured(value, name)
        if isinstance(value, np.generic):
            kind = kind_of_dtype(value.dtype)
            if kind is None:
                raise self.problem(f"{name} is of the type {value.dtype}, which kernels do not have")
            return Scalar(self.as_kind(Const(value.item() if kind != "bf16" else float(value)), kind), kind)
        return Const(value)

    def value_of_Attribute(self, node):
        base = self.expression(node.value)
        if isinstance(base, Array):
            return self.attribute(base, node.attr)
        if isinstance(base, Scalar) and node.attr in ("real", "imag"):
            return self.function(node.attr, [base])
        if isinstance(base, Const) and isinstance(base.value, types.ModuleType):
            if not hasattr(base.value, node.attr):
                raise self.problem(f"{base.value.__name__} has no {node.attr}")
            return self.lifted(getattr(base.value, node.attr), node.attr)
        if isinstance(base, Const) and hasattr(base.value, node.attr):
            return self.lifted(getattr(base.value, node.attr), node.attr)
        raise self.problem(f"there is no attribute {node.attr}")

    def attribute(self, array, name):
        if name == "shape":
            return Tuple([Index(extent) for extent in array.shape])
        if name == "ndim":
            return Const(len(array.shape))
        if name == "size":
            product = Const(1)
            for extent in array.shape:
                product = self.on_indices("Mult", product, Index(extent))
            return product
        if name == "T":
            return self.transposed(array)
        if name in ("real", "imag"):
            return self.elementwise(lambda value: self.function(name, [value]), [array])
        raise self.problem(f"arrays have shape, ndim, size, T, real and imag here, not {name}")

    # --- Subscripts ---

    def value_of_Subscript(self, node):
        base = self.expression(node.value)
        if isinstance(base, Array):
            view = self.subscript(base, node.slice)
            return view if view.shape else view.at([])
        if isinstance(base, Const) and isinstance(base.value, Kind):
            raise self.problem("types of arrays belong into annotations")
        place = self.expression(node.slice)
        if not isinstance(place, Const):
            raise self.problem("this is no array: only constants can choose from it")
        items = base.items if isinstance(base, Tuple) else base.value
        try:
            item = items[place.value]
        except (TypeError, IndexError, KeyError) as error:
            raise self.problem(f"the subscript is wrong: {error}") from None
        return item if isinstance(base, Tuple) and not isinstance(place.value, slice) else self.lifted(item, "it")

    # --- Operators ---

    def operation(self, name, a, b):
        if name == "MatMult":
            return self.product(a, b)
        for value in (a, b):
            if isinstance(value, Tuple):
                raise self.problem("tuples cannot be computed with")
        return self.elementwise(lambda x, y: self.binary(name, x, y), [a, b])

    def value_of_BinOp(self, node):
        a, b = self.expression(node.left), self.expression(node.right)
        return self.operation(type(node.op).__name__, a, b)

    def value_of_UnaryOp(self, node):
        value = self.expression(node.operand)
        apply = {"USub": self.negated, "Not": self.inverted, "UAdd": lambda number: number, "Invert": self.bits_inverted}
        if isinstance(node.op, ast.Not) and isinstance(value, Array):
            raise self.problem("not of an array has no meaning; use ~")
        return self.elementwise(apply[type(node.op).__name__], [value])

    def bits_inverted(self, value):
        if isinstance(value, Const):
            return Const(~value.value)
        kind, weak = self.kind_of(value)
        if kind == "i1":
            return self.inverted(value)
        if not is_integer(kind):
            raise self.problem("bits of floating-point numbers cannot be inverted")
        result = self.op("arith.xori", kind, self.as_kind(value, kind), self.as_kind(Const(range_of(kind)[1] if is_unsigned(kind) else -1), kind))
        result.weak = weak
        return result

    def value_of_Compare(self, node):
        values = [self.expression(node.left)]
        result = None
        for operator, right in zip(node.ops, node.comparators):
            name = type(operator).__name__
            # of a chain, what follows is computed only where what is in front holds
            values.append(self.expression(right))
            part = self.compared(name, values[-2], values[-1])
            result = part if result is None else self.elementwise(lambda a, b: self.both(a, b), [result, part])
        return result

    def both(self, a, b):
        if isinstance(a, Const):
            return b if a.value else a
        return self.op("arith.andi", "i1", self.condition(a), self.condition(b))

    def compared(self, name, a, b):
        if name in ("Is", "IsNot", "In", "NotIn"):
            if not isinstance(a, Const) or not isinstance(b, Const):
                raise self.problem("is and in are for what is known when the kernel is read")
            found = a.value is b.value if name in ("Is", "IsNot") else a.value in b.value
            return Const(found if name in ("Is", "In") else not found)
        return self.elementwise(lambda x, y: self.compare(name, x, y), [a, b])

    def value_of_BoolOp(self, node):
        is_and = isinstance(node.op, ast.And)
        value = self.expression(node.values[0])
        for following in node.values[1:]:
            if isinstance(value, Array):
                raise self.problem("and, or of arrays have no meaning; use & and |")
            value = self.joined(is_and, value, following)
        return value

    def joined(self, is_and, value, following):
        """One of two operands; the second is computed only where Python computes it."""
        if isinstance(value, Const):
            return self.expression(following) if bool(value.value) == is_and else value
        outcome = self.attempt(lambda: self.expression(following))
        if outcome and not outcome.effects and outcome.kind == "i1" and self.kind_of(value)[0] == "i1":
            other = self.expression(following)
            return self.op("arith.andi" if is_and else "arith.ori", "i1", self.condition(value), self.condition(other))
        test = Scalar(self.condition(value), "i1")
        if is_and:
            return self.conditional(test, lambda: self.expression(following), lambda: value)
        return self.conditional(test, lambda: value, lambda: self.expression(following))

    def value_of_IfExp(self, node):
        test = self.expression(node.test)
        if isinstance(test, Array):
            raise self.problem("the condition is an array; use kk.where")
        return self.conditional(test, lambda: self.expression(node.body), lambda: self.expression(node.orelse))

    def conditional(self, test, yes, no):
        """The value of one of two functions that write text."""
        if isinstance(test, Const):
            return yes() if test.value else no()
        outcomes = [self.attempt(write) for write in (yes, no)]
        if not all(outcomes): # reports what is wrong
            yes(), no()
            raise self.problem("this has no value")
        if not any(outcome.effects for outcome in outcomes):
            return self.chosen(test, yes(), no())
        kind, weak = self.common(*(Scalar("", outcome.kind, outcome.weak) for outcome in outcomes))
        return Scalar(self.branches(self.condition(test), [yes, no], [kind])[0], kind, weak)

    def branches(self, condition, writers, kinds, hints=()):
        """scf.if that yields what the writers return."""
        def write(writer):
            self.guarded += 1
            value = writer()
            self.guarded -= 1
            self.finish(list(zip(value if isinstance(value, list) else [value], kinds)))

        blocks = [self.w.inside(lambda: write(writer))[0] for writer in writers]
        self.w.effects += 1
        names = [self.fresh_value(hint, kind) for hint, kind in zip(hints or [None] * len(kinds), kinds)]
        head = f"{', '.join(self.flat(names))} = " if names else ""
        self.w.line(f"{head}scf.if {condition} " + (f"-> ({', '.join(self.flat_kinds(kinds))}) " if kinds else "") + "{")
        self.w.block.append(blocks[0])
        if kinds or blocks[1]:
            self.w.line("} else {")
            self.w.block.append(blocks[1])
        self.w.line("}")
        return names

    # --- What it would be ---

    def attempt(self, write):
        """Kind of what a function writes, and whether it may run only where Python runs it; None if it cannot be written."""
        before = self.w.effects
        outcome = Outcome()

        def measured():
            self.guarded += 1
            try:
                value = write()
                outcome.kind, outcome.weak = self.kind_of(value)
                outcome.effects = self.w.effects != before
                return True
            except Problem:
                return False
            finally:
                self.guarded -= 1

        node = self.node
        done = self.w.trial(lambda: self.quietly(measured))
        self.node = node
        return outcome if done else None

    def known_int(self, value, what):
        if isinstance(value, Index) and value.form.is_constant:
            return value.form.constant
        if not isinstance(value, Const) or type(value.value) is not int:
            raise self.problem(f"{what} has to be known when the kernel is read")
        return value.value


class Outcome:
    kind, weak, effects = None, False, False
