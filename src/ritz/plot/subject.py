"""What a figure is of: a fitted model as it is, or data that is fitted here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ritz.errors import AccuracyWarning, DataError, ParameterError
from ritz.estimators.base import Certified, in_numpy
from ritz.estimators.pca import PCA
from ritz.fitting.rank import for_share
from ritz.rows import Rows, as_rows
from ritz.runtime.rules import is_integer
from ritz.spectrum.certify import Spectrum
from ritz.views.findings import Findings, findings
from ritz.views.format import counted, percent

AFFORDABLE = 1000  # the smaller side of data, up to which all components are computed for a figure
MANY = 100  # components of larger data
ENOUGH = 0.95  # share of the variance


@dataclass(eq=False, repr=False)
class Drawn(PCA):
    """A PCA of what is to be drawn. Components beyond the rank, or tied, were not asked for by anyone: no warning."""

    def _warn(self, found: Sequence[AccuracyWarning]) -> None:
        super()._warn([warning for warning in found if warning.code in ("not_converged", "may_have_missed")])


@dataclass(frozen=True, eq=False)
class Subject:
    """A fitted model, and rows where they are at hand.

    Attributes
    ----------
    fresh : whether it was fitted here, to data that the figure is of
    """

    model: Any
    rows: Rows | None
    fresh: bool

    @property
    def found(self) -> Findings:
        """What the model knows."""
        return findings(self.model)

    @property
    def in_range(self) -> Findings:
        """The same, where variances are numbers of float64."""
        found = self.found
        if found.out_of_range:
            raise DataError("the variances leave the range of float64", "multiply the data by a power of ten first")
        return found

    def needed(self, what: str) -> Rows:
        """The rows, or how to give them."""
        if self.rows is None:
            name = type(self.model).__name__
            raise DataError(
                f"{what} needs rows, and a fitted {name} does not keep them", "pass X as the second argument"
            )
        return self.rows

    @property
    def most(self) -> int:
        """How many components there are to choose from."""
        return min(self.rows.shape) if self.fresh and self.rows is not None else self.found.k

    @property
    def enough(self) -> int:
        """The fewest components that hold most of the variance, for a title: nobody has asked for a number."""
        return min(for_share(self.found.shares, 1.0, ENOUGH), self.found.k)

    @property
    def limit(self) -> str:
        """That number in words, and where it comes from."""
        if self.fresh and self.rows is not None:
            rows, columns = self.rows.shape
            return f"{self.most}, as many as {counted(rows, 'row')} of {counted(columns, 'column')} have"
        return f"{self.most}, as many as the model keeps; fit it with a larger n_components to see more"

    def within(self, name: str, count: Any) -> int:
        """A number of components that exist; an error that names the parameter otherwise."""
        if not is_integer(count) or not 1 <= count <= self.most:
            raise ParameterError(name, count, f"must be a number of components between 1 and {self.limit}")
        return int(count)

    def refitted(self, at_most: int | None = None) -> Subject:
        """The same rows, prepared in the same way, with all components, or at most so many."""
        how = {name: getattr(self.model, name) for name in ("center", "scale", "ddof")}
        return subject(self.rows, at_most=at_most, **how)

    def linear(self, what: str, instead: str = "ritz.plot.scores shows rows on them") -> PCA:
        """The model, which has its axes in the space of the data; or what to do instead."""
        if not isinstance(self.model, PCA):
            name = type(self.model).__name__
            raise TypeError(
                f"{what} is drawn for data or a fitted ritz.PCA, not for a {name!r}, whose axes are in feature space; "
                f"{instead}"
            )
        return self.model


def is_model(given: Any) -> bool:
    """Whether this is a model, and not data."""
    return isinstance(given, Certified)


def subject(given: Any, X: Any = None, at_most: int | None = None, **parameters: Any) -> Subject:
    """A fitted model with the rows X, or data, which is fitted here with these parameters.

    Of data `at_most` so many components are computed; None stands for all of them, where that takes no long time. What
    is no such number is for `Subject.within` to refuse.
    """
    if hasattr(given, "fit"):
        if not is_model(given) or not hasattr(given, "n_components"):
            name = f"{type(given).__module__.partition('.')[0]}.{type(given).__name__}"
            raise TypeError(f"figures are of data, a ritz.PCA or a ritz.KernelPCA, not of a {name}; fit one of those")
        given = in_numpy(given)
        findings(given)  # an error where there is no fit, or nothing to be seen
        rows = None if X is None else given._known(X).on_cpu()
        return Subject(given, rows, fresh=False)
    if isinstance(given, Spectrum):
        raise TypeError(
            "this figure is of data or a fitted model, not of what ritz.eigen returns; "
            "spectrum_gap, certificate and convergence are of that too"
        )
    if X is not None:
        raise TypeError(
            f"the first argument is data already ({type(given).__name__}), and X= is for the rows of a fitted model; "
            "pass labels=… to colour the rows, or a model first"
        )
    rows = as_rows(given).on_cpu()
    most = MANY if at_most is None and min(rows.shape) > AFFORDABLE else at_most
    k = None if most is None else min(most, *rows.shape) if is_integer(most) and most >= 1 else 1
    return Subject(Drawn(k, **parameters).fit(rows), rows, fresh=True)


def axis_name(found: Findings, i: int) -> str:
    """A component with its share of the variance: PC1 (92.5%)."""
    return f"PC{i + 1} ({percent(float(found.shares[i]))})"
