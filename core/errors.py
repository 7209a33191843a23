"""The one error that people see: a sentence that names the thing, and the way out."""


class MeritoError(Exception):
    """Something the user can understand and mend.

    `problem` names what is wrong in one line; `mend` says what to do next. Every face prints
    both as plain text and never a traceback.
    """

    def __init__(self, problem: str, mend: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.mend = mend

    def __str__(self) -> str:
        return f"{self.problem} {self.mend}".strip()


class UsageMistake(MeritoError):
    """What was asked for cannot be meant: a name that stands for nothing, a path where nothing is, a
    value out of its range, options that exclude each other. Nothing was begun; the command line
    leaves with 2 instead of 1."""
