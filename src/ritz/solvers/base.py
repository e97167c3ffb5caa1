"""What a solver is: a frozen dataclass whose `basis` returns an orthonormal basis, and nothing else."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from ritz.errors import DataError
from ritz.linalg.arrays import on_host
from ritz.linalg.bases import orthonormalise
from ritz.linalg.dense import Array, column_norms, eigh_descending
from ritz.operators import Operator
from ritz.runtime.rules import FRACTION, integer
from ritz.runtime.wording import component, plural

# Columns of a block for up to MANY components and beyond. A narrow block makes the most of every column, by polynomials
# of high degree; a wide one needs fewer passes.
BLOCK, WIDE, MANY = 8, 16, 32
STEPS = 16  # blocks that a basis holds beside three vectors per component, before it is restarted
ENOUGH = 3  # steps of one component, from which the fall of its residual can be told


class Step(NamedTuple):
    """One iteration: the component it worked on (the worst of a block), its value, their change, its residual.

    Attributes
    ----------
    iteration : counted from 1, for power anew for every component
    component : counted from 0
    value : the estimate of its eigenvalue
    change : of the values, relative, since the iteration before
    residual : ‖A u − λ u‖

    Examples
    --------
    >>> import numpy as np
    >>> import ritz
    >>> first, second, *_ = ritz.eigen(np.diag([4.0, 1.0]), 1, "power", start=[1.0, 1.0]).history
    >>> first.iteration, first.component, round(first.value, 4), round(first.residual, 4)
    (1, 0, 2.5, 1.5)
    >>> round(second.value, 4), round(second.change, 4)  # (3.8235 − 2.5)/3.8235
    (3.8235, 0.3462)
    """

    iteration: int
    component: int
    value: float
    change: float
    residual: float


class Outside(NamedTuple):
    """An upper bound of an operator's norm outside a basis, and the probability that it does not hold.

    Attributes
    ----------
    level : no eigenvalue outside the basis is larger
    failure : probability that this is wrong, over the random numbers of the solver; 0 where it is proved

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.solvers import Basis, Outside
    >>> Basis(np.eye(3)[:, :1], outside=Outside(2.0)).outside  # of diag(3, 2, 1): the rest is at most 2
    Outside(level=2.0, failure=0.0)
    """

    level: float
    failure: float = 0.0


@dataclass(frozen=True, eq=False)
class Basis:
    """An orthonormal basis Q holding the wanted eigenvectors, and the way there.

    AQ is the product A·Q where it is already known, each column combined from `mixed` products; P the left singular
    vectors where Q holds right ones. `outside` bounds A outside span(Q) where the solver learned something about it.
    `note` says why an iteration stopped short, empty if it did not. `following` is a Ritz value that comes after the
    k of interest, where one was measured outside of Q too.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from ritz import eigen
    >>> from ritz.solvers import Basis
    >>> @dataclass(frozen=True)
    ... class Known:  # a solver that was told the answer
    ...     side, direct = "either", False
    ...
    ...     def basis(self, A, k, *, tol, rng):
    ...         return Basis(np.eye(A.dim)[:, :k])
    >>> found = eigen(np.diag([3.0, 2.0, 1.0]), 1, Known())
    >>> found.values, found.certificate.completeness
    (array([3.]), 'proved')
    """

    Q: Array  # (dim, m), m ≥ k
    AQ: Array | None = None  # (dim, m)
    P: Array | None = None  # (p, m)
    history: tuple[Step, ...] = ()
    note: str = ""
    outside: Outside | None = None
    mixed: int = 1
    following: float = -np.inf


class Solver(Protocol):
    """Options live on the solver object.

    `side` says which operator it works on: "covariance", "gram", or "either", the smaller of the two. `direct` solvers
    decompose a dense operator or its factor; the others need only products.

    Examples
    --------
    >>> from ritz.solvers import SOLVERS
    >>> {name: (kind.side, kind.direct) for name, kind in SOLVERS.items() if kind.direct}
    {'covariance': ('covariance', True), 'gram': ('gram', True), 'svd': ('covariance', True)}
    """

    side: ClassVar[str]
    direct: ClassVar[bool]

    def basis(self, A: Operator, k: int, *, tol: float | None, rng: np.random.Generator) -> Basis:
        """An orthonormal basis holding the k leading eigenvectors of A.

        PCA and `ritz.eigen` call it; a solver of your own has it. A is an operator that they make of the data.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz.operators.given import Dense
        >>> from ritz.solvers import Covariance
        >>> A, rng = Dense(np.diag([1.0, 4.0, 2.0])), np.random.default_rng(0)
        >>> found = Covariance().basis(A, 1, tol=1e-6, rng=rng)
        >>> np.abs(found.Q[:, 0]).round(6)
        array([0., 1., 0.])
        """


class Iterative:
    """What iterative solvers share: they need only products, with the smaller operator, and check their options.

    One that is `signed` takes matrices with eigenvalues of either sign, and finds the largest magnitudes. One with an
    option `change` has a rule of its own by which it stops where no `tol` is asked for.
    """

    side: ClassVar[str] = "either"
    direct: ClassVar[bool] = False
    signed: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name, rule in (("max_iter", integer(1)), ("change", FRACTION), ("oversample", integer(0))):
            if hasattr(self, name):
                rule.check(name, getattr(self, name))


def with_options(kind: type[Solver], **options: object) -> Solver:
    """A solver of that kind, with those of the options that it has."""
    fields = getattr(kind, "__dataclass_fields__", {})
    return kind(**{key: value for key, value in options.items() if key in fields and value is not None})


def block_width(k: int, free: int = 1) -> int:
    """Columns of a block when k components are asked for; at least those that are `free` of cost."""
    return max(free, BLOCK if k <= MANY else WIDE)


def expected_steps(k: int, free: int = 1) -> int:
    """Products that it takes where variances decay slowly, like 1/i, to the default tolerance; wider blocks take fewer,
    about the square root of the ratio of their widths."""
    usual = 8 + 0.4 * k if k <= MANY else 9 + k / 7
    return round(usual * (block_width(k) / block_width(k, free)) ** 0.5)


def capacity(dim: int, k: int, width: int) -> int:
    """Vectors that a basis holds before it is restarted."""
    return min(dim, 3 * k + STEPS * width)


def leading_vectors(A: Operator, k: int) -> Basis:
    """The k leading eigenvectors of the dense operator, and one more if there is: for the certificate."""
    matrix = A.copied()
    if matrix is None:
        raise DataError("this solver needs the matrix, but the operator is known only by its products; use 'krylov'")
    return Basis(eigh_descending(matrix, k if A.rank_bound <= k else k + 1, overwrite=True)[1])


def starting_block(start: Array | None, dim: int, width: int, rng: np.random.Generator) -> Array:
    """An orthonormal dim×width block: the given start, filled up with random columns."""
    block = rng.standard_normal((dim, width))
    if start is not None:
        given = checked_start(start, dim)[:, :width]
        block[:, : given.shape[1]] = given / column_norms(given)
    return orthonormalise(block)


def checked_start(start: Array, dim: int, name: str = "start") -> Array:  # (dim,) or (dim, b) -> (dim, b)
    """Vectors that an iteration for a matrix of this order can begin with."""
    given = np.atleast_1d(real_numbers(start, name))
    given = given.reshape(len(given), -1)
    if len(given) != dim:
        raise DataError(f"{name} has {len(given)} rows but the operator has order {dim}")
    if not np.isfinite(given).all() or not column_norms(given).all():
        raise DataError(f"{name} holds NaN, infinite or all-zero columns; give a finite non-zero {name} or none")
    return given


def real_numbers(given: object, name: str) -> Array:
    """What an option of a solver holds, as an array.

    Examples
    --------
    >>> real_numbers("a", "y")
    Traceback (most recent call last):
    ...
    ritz.errors.DataError: y='a' does not hold real numbers; give a vector such as [1.0, 0.0], or None
    """
    try:
        found = np.asarray(on_host(given))
        if found.dtype.kind != "c":
            return found.astype(np.float64)
    except (TypeError, ValueError):
        pass
    raise DataError(
        f"{name}={reprlib.repr(given)} does not hold real numbers", "give a vector such as [1.0, 0.0], or None"
    )


def target(A: Operator, tol: float | None, largest: float) -> float:
    """The residual to reach: half of what the certificate will ask, and never below what rounding allows."""
    return np.inf if tol is None else max(0.5 * tol * largest, A.rounding)


def check_object(parameter: str, solver: object) -> None:
    """Refuse what is neither a name nor an object that finds a basis."""
    if isinstance(solver, type):
        raise ValueError(f"{parameter} is the class {solver.__name__}; pass an object: {solver.__name__}()")
    if not isinstance(solver, str) and not hasattr(solver, "basis"):
        raise ValueError(f"{parameter}={solver!r} is neither a name nor a solver object with a basis method")


def measured_gap(values: Array, k: int) -> str:
    """The eigengap after the first k components, as far as Ritz values tell it, relative to the k-th.

    Examples
    --------
    >>> import numpy as np
    >>> measured_gap(np.array([4.0, 2.0, 1.5]), 2)
    'Ritz values 2 and 3 put the eigengap between them at about 0.25 of the former'
    >>> measured_gap(np.array([4.0, 2.0]), 2)
    'eigenvalue 3 was not measured, and so the eigengap after PC2 is not known'
    """
    if len(values) <= k:
        return f"eigenvalue {k + 1} was not measured, and so the eigengap after {component(k - 1)} is not known"
    share = 1 - float(values[k]) / float(values[k - 1]) if values[k - 1] else 0.0
    return f"Ritz values {k} and {k + 1} put the eigengap between them at about {share:.2g} of the former"


def worst_step(iteration: int, values: Array, residuals: Array, history: list[Step]) -> Step:
    """An iteration by the worst of the components asked for."""
    worst = int(np.argmax(residuals))
    value = float(values[worst])
    change = abs(value - history[-1].value) / value if history and value else 0.0
    return Step(iteration, worst, value, change, float(residuals[worst]))


def slow(history: list[Step], why: str) -> str:
    """Why an iteration stopped short: how fast its residual fell lately, where that can be told, and what decides that.

    How large residuals are in the end is for the certificate to say: Rayleigh–Ritz comes after the last step.
    """
    last = history[-1]
    count = f"{last.iteration} {plural(last.iteration, 'iteration')}"
    stopped = f"{component(last.component)} stopped at max_iter, after {count}"
    # Deep in the iteration a residual falls by the same factor in every step; ten steps smooth the estimate.
    back = [step for step in history if step.component == last.component][-11:]
    steps = last.iteration - back[0].iteration
    if steps < ENOUGH:
        return f"{stopped}: too few to tell how fast it converges"
    ratio = min((last.residual / back[0].residual) ** (1 / steps), 1.0) if back[0].residual else 1.0
    return f"{stopped}, of which each of the last {steps} multiplied its residual by about {ratio:.4f}; {why}"
