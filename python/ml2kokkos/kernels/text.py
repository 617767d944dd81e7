"""MLIR text: nested blocks of lines, names of values by scope, and subscripts as linear forms."""

import re


class Linear:
    """constant + Σ coefficient * atom; atoms are values of type index."""

    __slots__ = ("terms", "constant")

    def __init__(self, constant=0, terms=None):
        self.constant = constant
        self.terms = {atom: factor for atom, factor in (terms or {}).items() if factor}

    def plus(self, other, factor=1):
        terms = dict(self.terms)
        for atom, own in other.terms.items():
            terms[atom] = terms.get(atom, 0) + factor * own
        return Linear(self.constant + factor * other.constant, terms)

    def times(self, factor):
        return Linear(self.constant * factor, {atom: own * factor for atom, own in self.terms.items()})

    @property
    def is_constant(self):
        return not self.terms

    def __eq__(self, other):
        return isinstance(other, Linear) and self.constant == other.constant and self.terms == other.terms

    def __hash__(self):
        return hash((self.constant, frozenset(self.terms.items())))


def quoted(text):
    """A string of MLIR; no byte of a source ends it."""
    return '"' + "".join(c if 32 <= ord(c) < 127 and c not in '"\\' else "".join(f"\\{byte:02X}" for byte in c.encode())
                         for c in text) + '"'


def number(value, kind):
    """A literal of MLIR."""
    if kind == "i1":
        return "true" if value else "false"
    if kind not in ("f16", "bf16", "f32", "f64"):
        return str(int(value))
    if value != value or value in (float("inf"), float("-inf")):
        bits = {"f64": (0x7FF0000000000000, 0x7FF8000000000000, 63), "f32": (0x7F800000, 0x7FC00000, 31),
                "f16": (0x7C00, 0x7E00, 15), "bf16": (0x7F80, 0x7FC0, 15)}[kind]
        return f"0x{bits[1] if value != value else bits[0] | (1 << bits[2] if value < 0 else 0):X}"
    text = repr(float(value))
    mantissa, _, exponent = text.partition("e")
    return (mantissa if "." in mantissa else mantissa + ".0") + (f"e{exponent}" if exponent else "")


PLAIN = ("arith.", "math.", "memref.load", "memref.dim", "memref.alloc") # operations that stores may be written behind


class Line(str):
    """A line of MLIR that knows where in Python it comes from."""

    def __new__(cls, text, place):
        made = super().__new__(cls, text)
        made.place = place
        return made


class Writer:
    """The body of one function. A block is a list of lines and of inner blocks."""

    def __init__(self):
        self.block, self.prologue = [], []
        self.scopes = [set()]
        self.known = [{}] # by scope: what has been computed already, such as a quotient of sizes
        self.place = lambda: None # where in the source
        self.count = 0
        self.constants = {}
        self.lower = {}   # atom: what it is at least
        self.begins_later = set() # atoms of loops that may begin above what they are at least, or nowhere
        self.lower_forms = {} # atom: the terms of a position that it counts down, and what those are at least
        self.wide = {}    # atom: how a product or quotient of indices is computed in i64
        self.effects = 0  # loads, stores and regions so far: what may not run where Python would not run it
        self.front = None # the block with the outermost loop around, and the number of scopes there: for arrays made inside
        self.used = set() # names that were given to anything
        self.before = False # what is written stands in front of the outermost loop
        self.pending = [] # stores that are not written yet: (memory, subscripts, value, lines)

    # --- Names ---

    def fresh(self, hint=None):
        if not hint:
            self.count += 1
            self.lower.pop(f"%{self.count}", None)
            self.lower_forms.pop(f"%{self.count}", None)
            self.begins_later.discard(f"%{self.count}")
            self.wide.pop(f"%{self.count}", None)
            return f"%{self.count}"
        base = re.sub(r"[^A-Za-z0-9_]", lambda match: f"u{ord(match.group()):x}", hint)
        if re.fullmatch(r"c\d+(_\w+)?|\d.*", base): # names of constants
            base = f"v{base}"
        name = self.unused(base) if self.before else self.unseen(base)
        self.lower.pop("%" + name, None) # of a loop before
        self.lower_forms.pop("%" + name, None)
        self.wide.pop("%" + name, None)
        return "%" + name

    def unseen(self, base):
        """A name that nothing in sight has."""
        name, number = base, 1
        while any(name in scope for scope in self.scopes):
            number += 1
            name = f"{base}_{number}"
        self.scopes[-1].add(name)
        self.used.add(name)
        return name

    def unused(self, base):
        """A name in front of the outermost loop; nothing behind it has it."""
        name, number = base, 1
        while name in self.used:
            number += 1
            name = f"{base}_{number}"
        self.used.add(name)
        self.scopes[self.front[1] - 1].add(name)
        return name

    def constant(self, value, kind):
        key = (repr(value), kind)
        if key not in self.constants:
            name = f"%c{len(self.constants)}_{kind}" if kind != "index" or value < 0 else f"%c{value}"
            self.prologue.append(f"{name} = arith.constant {number(value, kind)}" + ("" if kind == "i1" else f" : {kind}"))
            self.constants[key] = name
        return self.constants[key]

    # --- Lines ---

    def line(self, text):
        if not text.partition(" = ")[2].startswith(PLAIN):
            self.flush()
        self.block.append(Line(text, self.place()))

    def value(self, text, hint=None):
        name = self.fresh(hint)
        self.line(f"{name} = {text}")
        return name

    # --- Stores: behind what the block computes, so that reads of other arrays need not be repeated; arrays do not overlap ---

    def store(self, memory, forms, value, lines):
        """An element that is stored again was not needed."""
        self.pending = [entry for entry in self.pending if entry[:2] != (memory, forms)]
        self.pending.append((memory, forms, value, [Line(line, self.place()) for line in lines]))
        if len(self.pending) > 32: # each load looks at all of them
            self.flush()

    def stored(self, memory, forms):
        """The value that the element has since a store of this block; None if memory has it."""
        for own, others, value, _ in reversed(self.pending):
            if own != memory or any(a.terms == b.terms and a.constant != b.constant for a, b in zip(forms, others)):
                continue
            if others == forms and value is not None:
                return value
            self.flush()
            return None
        return None

    def is_pending(self, name):
        """Whether a store that is not written yet uses a value."""
        return any(re.search(rf"{name}\b", line) for *_, lines in self.pending for line in lines)

    def flush(self):
        lines = [line for entry in self.pending for line in entry[3]]
        self.pending = []
        self.block += lines

    def inside(self, write):
        """Runs `write` with a new block; returns the block and what it returns."""
        self.flush()
        outer, self.block = self.block, []
        self.scopes.append(set())
        self.known.append({})
        try:
            result = write()
            self.flush()
            return self.block, result
        finally:
            self.block, self.pending = outer, []
            self.scopes.pop()
            self.known.pop()

    def around(self, write):
        """Runs `write` for a loop; what goes in front of the outermost one finds its place there."""
        if self.front is not None:
            return self.inside(write)
        self.flush()
        self.front = self.block, len(self.scopes)
        try:
            return self.inside(write)
        finally:
            self.front = None

    def is_in_front(self, form):
        """Whether a linear form can be computed in front of the outermost loop."""
        return self.front is not None and all(any(atom[1:] in scope for scope in self.scopes[:self.front[1]]) for atom in form.terms)

    def in_front(self, write, hint):
        """Runs write(name) in front of the outermost loop; a name that nothing behind it has."""
        name = self.unused(re.sub(r"[^A-Za-z0-9_]", lambda match: f"u{ord(match.group()):x}", hint or "buffer"))
        kept, kept_pending, before = self.block, self.pending, self.before
        self.block, self.pending, self.before = self.front[0], [], True
        try:
            write(f"%{name}")
        finally:
            self.block, self.pending, self.before = kept, kept_pending, before
        return f"%{name}"

    def once(self, key, write):
        """The atom that write() computes, or that it has computed where this can be seen."""
        for known in self.known:
            if key in known:
                return known[key]
        self.known[-1][key] = write()
        return self.known[-1][key]

    def trial(self, write):
        """Runs `write` without a trace in the text."""
        kept = (self.count, dict(self.constants), list(self.prologue), self.effects, dict(self.lower), dict(self.lower_forms), dict(self.wide), self.pending)
        front, length = self.front, len(self.front[0]) if self.front else 0
        self.pending = []
        try:
            return self.inside(write)[1]
        finally:
            self.front = front
            if front:
                del front[0][length:]
            self.count, self.constants, self.prologue, self.effects, self.lower, self.lower_forms, self.wide, self.pending = kept

    # --- Indices ---

    def begin_loop(self, index, begin):
        """Notes what an index is at least that counts up from there."""
        least = self.least(begin)
        if least is not None:
            self.lower[index] = least
        if not begin.is_constant:
            self.begins_later.add(index)

    def least(self, form):
        """What a linear form is at least, or None."""
        for atom in form.terms:
            own, least = self.lower_forms.get(atom, (None, None))
            if own == form.terms:
                return least + form.constant
        total = form.constant
        for atom, factor in form.terms.items():
            if factor < 0 or atom not in self.lower:
                return None
            total += factor * self.lower[atom]
        return total

    def _sum(self, form, atom_of, constant_of, kind):
        total = None
        for atom, factor in sorted(form.terms.items(), key=lambda term: term[1] < 0):
            value = atom_of(atom)
            if abs(factor) != 1:
                value = self.value(f"arith.muli {value}, {constant_of(abs(factor))} : {kind}")
            if total is None:
                total = value if factor > 0 else self.value(f"arith.subi {constant_of(0)}, {value} : {kind}")
            else:
                total = self.value(f"arith.{'addi' if factor > 0 else 'subi'} {total}, {value} : {kind}")
        if total is None:
            return constant_of(form.constant)
        if form.constant:
            hint = f"{total[1:]}_{'plus' if form.constant > 0 else 'less'}_{abs(form.constant)}" if len(form.terms) == 1 and \
                kind == "index" and not total[1:].isdigit() else None
            total = self.value(f"arith.{'addi' if form.constant > 0 else 'subi'} {total}, {constant_of(abs(form.constant))} : {kind}", hint)
        return total

    def index(self, form):
        return self._sum(form, lambda atom: atom, lambda value: self.constant(value, "index"), "index")

    def above_zero(self, index, otherwise):
        """Stops the program where an index is not."""
        holds = self.value(f"arith.cmpi sgt, {index}, {self.constant(0, 'index')} : index")
        self.line(f'cf.assert {holds}, "{otherwise}"')

    def equal(self, a, b, otherwise):
        """Stops the program where two linear forms are not; what a block has asked is not asked again."""
        def write():
            holds = self.value(f"arith.cmpi eq, {self.index(a)}, {self.index(b)} : index")
            self.line(f'cf.assert {holds}, "{otherwise}"')
            return holds

        self.once(("equal", a, b), write)

    def integer(self, form):
        """The same in i64: indices are ints in C++, values of a program are not."""
        def atom_of(atom):
            if atom not in self.wide:
                return self.value(f"arith.index_cast {atom} : index to i64")
            operation, a, b = self.wide[atom]
            return self.value(f"arith.{operation} {self.integer(a)}, {self.integer(b)} : i64")

        atoms = list(form.terms.items())
        if len(atoms) == 1 and atoms[0][1] == 1 and form.constant < 0 and self.lower.get(atoms[0][0], -1) >= 0:
            return self.value(f"arith.index_cast {self.index(form)} : index to i64") # n - 1 is an int if n is one
        return self._sum(form, atom_of, lambda value: self.constant(value, "i64"), "i64")


def rendered(block, indent="  "):
    lines = []
    for item in block:
        lines += rendered(item, indent + "  ") if isinstance(item, list) else [Line(indent + item, getattr(item, "place", None))]
    return lines
