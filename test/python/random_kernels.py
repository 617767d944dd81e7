"""Random kernels from a seed: text of Python whose meaning Python itself decides.

Values stay such that Python raises nothing and no comparison hangs on the last bit: integers are small, divisors are not zero,
positions are inside; what jumps at whole numbers does not get sums that are one, perhaps, in another order of their terms."""

from random_expressions import Expressions, Place

PARAMETERS = "a: kk.f64[N], b: kk.f64[N], m: kk.f64[N, M], q: kk.f64[N, M], k: kk.i64[N], u: kk.u32[N], w: kk.i32[N], z: kk.i64[N], f: kk.f32[N], " \
    "g: kk.f32[N, M], h: kk.f64[N, 3, M], c: kk.c128[N], s: float, n: int"
HELPERS = '''
def limited(x, most):
    if x > most:
        return most
    if x < -most:
        return -most
    return x


def mixed(x, y):
    t = x * 0.5 + y
    return t, x - y
'''


class Maker(Expressions):
    # --- Statements ---

    def target(self, at):
        name = self.random.choice([name for name in [*at.vectors, *at.matrices, *at.shorts, "h"] if name in at.writes or name in at.shorts] or ["a"])
        return f"{name}[{self.position(at, name)}]"

    def scalars(self, at, indent):
        """A local with a value."""
        if self.random.random() < 0.3:
            name, value = self.fresh("i"), self.integer(at)
            at.integers.append(name)
        elif self.random.random() < 0.2:
            name, other = self.fresh("x"), self.fresh("x")
            lines = [f"{indent}{name}, {other} = mixed({self.real(at, 2)}, {self.real(at, 1)})"]
            at.floats += [name, other]
            return lines
        else:
            name, value = self.fresh("x"), self.real(at)
            at.floats.append(name)
        return [f"{indent}{name} = {value}"]

    def store(self, at, indent):
        if "k" in at.writes and self.random.random() < 0.15:
            return [f"{indent}k[{self.row(at)}] = ({self.integer(at)}) % 100"]
        if "u" in at.writes and self.random.random() < 0.15:
            return [f"{indent}u[{self.row(at)}] {self.random.choice(['=', '=', '^=', '+='])} {self.natural(at)}"]
        if "z" in at.writes and self.random.random() < 0.15:
            return [f"{indent}z[{self.row(at)}] {self.random.choice(['=', '=', '^=', '-='])} {self.wide(at)}"]
        if "w" in at.writes and self.random.random() < 0.1:
            return [f"{indent}w[{self.row(at)}] = ({self.integer(at)}) % 100"]
        name = self.random.choice("fgc")
        if name in at.writes and self.random.random() < 0.25:
            value = f"{self.pair(at)} * 0.5" if name == "c" else self.single(at)
            return [f"{indent}{name}[{self.position(at, name)}] {self.random.choice(['=', '=', '+=', '-='])} {value}"]
        return [f"{indent}{self.target(at)} {self.random.choice(['=', '=', '+=', '-='])} {self.real(at)}"]

    def short(self, at, indent):
        """An array of an iteration's own."""
        name = self.fresh("v")
        lines = [f"{indent}{name} = kk.zeros(4, kk.f64)"]
        lines += [f"{indent}{name}[{t}] = {self.real(at, 2)}" for t in self.random.sample(range(4), self.random.randint(0, 3))]
        at.shorts.append(name)
        return lines + [f"{indent}{name}[:] = {name} * 0.5 + {self.real(at, 1)}"] * (self.random.random() < 0.3)

    def strip(self, at, indent):
        """A row of a matrix as a whole."""
        r = self.random
        names = [name for name in at.matrices if name not in at.frozen]
        if not names:
            return self.store(at, indent)
        x, y = (f"{r.choice(names)}[{self.row(at)}" for _ in range(2))
        targets = [name for name in at.matrices if name in at.writes]
        to, value = f"{r.choice(targets)}[{self.row(at)}" if targets else "", self.real(at, 1)
        if not targets or r.random() < 0.4:
            name = self.fresh("x")
            at.floats.append(name)
            return [f"{indent}{name} = " + r.choice([f"kk.sum({x}] * {y}])", f"{x}] @ {y}, :] * 0.1", f"kk.max({x}, 1:] - {y}, :-1])", f"kk.min(abs({x}]))"]) + " * 0.25"]
        return [indent + r.choice([f"{to}] = {x}] * 0.5 + {value}", f"{to}, 1:] = {x}, :-1] - {y}, 1:] * 0.5", f"{to}, ::2] *= 0.5", f"{to}, :] += {x}] * 0.25 - {value}",
                                   f"{to}] = kk.where({x}] > {y}], {value}, {y}])", f"{to}, 2] = kk.sum({x}, 1:3]) * 0.5"])]

    def update(self, at, indent):
        if not at.floats or self.random.random() < 0.3:
            return [f"{indent}{self.random.choice(at.integers)} = ({self.integer(at)}) % 50"] if at.integers else self.scalars(at, indent)
        name = self.random.choice(at.floats)
        return [f"{indent}{name} = {name} * 0.5 + {self.real(at, 2)}"]

    def branch(self, at, indent, depth):
        lines = [f"{indent}if {self.test(at)}:"] + self.body(at.inside(), indent + "    ", depth - 1, 2)
        if self.random.random() < 0.3:
            lines += [f"{indent}elif {self.test(at)}:"] + self.body(at.inside(), indent + "    ", depth - 1, 1)
        if self.random.random() < 0.5:
            lines += [f"{indent}else:"] + self.body(at.inside(), indent + "    ", depth - 1, 2)
        return lines

    def repeat(self, at, indent, depth):
        """A while loop that ends."""
        count, value = self.fresh("c"), self.fresh("x")
        inside = at.inside(floats=[value])
        return [f"{indent}{count} = 0", f"{indent}{value} = {self.real(at, 2)}",
                f"{indent}while {count} < {self.random.randint(1, 6)} and {value} < 4.0:",
                *self.body(inside, indent + "    ", depth - 1, 1), f"{indent}    {value} = abs({value}) * 1.5 + 0.25", f"{indent}    {count} += 1",
                *self.store(at.inside(floats=[value], integers=[count]), indent)]

    def columns(self, at, indent, depth):
        low, high, j = self.random.randint(0, 1), self.random.randint(0, 1), self.fresh("j")
        head = f"{indent}for {j} in kk.range({low}, M - {high}):" if low or high else f"{indent}for {j} in kk.range(M):"
        return [head] + self.body(at.inside(columns=[(j, -low, high)]), indent + "    ", depth - 1, 2)

    def unrolled(self, at, indent, depth):
        t = self.fresh("t")
        return [f"{indent}for {t} in range(3):"] + self.body(at.inside(integers=[t]), indent + "    ", depth - 1, 1)

    def reduction(self, at, indent):
        r, e = self.random, self.fresh("e")
        how = r.choice(["sum", "max", "min", "sum"])
        wide = at.inside(rows=[(e, 0, 0)])
        guard = f" if {self.test(wide)}" if r.random() < 0.4 and how == "sum" else ""
        name = self.fresh("x")
        line = f"{indent}{name} = kk.{how}({self.real(wide, 2)} for {e} in kk.range(N){guard})"
        at.floats.append(name)
        return [line]

    def body(self, at, indent, depth, count):
        lines = []
        for _ in range(self.random.randint(1, count)):
            options = [lambda: self.scalars(at, indent), lambda: self.store(at, indent), lambda: self.store(at, indent), lambda: self.update(at, indent)]
            options += [lambda: self.short(at, indent)] * (len(at.shorts) < 2) + [lambda: self.strip(at, indent)] * (not at.columns)
            if depth > 0:
                options += [lambda: self.branch(at, indent, depth), lambda: self.repeat(at, indent, depth), lambda: self.unrolled(at, indent, depth)]
                if not at.columns:
                    options += [lambda: self.columns(at, indent, depth)] * 2
                if len(at.rows) < 2:
                    options.append(lambda: self.reduction(at, indent))
            lines += self.random.choice(options)()
        return lines + self.store(at, indent) if self.random.random() < 0.5 else lines

    # --- Kernels ---

    def ordered(self, at):
        r, i = self.random, self.fresh("r")
        low, high = r.randint(0, 2), r.randint(0, 2)
        head = r.choice([f"kk.range({low}, N - {high})", f"kk.range({low}, N - {high}, 2)", f"kk.range(N - {high} - 1, {low} - 1, -1)"])
        inside = at.inside(rows=[(i, -low, high)])
        if r.random() < 0.5: # so that some of the loops are parallel
            written = set(r.sample([*at.vectors, *at.matrices, *"kuwzfghc"], r.randint(1, 2))) | {"a"}
            inside.writes, inside.frozen = written, set(written)
            inside.rows = [(i, 0, 0)]
            lines = self.body(inside, "        ", 2, 3)
            return [f"    for {i} in {head}:"] + lines
        return [f"    for {i} in {head}:"] + self.body(inside, "        ", 2, 3)

    def declared(self, at):
        """Iterations that write what is theirs and read what no other one writes."""
        r, i = self.random, self.fresh("r")
        two = r.random() < 0.4
        j = self.fresh("j")
        name = r.choice("mq") if two else r.choice("ab")
        inside = at.inside(rows=[(i, 0, 0)], columns=[(j, 0, 0)] if two else [], frozen=[name])
        inside.writes = set()
        value = self.real(inside)
        where = f"{name}[{i}, {j}]" if two else f"{name}[{i}]"
        head = f"    for {i}, {j} in kk.parallel(N, M):" if two else f"    for {i} in kk.parallel(N):"
        lines = [head, f"        {where} = {value}", f"        if {self.test(inside)}:", f"            {where} += {self.real(inside, 2)}"]
        return lines

    def meet(self, inside, targets, indent):
        """An update of an element that other iterations may change, too."""
        r, name = self.random, self.random.choice(targets)
        place = r.choice([lambda: f"({self.integer(inside, 1)}) % N", lambda: "1"])()
        if name == "k":
            return f"{indent}kk.atomic_add(k, {place}, ({self.integer(inside)}) % 100)"
        return f"{indent}kk.atomic_add({name}, {f'({place}, ({self.integer(inside, 1)}) % M)' if name in 'mq' else place}, {self.real(inside, 2)})"

    def scattered(self, at):
        """Iterations that meet in atomic updates."""
        r, i, j = self.random, self.fresh("r"), self.fresh("j")
        targets, two = r.sample("abmqk", r.randint(1, 2)), r.random() < 0.3
        inside = at.inside(rows=[(i, 0, 0)], columns=[(j, 0, 0)] if two else [], frozen=targets)
        inside.writes = set()
        lines = [f"    for {i}, {j} in kk.parallel(N, M):" if two else f"    for {i} in kk.parallel(N):"]
        for _ in range(r.randint(1, 3)):
            indent = "        "
            if r.random() < 0.4:
                lines.append(f"{indent}if {self.test(inside)}:")
                indent += "    "
            elif not two and r.random() < 0.3:
                lines.append(f"{indent}for {j} in kk.range(M):")
                lines.append(self.meet(inside.inside(columns=[(j, 0, 0)]), targets, indent + "    "))
                continue
            lines.append(self.meet(inside, targets, indent))
        return lines

    def along(self, at, own, targets, i, indent):
        """A statement of iteration i: a reduction or a loop along its row of `own`, an atomic update beside them, an own result."""
        r, j, x = self.random, self.fresh("j"), self.fresh("x")
        inner, wide = indent + "    ", at.inside(columns=[(j, 0, 0)])
        here = f"{own}[{i}, {j}]"
        term = lambda: r.choice([lambda: self.real(wide, 2), lambda: f"{here} * {self.real(wide, 1)}"])()
        loop, name = [f"{indent}for {j} in kk.range(M):"], r.choice("ab")

        def reduced():
            how = r.choice(["sum", "sum", "max", "min"])
            guard = f" if {self.test(wide)}" if r.random() < 0.3 and how == "sum" else ""
            lines = [f"{indent}{x} = kk.{how}({term()} for {j} in kk.range(M){guard})"]
            at.floats.append(x)
            return lines

        def carried():
            y, first = self.fresh("x"), self.real(at, 1)
            lines = [f"{indent}{x} = {first}", f"{indent}{y} = 0.5", *loop, f"{inner}{x} {r.choice(['+=', '-='])} {term()}"]
            lines += [f"{inner}{y} = {r.choice(['max', 'min'])}({y}, {term()})"] * (r.random() < 0.5)
            lines += [self.meet(wide, targets, inner)] * (r.random() < 0.2)
            at.floats.extend([x, y])
            return lines

        return self.choose(
            reduced, reduced, carried, carried, lambda: [*loop, f"{inner}{here} = {term()}"], lambda: [*loop, f"{inner}{here} {r.choice(['*=', '-='])} {self.real(wide, 1)}"],
            lambda: [*loop, self.meet(wide, targets, inner)], lambda: [self.meet(at, targets, indent)], lambda: [f"{indent}{own}[{i}, 1] = {self.real(at, 2)}"],
            lambda: [f"{indent}{name}[{i}] = {self.real(at, 2)}"] if name in at.writes else [self.meet(at, targets, indent)],
            lambda: [f"{indent}if {self.test(at)}:", *self.along(at.inside(), own, targets, i, inner)])

    def rows(self, at):
        """Rows that do not meet but in atomic updates: what a team may share."""
        r, i = self.random, self.fresh("r")
        own = r.choice("mq")
        names = r.sample([name for name in "abmqk" if name != own], 3)
        targets, results = names[:1], {name for name in names[1:] if name in "ab"}
        inside = at.inside(rows=[(i, 0, 0)], frozen=[own, *targets, *results])
        inside.writes = results
        lines = [f"    for {i} in kk.{r.choice(['parallel', 'range'])}(N):"]
        for _ in range(r.randint(2, 5)):
            lines += self.along(inside, own, targets, i, "        ")
        return lines

    def step(self, at, own, j, x, indent, depth=1):
        """A loop along the column j of the matrix `own`, which carries x."""
        r, i = self.random, self.fresh("r")
        head = r.choice(["kk.range(1, N - 1)", "kk.range(N - 2, 0, -1)", "kk.range(1, N - 1, 2)"])
        step, inner = at.inside(rows=[(i, -1, 1)], floats=[x]), indent + "    "
        here, there = f"{own}[{i}, {j}]", f"{own}[{i} {r.choice('+-')} 1, {j}]"
        lines = [f"{indent}for {i} in {head}:"]
        for _ in range(r.randint(1, 3)):
            lines += self.choose(
                lambda: [f"{inner}{x} = {x} * 0.5 + {self.real(step, 2)} * 0.25"], lambda: [f"{inner}{here} = {there} * 0.5 + {self.real(step, 2)}"],
                lambda: [f"{inner}{here} = {x} - {self.real(step, 1)}"], lambda: [f"{inner}{x} = min({x}, {there}) * 0.75"],
                lambda: [f"{inner}if {self.test(step)}:", f"{inner}    {here} = {x} * s", f"{inner}    {x} = {self.real(step, 1)}"],
                lambda: self.step(step, own, j, x, inner, depth - 1) if depth else [f"{inner}{here} *= 0.5"])
        return lines

    def walk(self, at):
        """Down the columns of a matrix, side by side."""
        r, j, x = self.random, self.fresh("j"), self.fresh("x")
        own = r.choice("mq")
        inside = at.inside(columns=[(j, 0, 0)], frozen=[own])
        lines = [f"    for {j} in kk.{r.choice(['parallel', 'range'])}(M):", f"        {x} = {self.real(inside, 1)}"]
        for _ in range(r.randint(1, 3)):
            lines += self.step(inside, own, j, x, "        ")
            if r.random() < 0.3:
                lines.append(f"        {x} = {x} * {own}[0, {j}] * 0.5 - {self.real(inside, 1)}")
        return lines + [f"        {own}[0, {j}] += {x}"] * (r.random() < 0.5)

    def joined(self, at, x, c, indent):
        """A term of the total x or of the count c."""
        r, t = self.random, self.fresh("t")
        how = r.choice(["min", "max"])
        lines = self.choose(
            lambda: [f"{indent}{x} = {how}({x}, {self.real(at, 2)})"], lambda: [f"{indent}{x} = {how}({x}, {self.real(at, 2)})"],
            lambda: [f"{indent}{x} = {how}({self.real(at, 2)}, {x})"], lambda: [f"{indent}{c} {r.choice(['+=', '-=', '|='])} {self.integer(at)}"],
            lambda: [f"{indent}{t} = {self.real(at, 2)}", f"{indent}if {t} {r.choice('<>')} {x}:", f"{indent}    {x} = {t}"],
            lambda: [f"{indent}{c} = {how}({c}, {self.integer(at)})"], lambda: [f"{indent}{t} = {self.integer(at)}", f"{indent}if {t} > {c}:", f"{indent}    {c} = {t}"])
        return [f"{indent}if {self.test(at)}:", *("    " + line for line in lines)] if r.random() < 0.3 else lines

    def totals(self, at):
        """What a loop carries: extremes, sums, counts, one kind of term each or several; perhaps over a grid, beside stores."""
        r, i, j, x, y, c = self.random, self.fresh("r"), self.fresh("j"), self.fresh("x"), self.fresh("x"), self.fresh("i")
        lines = [f"    {x} = {r.choice([self.real(at, 1), '1e9', '-1e9'])}", f"    {y} = 0.0", f"    {c} = {r.choice(['0', '100'])}", f"    for {i} in kk.range(N):"]
        inside, indent = at.inside(rows=[(i, 0, 0)], frozen=["u"]), "        "
        if r.random() < 0.4:
            inside, indent = inside.inside(columns=[(j, 0, 0)]), indent + "    "
            lines.append(f"        for {j} in kk.range(M):")
        inside.writes = set()
        for _ in range(r.randint(1, 3)):
            lines += self.joined(inside, r.choice([x, y]), c, indent)
        lines += [f"{indent}u[{i}] ^= 5"] * (r.random() < 0.3)
        at.floats += [x, y]
        return lines + [f"    k[1] = {c} % 1000", f"    b[1] = {x} * 1e-3 + {y}"]

    def places(self, at):
        """Where the best is found, the first or the last of equal ones, under a condition or not, perhaps in a grid."""
        r, i, j, x, p, q, t = self.random, *(self.fresh(stem) for stem in "rjxiit")
        inside, indent, whole, two = at.inside(rows=[(i, 0, 0)]), "        ", self.random.random() < 0.4, self.random.random() < 0.4
        lines = [f"    {p} = {r.randint(-3, 3)}", f"    {q} = n", f"    {x} = " + (f"({self.integer(at, 1)})" if whole else r.choice(["1e9", "-1e9", "a[0]", self.real(at, 1)])),
                 f"    for {i} in kk.range({r.choice(['N', '1, N', '0, N, 2'])}):"]
        if two:
            inside, indent = inside.inside(columns=[(j, 0, 0)]), indent + "    "
            lines.append(f"        for {j} in kk.range({r.choice(['M', '1, M'])}):")
        inside.writes = set()
        term = r.choice([lambda: self.element(inside), lambda: f"abs({self.element(inside)})", lambda: self.real(inside)])
        lines.append(f"{indent}{t} = " + (f"({self.integer(inside)}) % 7" if whole else term()))
        sign = r.choice(["<", ">", "<=", ">="])
        test = r.choice([f"{t} {sign} {x}", f"{x} {sign} {t}", f"{self.test(inside)} and {t} {sign} {x}"])
        lines += [f"{indent}if {test}:", f"{indent}    {x} = {t}", f"{indent}    {p} = {r.choice([i, i, f'{i} * 2 - 1', f'k[{i}]' if 'k' not in at.frozen else i])}"]
        lines += [f"{indent}    {q} = {r.choice([j, f'{j} - {i}']) if two else f'{i} + n'}"] * (r.random() < 0.6)
        (at.integers if whole else at.floats).append(x)
        return lines + [f"    k[3] = {p} % 1000 + {q} % 100", f"    b[2] = {x} * 1e-3"]

    def whole(self, at):
        r = self.random
        x = lambda: r.choice(["a", "b", "a[:]", "b * s", "(a + b)", "m[:, 1]", "np.sin(b)", "abs(a)", "kk.sum(m, axis=1)", "q[:, 0] * 0.5"])
        y = lambda: r.choice(["m", "q", "m * q", "(m - s)", "q[:, :]", "np.tanh(m)", "kk.where(m > q, m, q)", "-q", "np.minimum(m, q)"])
        return ["    " + self.choose(
            lambda: f"a[:] = {x()} * 0.5 + {x()} * 0.25", lambda: f"b[1:] = a[:-1] - {self.real(at, 1)}", lambda: f"a[::2] *= {r.uniform(-1, 1):.2f}",
            lambda: f"m[...] = {y()} * 0.5 - {y()}", lambda: "m[1:, :] = m[:-1, :] + 0.5", lambda: f"q[:, 1:] = {r.choice('mq')}[:, :-1] * s",
            lambda: f"m[:, 0] += {x()}", lambda: "b[:] = kk.max(m, axis=1) - kk.min(q, axis=1)", lambda: f"q[:] = {y()} / (abs({y()}) + 1.0)",
            lambda: f"a[{r.choice(['1:-1', ':-2', '2:'])}:2] = a[:-2:2] * 0.5 + a[2::2] * s", lambda: "m[1:-1:2, 1:-1:2] = m[:-2:2, 1:-1:2] * 0.5 + m[1:-1:2, 2::2] * 0.25",
            lambda: "k[:] = k // 3 + 1", lambda: "a[1:-1] = (b[:-2] + b[2:]) * 0.5", lambda: "b[:] = m @ q[0] * 0.1",
            lambda: f"{r.choice('mq')}[:] = (m @ q.T) @ {r.choice('mq')} * 0.01", lambda: f"q[:] += kk.einsum('ij,kj->ik', m, q) @ m * {r.uniform(-1, 1):.2f}",
            lambda: f"m[:] = {y()} - kk.sum({r.choice('mq')}, axis=0) * 0.1", lambda: "q[:] = q * kk.max(m, axis=0) - kk.min(q, axis=0)",
            lambda: f"m[{r.choice('01')}] = {r.choice('ab')} @ {r.choice('mq')} * 0.1")]

    def searched(self, at):
        """Positions, conditions of all elements, running sums."""
        r, e, i = self.random, self.fresh("e"), self.fresh("i")
        wide = at.inside(rows=[(e, 0, 0)])
        return self.choose(
            lambda: [f"    {i} = kk.arg{r.choice(['min', 'max'])}({self.real(wide, 1)} for {e} in kk.range(N))", f"    k[1] = {i}"],
            lambda: [f"    k[2] = 1 if kk.{r.choice(['any', 'all'])}({self.test(wide)} for {e} in kk.range(N)) else 3"],
            lambda: [f"    {r.choice('ab')}[:] = kk.scan({r.choice(['a', 'b', 'a * b', 'm[:, 1]'])}) * 0.1"],
            lambda: [f"    {r.choice('mq')}[:] = kk.scan({r.choice(['m', 'q', 'm - q'])}, how='{r.choice(['sum', 'max', 'min'])}', axis={r.choice('01')}) * 0.1"],
            lambda: [f"    k[:] = kk.scan(k % 7, how='{r.choice(['sum', 'max'])}')"])

    def sweep(self, at):
        """Every other position of two or three dimensions, from its neighbours."""
        r, i, j, c, own, loop = self.random, self.fresh("i"), self.fresh("j"), self.fresh("c"), self.random.choice("mqh"), self.random.choice(["range", "range", "parallel"])
        spans = [(i, 1, "N - 1"), *[(c, 0, "3")] * (own == "h"), (j, 1, "M - 1")]
        here = ", ".join(name for name, _, _ in spans)
        near = lambda: f"{own}[{here.replace(*r.choice([(i, f'{i} - 1'), (i, f'{i} + 1'), (j, f'{j} - 1'), (j, f'{j} + 1')]))}]"
        test = f"({here.replace(',', ' +')}{r.choice(['', ' + 1', ' - 1', ' + 4'])}) % 2 {r.choice(['==', '!='])} {r.choice('01')}"
        if loop == "range":
            lines = [f"{'    ' * (place + 1)}for {name} in kk.range({first}, {end}):" for place, (name, first, end) in enumerate(spans)]
        else: # from 0 on, and moved
            lines = [f"    for {here} in kk.parallel({', '.join(['N - 1', *['3'] * (own == 'h'), 'M - 1'])}):"]
            near = lambda: f"{'b' if own == 'h' else 'a'}[{i}]"
        indent = "    " * (len(lines) + 1)
        value = f"({near()} + {near()}) * 0.25 + {r.uniform(-1, 1):.2f}"
        lines += [f"{indent}if {test}:", f"{indent}    {own}[{here}] {r.choice(['=', '=', '+='])} {value}"]
        return lines + [f"{indent}else:", f"{indent}    {own}[{here}] *= 0.5"] * (r.random() < 0.15)

    def rounds(self, at):
        """Loops in a while that forward() runs, with a count or a distance that doubles."""
        r, c, i = self.random, self.fresh("c"), self.fresh("r")
        if r.random() < 0.5:
            inside = at.inside(rows=[(i, 0, 0)], frozen=["a"])
            inside.writes = {"a"}
            return [f"    {c} = 1", f"    while {c} < N:", f"        for {i} in kk.range({c}, N):", f"            a[{i}] = b[{i} - {c}] * 0.5 + {self.real(inside, 2)}",
                    f"        for {i} in kk.range(N):", f"            b[{i}] = a[{i}] * 0.5", f"        {c} *= 2"]
        outer, lines = at.inside(), []
        for _ in range(r.randint(1, 2)):
            lines += self.choose(lambda: self.ordered(outer), lambda: self.declared(outer), lambda: self.whole(outer), lambda: self.totals(outer), lambda: self.scattered(outer))
        test = r.choice(["", f" and {self.test(at)}"])
        return [f"    {c} = 0", f"    while {c} < {r.randint(1, 4)}{test}:", *("    " + line for line in lines), f"        {c} += 1"]

    def kernel(self, name):
        at = Place()
        lines = [f"def {name}({PARAMETERS}):"]
        if self.random.random() < 0.3:
            new, shape = self.random.choice([("p", "N"), ("o", "(N, M)")])
            lines.append(f"    {new} = kk.zeros({shape}, kk.f64)")
            (at.vectors if new == "p" else at.matrices).append(new)
            at.writes.add(new)
        for _ in range(self.random.randint(1, 4)):
            lines += self.choose(lambda: self.ordered(at), lambda: self.ordered(at), lambda: self.declared(at), lambda: self.whole(at), lambda: self.walk(at), lambda: self.scattered(at), lambda: self.rows(at), lambda: self.sweep(at), lambda: self.totals(at), lambda: self.totals(at), lambda: self.places(at), lambda: self.places(at),
                                 lambda: self.searched(at), lambda: self.rounds(at), lambda: self.reduction(at, "    "), lambda: self.scalars(at, "    "))
            lines += [f"    b[0] = b[0] * 0.5 + {at.floats[-1]}"] if at.floats and self.random.random() < 0.5 else []
        return lines


def text_of(seed, name):
    return "\n".join(Maker(seed).kernel(name)) + "\n"
