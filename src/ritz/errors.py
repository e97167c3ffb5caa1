"""What Ritz raises and warns with."""


class DataError(ValueError):
    """The data cannot be decomposed; the message names the place and the next step."""


class AccuracyWarning(UserWarning):
    """The answer holds, but not in the way that was asked for; the certificate says how far."""


class ColumnWarning(UserWarning):
    """Column names that need the reader's attention."""


class NotYetError(AttributeError, DataError):
    """What was asked for cannot be computed from the rows so far."""
