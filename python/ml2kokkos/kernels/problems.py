"""What is wrong with a kernel, each with its place."""

from ..errors import Error


class KernelError(Error):
    """All problems of a kernel; `problems` has (file, line, column, text) of each."""

    def __init__(self, problems, lines=()):
        self.problems = list(problems)
        super().__init__("\n".join(self._shown(problem, lines) for problem in self.problems))

    @staticmethod
    def _shown(problem, lines):
        file, line, column, text = problem
        shown = lines.get((file, line), "") if lines else ""
        shown = "".join(c if c.isprintable() else " " for c in shown)
        return f"{file}:{line}:{column}: error: {text}" + (f"\n    {shown}\n    {' ' * (column - 1)}^" if shown else "")

    def __reduce__(self):
        return _again, (str(self), self.problems)


def _again(text, problems):
    error = KernelError.__new__(KernelError)
    Error.__init__(error, text)
    error.problems = problems
    return error


class Problem(Exception):
    """One problem at a node of the syntax tree; without text where an earlier one is the cause."""

    def __init__(self, node, text, source):
        super().__init__(text)
        self.node, self.text, self.source = node, text, source


class Restart(Exception):
    """Sizes have turned out to be equal, or an array to be an argument: the text is written again with that."""
