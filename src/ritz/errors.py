"""What Ritz raises and warns with."""


class DataError(ValueError):
    """The data cannot be decomposed; the message names the place and the next step.

    Attributes
    ----------
    problem : the message without its next step
    advice : the next step, in the words of the Python interface
    code : which rule was broken, for programs that word the next step in their own way; "" where none need to
    """

    advice: str = ""
    code: str = ""

    def __init__(self, problem: str = "", advice: str = "", code: str = "") -> None:
        super().__init__(f"{problem}; {advice}" if advice else problem)
        self.advice, self.code = advice, code

    @property
    def problem(self) -> str:
        return str(self).removesuffix(f"; {self.advice}")

    def about(self, problem: str) -> "DataError":
        """The same error, whose problem is told in other words, such as another name of the file."""
        error = type(self)(f"{problem}; {self.advice}" if self.advice else problem)
        vars(error).update(vars(self))
        return error


class AccuracyWarning(UserWarning):
    """The answer holds, but not in the way that was asked for; the certificate says how far."""


class ColumnWarning(UserWarning):
    """Column names that need the reader's attention."""


class NotYetError(AttributeError, DataError):
    """What was asked for cannot be computed from the rows so far."""
