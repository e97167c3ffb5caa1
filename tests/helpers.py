"""Matrices with a known answer, and independent ways to know it."""

from __future__ import annotations

import numpy as np

SPECTRA = {
    "gapped": lambda m: np.r_[10.0, 5.0, 2.0, 0.5 * 0.5 ** np.arange(m - 3)][:m],
    "slow": lambda m: 1.0 / np.arange(1, m + 1),
    "flat": lambda m: np.ones(m),
    "tied": lambda m: np.r_[4.0, 3.0, 3.0, 3.0, np.ones(m - 4)][:m],
    "clustered": lambda m: np.r_[2.0, 1 + 1e-8 * np.arange(m - 1)[::-1]],
    "rank deficient": lambda m: np.r_[3.0, 2.0, 1.0, np.zeros(m - 3)],
    "zero": lambda m: np.zeros(m),
    # LAPACK's test modes (LAWN 9): one large, one small, geometric, arithmetic, log-uniform random.
    "mode 1": lambda m: np.r_[1.0, np.full(m - 1, 1e-8)],
    "mode 2": lambda m: np.r_[np.ones(m - 1), 1e-8],
    "mode 3": lambda m: 1e-10 ** (np.arange(m) / (m - 1)),
    "mode 4": lambda m: 1 - np.arange(m) / (m - 1) * (1 - 1e-6),
    "mode 5": lambda m: np.sort(np.exp(np.random.default_rng(5).uniform(np.log(1e-8), 0, m)))[::-1],
}

SHAPES = {"tall": (60, 12), "wide": (12, 60), "square": (25, 25)}


def random_orthonormal(rows: int, columns: int, rng, centred: bool = False) -> np.ndarray:
    G = rng.standard_normal((rows, columns))
    if centred:
        G -= G.mean(axis=0)
    return np.linalg.qr(G)[0]


def with_spectrum(n: int, d: int, sigma, rng, offset: float = 0.0) -> np.ndarray:
    """n×d data whose centred part has exactly the singular values sigma, with a mean of that offset."""
    m = min(n - 1, d)
    sigma = np.asarray(sigma)[:m]
    U = random_orthonormal(n, m, rng, centred=True)
    V = random_orthonormal(d, m, rng)
    return (U * sigma) @ V.T + offset * rng.standard_normal(d)


def preprocess(X, center=True, scale=False, ddof=1):
    """Z in extended precision, rounded once."""
    Z = X.astype(np.longdouble)
    if center:
        Z = Z - Z.mean(axis=0)
    if scale:
        Z = Z / np.sqrt((Z**2).sum(axis=0) / (len(Z) - ddof))
    return Z


def sine(A, B) -> float:
    """Sine of the largest angle from a direction of span(A) to span(B), by projectors; columns orthonormal."""
    return float(np.linalg.norm(np.asarray(A - B @ (B.T @ A), dtype=np.float64), 2))


def jacobi(F) -> tuple[np.ndarray, np.ndarray]:
    """Singular values and right vectors of F in extended precision, descending (one-sided Jacobi).

    F is never squared, so that the judge sees further than any solver it judges.
    """
    F = np.array(F, dtype=np.longdouble)
    d = F.shape[1]
    V = np.eye(d, dtype=np.longdouble)
    for _ in range(40):
        rotated = False
        for p in range(d - 1):
            for q in range(p + 1, d):
                a, b, c = F[:, p] @ F[:, p], F[:, q] @ F[:, q], F[:, p] @ F[:, q]
                if abs(c) <= 1e-19 * np.sqrt(a * b):
                    continue
                rotated = True
                zeta = (b - a) / (2 * c)
                t = (1 if zeta >= 0 else -1) / (abs(zeta) + np.hypot(zeta, np.longdouble(1)))
                cosine = 1 / np.sqrt(t * t + 1)
                turn = np.array([[cosine, t * cosine], [-t * cosine, cosine]], dtype=np.longdouble)
                F[:, [p, q]] = F[:, [p, q]] @ turn
                V[:, [p, q]] = V[:, [p, q]] @ turn
        if not rotated:
            break
    sigma = np.sqrt((F**2).sum(axis=0))
    order = np.argsort(-sigma, kind="stable")
    return sigma[order], V[:, order]
