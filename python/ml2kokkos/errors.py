"""What can go wrong, as exceptions."""


class Error(Exception):
    """Base of all errors of this package."""


class ToolNotFound(Error):
    """The program ml2kokkos, Kokkos or a build tool is not there."""


class TranslationError(Error):
    """The tool refuses the model. The text is the tool's, with file, line or node; `exit_code` as in docs/options.md."""

    def __init__(self, text, exit_code):
        super().__init__(text)
        self.exit_code = exit_code

    def __reduce__(self):
        return type(self), (str(self), self.exit_code)


class BuildError(Error):
    """The printed code or its binding does not compile; `log` is all that the build wrote."""

    def __init__(self, text, log=""):
        super().__init__(text)
        self.log = log

    def __reduce__(self):
        return type(self), (str(self), self.log)
