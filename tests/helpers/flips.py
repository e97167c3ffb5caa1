"""Random sign flips by their definition: dense matrices, all copies, and one table of signs for all rows."""

import numpy as np

from ritz.fitting.rank import FLIPS
from ritz.fitting.signflips import sign_bits


def stages(X, seed=0, center=True, flips=FLIPS):
    """Of every comparison: how many components were subtracted before, the values of the rows without them, and the
    largest value of each copy. All are variances, and copies are as noisy as the rows."""
    n, d = X.shape
    Z = X - X.mean(axis=0) if center else X
    U, sizes, Vt = np.linalg.svd(Z, full_matrices=False)
    removed, found = 0, []
    while True:
        rest = Z - (U[:, :removed] * sizes[:removed]) @ Vt[:removed]
        rows = 1 - center / n - np.sum(U[:, :removed] ** 2, axis=1)
        columns = 1 - np.sum(Vt[:removed] ** 2, axis=0)
        noisy = rest / np.sqrt(np.maximum(rows, 0.01))[:, None] / np.sqrt(np.maximum(columns, 0.01))
        signs = (1 - 2.0 * sign_bits(seed, flip, range(n), d) for flip in range(flips))
        copies = np.array([np.linalg.norm(R * noisy, 2) for R in signs]) ** 2 / (n - 1)
        values = sizes[removed:] ** 2 / (n - 1)
        found.append((removed, values, copies))
        above = int(np.argmin(np.append(values > copies.max() * (1 + 1e-7) + 1e-13 * sizes[0] ** 2, False)))
        if not above:
            return found
        removed += above


def count(X, seed=0, center=True):
    """How many components stand above noise."""
    return stages(X, seed, center)[-1][0]
