"""
The Gram route: every axis is a combination of the points
=========================================================

60 pictures of 64×64 pixels are 60 points with 4,096 coordinates. Their covariance is a 4,096×4,096 matrix, but at most
59 of its eigenvalues are above 0. Let Z be the centred pictures. The matrix K = ZZᵀ of their inner products is
only 60×60, and tells the same: if Kβ = κβ for a vector β of length 1, then with α = β/√κ the vector w = Zᵀα is a
principal axis of length 1. So an eigenface is a sum of faces. ``dual_components_`` has the weights α.

See also :doc:`/theory/gram`.
"""

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np

import ritz

X = ritz.datasets.parametric_faces(n_people=20, n_views=3).X
n, d = X.shape
pca = ritz.PCA(6, svd_solver="gram").fit(X)
alpha = pca.dual_components_  # (60, 6)

# %%
# Three identities
# ----------------
# The axes are :math:`Z^\top\alpha`. The scores are :math:`K\alpha`, from inner products alone. And each column of
# :math:`\alpha` has length :math:`1/\sqrt\kappa`, where :math:`\kappa = (n-1)\lambda`: it is not :math:`\beta`, whose
# length is 1.

Z = X - X.mean(axis=0)
K = Z @ Z.T
kappa = (n - 1) * pca.explained_variance_
error_of_axes = float(np.abs(Z.T @ alpha - pca.components_.T).max())
error_of_scores = float(np.abs(K @ alpha - pca.transform(X)).max())
error_of_lengths = float(np.abs(np.linalg.norm(alpha, axis=0) * np.sqrt(kappa) - 1).max())
print(f"axes up to {error_of_axes:.0e}, scores up to {error_of_scores:.0e}, lengths up to {error_of_lengths:.0e}")

# %%
# Which faces make up the first eigenface?
# ----------------------------------------
# Those with large weights of either sign: the axis leads from the faces in the second row to those in the first. Here
# it leads from dark and narrow faces to bright and wide ones.

order = np.argsort(alpha[:, 0])
figure, panels = plt.subplots(2, 6, figsize=(10, 4), layout="constrained")
for ax, row in zip(panels[:, :5].ravel(), [*order[::-1][:5], *order[:5]], strict=True):
    ax.imshow(X[row].reshape(64, 64), cmap="gray", vmin=0, vmax=1)
    ax.set(title=f"α = {alpha[row, 0]:+.3f}", xticks=[], yticks=[])
ritz.plot.components(pca, 1, shape=(64, 64), ax=panels[:, 5])
plt.show()

# %%
# A part of the sum
# -----------------
# The weights sum up to 0, so that the mean plays no part. The faces with the largest weights are already near the axis,
# all of them are the axis.


def cosine_with(count):
    """Of the first axis with the sum of only so many faces, those with the largest weights."""
    largest = np.argsort(-np.abs(alpha[:, 0]))[:count]
    part = Z[largest].T @ alpha[largest, 0]
    return float(part @ pca.components_[0] / np.linalg.norm(part))


sum_of_weights = float(abs(alpha[:, 0].sum()) / np.abs(alpha[:, 0]).sum())
counts = (1, 2, 5, 10, 20, 30, 40, 50, 60)
cosines = [cosine_with(count) for count in counts]

# %%
# Gram against covariance, in time
# --------------------------------
# The same axes by the covariance matrix take about :math:`nd^2 + d^3` operations, those by the Gram matrix
# :math:`n^2d + n^3`. With 64 pixels both are small; from then on each extra pixel costs the
# covariance route much more.

sides, seconds, angles = (8, 16, 32), {"covariance": [], "gram": []}, []
for side in sides:
    small = X.reshape(n, side, 64 // side, side, 64 // side).mean(axis=(2, 4)).reshape(n, -1)
    models = []
    for solver, best in seconds.items():
        times = []
        for _ in range(3):
            start = perf_counter()
            model = ritz.PCA(6, svd_solver=solver).fit(small)
            times.append(perf_counter() - start)
        best.append(min(times))
        models.append(model)
    angles.append(float(ritz.compare(*models).max()))
ratios = [slow / fast for slow, fast in zip(*seconds.values(), strict=True)]
for side, ratio, angle in zip(sides, ratios, angles, strict=True):
    print(f"{side}×{side} pixels: covariance takes {ratio:.1f} times as long as gram; their axes differ by {angle:.0e}")

figure, (weights, parts, clock) = plt.subplots(1, 3, figsize=(11.5, 3.7), layout="constrained")
weights.bar(range(n), alpha[:, 0], color=np.where(alpha[:, 0] < 0, "#d55e00", "#0072b2"))
weights.set(title="Weights of the first axis", xlabel="face, three for each person", ylabel="α")
parts.plot(counts, cosines, "o-")
parts.set(title="A part of the sum", xlabel="faces with the largest weights", ylabel="cosine with PC1", ylim=(0, 1.05))
for (solver, times), mark in zip(seconds.items(), "so", strict=True):
    clock.loglog([side**2 for side in sides], [1000 * time for time in times], f"{mark}-", label=solver)
clock.set(title=f"Time of a fit to {n} pictures", xlabel="pixels", ylabel="milliseconds")
clock.legend()
plt.show()
