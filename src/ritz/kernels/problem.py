"""What a kernel fit starts from: rows as points of a kernel, what is asked of them, and what that will cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ritz.fitting.planning import NARROW_TOL, Plan
from ritz.fitting.request import Request
from ritz.kernels import Kernel, Points, Precomputed, plans
from ritz.kernels.base import Frame
from ritz.kernels.matrix import KernelMatrix
from ritz.kernels.plans import Task
from ritz.kernels.psd import symmetric_values
from ritz.linalg.dense import Array
from ritz.rows.base import Block
from ritz.runtime.watch import Watch
from ritz.solvers.lowrank import SPARE

NARROW_UNIT, ROUGH = 2.0**-24, 1e-4  # rounding of float32, and the error of a value up to which it is of use


@dataclass(frozen=True, eq=False)
class Problem:
    """What a fit starts from: the kernel, the rows as its points, and what is asked.

    Attributes
    ----------
    means : of the columns of a matrix that was given, None where they follow from the points
    landmarks : how many, or the share of the trace that they may lack, None for what the solver says
    """

    kernel: Kernel
    frame: Frame
    points: Points
    means: Array | None
    request: Request
    landmarks: int | float | None
    watch: Watch

    @classmethod
    def of(cls, X: Block, kernel: Kernel, request: Request, landmarks: int | float | None, watch: Watch) -> Problem:
        frame = kernel.frame(X)
        points, means = kernel.points(X, frame), None
        if isinstance(kernel, Precomputed):
            points, means = symmetric_values(points, frame), points.Z.mean(axis=0)
        return cls(kernel, frame, points, means, request, landmarks, watch)

    @property
    def by_share(self) -> bool:
        """Whether a share of the variance is asked for, and not a number of components."""
        return isinstance(self.request.n_components, float)

    @property
    def task(self) -> Task:
        """What the cost of the fit depends on; columns are the entries of a row that are stored."""
        n, Z, asked = len(self.points), self.points.Z, self.request.n_components
        return Task(
            n=n,
            d=Z.shape[1] if isinstance(Z, np.ndarray) else max(1, -(-Z.nnz // n)),
            k=asked if isinstance(asked, int) else n if asked is None else min(n, plans.GUESS),
            limit=self.request.limit,
            positive=self.kernel.positive,
            narrow=self._narrow and self.request.tol >= NARROW_TOL,
            share=self.by_share,
        )

    @property
    def _narrow(self) -> bool:
        """Whether values in float32 can find the components."""
        sure = self.kernel.narrow and self.kernel.positive and not self.frame.exact
        return sure and self.frame.terms * NARROW_UNIT <= ROUGH

    def plans(self) -> list[Plan]:
        """Plans to try in order. Both solvers that hand the matrix to LAPACK, gram and covariance, are "dense" here."""
        task, solver = self.task, "dense" if self.request.name in ("gram", "covariance") else self.request.name
        if self.landmarks is None:
            return plans.plans_for(task, solver)
        count = 2 * task.k + SPARE if isinstance(self.landmarks, float) else self.landmarks
        return plans.plans_for(task, "lowrank", count)

    def matrix(self, stored: bool, narrow: bool = False) -> KernelMatrix:
        """The kernel matrix; one that was given is stored already."""
        stored = stored and not isinstance(self.kernel, Precomputed)
        return KernelMatrix(self.kernel, self.frame, self.points, stored=stored, narrow=narrow, watch=self.watch)
