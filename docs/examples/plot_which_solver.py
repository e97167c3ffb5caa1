"""
Which solver: covariance, SVD or Gram?
======================================

Three ways lead to the same axes. *covariance* decomposes the d×d matrix XᵀX, *gram* the n×n matrix XXᵀ,
*svd* the table itself. They differ in time, which depends on the shape of the table, and in digits: a
product of X with itself squares the singular values, and small ones drown in rounding errors.

See also :doc:`/theory/covariance_or_svd`.
"""

import warnings
from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import LogLocator

import ritz

rng = np.random.default_rng(0)
k = 40
truth = np.logspace(0, -11, k)  # singular values, the last one 10¹¹ times smaller than the first
shapes = {"tall": (60_000, 100), "square": (500, 500), "wide": (300, 1200)}


def table(n, d):
    """n×d with these singular values."""
    P, V = (np.linalg.qr(rng.standard_normal((side, k)))[0] for side in (n, d))
    return (P * truth) @ V.T


tables = {name: table(*shape) for name, shape in shapes.items()}

# %%
# Time
# ----
# Each fit is run several times, and the best time counts. Of the tall table the Gram matrix would have
# 60,000×60,000 entries, 29 GB: it is left out. "auto" is what Ritz chooses by itself, from the shape.


def fitted(X, solver):
    """A model, the seconds of the fit, and what it warned of."""
    times = []
    with warnings.catch_warnings(record=True) as said:
        while len(times) < 2 or (sum(times) < 0.5 and len(times) < 5):
            warnings.simplefilter("always", ritz.AccuracyWarning)
            start = perf_counter()
            model = ritz.PCA(k, center=False, svd_solver=solver).fit(X)
            times.append(perf_counter() - start)
    return model, min(times), [str(one.message) for one in said]


solvers = ("covariance", "svd", "gram")
fits = {(name, s): fitted(X, s) for name, X in tables.items() for s in solvers if (name, s) != ("tall", "gram")}
seconds = {key: fit[1] for key, fit in fits.items()}
chosen = {}
for name, X in tables.items():
    best = min(time for (table_name, _), time in seconds.items() if table_name == name)
    chosen[name] = ritz.PCA(5, center=False).fit(X).plan_.solver
    ratios = ", ".join(f"{s} {seconds[name, s] / best:.1f}" for s in solvers if (name, s) in seconds)
    print(f"{name:6} {X.shape[0]:7,}×{X.shape[1]:<5,} relative times: {ratios}; auto: {chosen[name]}")

# %%
# - **tall**: :math:`X^\top X` is small, and one fast product. Covariance is faster than SVD.
# - **wide**: :math:`XX^\top` is small, and Gram is the fastest. Covariance decomposes a matrix of 1,200×1,200.
# - **square**: neither is small. Ritz takes the SVD for its digits, though it takes longest: 500×500 is soon done.
#
# Digits
# ------
# We know the true singular values. How many digits of each are right?


def digits_of(model):
    """Of every singular value: minus the logarithm of its relative error."""
    return -np.log10(np.maximum(np.abs(model.singular_values_ / truth - 1), 1e-16))


digits = {key: digits_of(fit[0]) for key, fit in fits.items()}
resolved = {key: int(np.sum(fit[0].singular_values_ > 0)) for key, fit in fits.items()}
for s in solvers:
    print(f"{s:10} of the square table: {resolved['square', s]} of {k} singular values can be distinguished from 0")
print("covariance says so:", fits["square", "covariance"][2][0])

# %%
# The relative error of the SVD is about :math:`\varepsilon\sigma_1/\sigma` at most, with :math:`\varepsilon = 2.2\cdot
# 10^{-16}`. That of the covariance is about :math:`\varepsilon\sigma_1^2/\sigma^2`. Below about
# :math:`10^{-6}\sigma_1` too little is left of either product, and Ritz reports 0 instead of noise. Gram has more
# digits of what it sees, because Ritz measures the variances along its axes in the rows again. If the data has only
# three digits, all three are equally good.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.3), layout="constrained")
for i, s in enumerate(solvers):
    names = [name for name in shapes if (name, s) in seconds]
    places = [list(shapes).index(name) + 0.25 * (i - 1) for name in names]
    left.plot([1e3 * seconds[name, s] for name in names], places, "osv"[i], ms=8, label=s)
    right.semilogx(truth, digits["square", s], "osv"[i], ms=5, label=s)
epsilon = np.finfo(float).eps
for power, line, label in ((1, "k--", r"$\varepsilon\sigma_1/\sigma$"), (2, "k:", r"$\varepsilon\sigma_1^2/\sigma^2$")):
    right.semilogx(truth, np.maximum(-np.log10(epsilon / truth**power), 0), line, lw=1, label=label)
left.set(xscale="log", xlabel="milliseconds", title="Time of a fit")
left.xaxis.set_major_locator(LogLocator(10, subs=(1, 3)))
left.xaxis.set_major_formatter("{x:,.0f}")
left.minorticks_off()
left.set_yticks(range(3), [f"{name}\n{n:,}×{d:,}" for name, (n, d) in shapes.items()])
left.set_ylim(2.5, -0.5)
left.grid(axis="x", color="0.85")
left.legend(loc="upper right")
right.set(xlabel="singular value, relative to the first", ylabel="digits that are right", title="Digits, square table")
right.invert_xaxis()
right.legend()
plt.show()
