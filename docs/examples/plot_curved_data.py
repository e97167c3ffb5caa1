"""
Curved data: kernel PCA
=======================

PCA looks for straight axes. Two rings, one inside the other, have none that tells them apart: every line through the
middle meets both. Kernel PCA looks for straight axes too, but in another space, where the inner product of two points
is a kernel, and there the rings lie apart.

See also :doc:`/theory/kernel`.
"""

import matplotlib.pyplot as plt
import numpy as np

import ritz

rng = np.random.default_rng(0)


def rings(n):
    """Points on two circles with noise, and which circle each is on."""
    outer = np.arange(n) % 2
    angle, radius = rng.uniform(0, 2 * np.pi, n), np.where(outer, 1.0, 0.3) + 0.07 * rng.standard_normal(n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), outer


X, ring = rings(400)
new, ring_of_new = rings(400)

# %%
# One number for each point
# -------------------------
# We keep the first component alone, and cut it at the best place for the points of the fit. How many *new* points does
# the cut put on the right ring?

pca = ritz.PCA(2).fit(X)
kernel_pca = ritz.KernelPCA(2, kernel="rbf", gamma=3.0).fit(X)


def share_right(known, new):
    """Of new points, cut at the place and with the direction that are best for known ones."""
    cuts = np.sort(known)
    above = np.array([np.mean((known > cut) == ring) for cut in cuts])
    best = int(np.argmax(np.abs(above - 0.5)))
    return float(np.mean(((new > cuts[best]) == ring_of_new) == (above[best] > 0.5)))


right_by_pca, right_by_kernel_pca = (
    share_right(model.transform(X)[:, 0], model.transform(new)[:, 0]) for model in (pca, kernel_pca)
)
print(f"new points on the right ring: PCA {right_by_pca:.0%}, kernel PCA {right_by_kernel_pca:.0%}")

# %%
# Both variances of PCA are nearly the same: to PCA the rings look like a round cloud.

ratio_of_variances = float(pca.explained_variance_[1] / pca.explained_variance_[0])
print(f"second variance over the first: {ratio_of_variances:.2f}")

# %%
# The kernel has a width
# ----------------------
# :math:`k(x, z) = \exp(-\gamma \|x - z\|^2)` compares points at distances of about :math:`1/\sqrt{\gamma}`. Where that
# is much less than the rings are apart, the first component tells pieces of the inner ring apart instead, because its
# points are the densest. The outer ring gets nearly one value.

narrow = ritz.KernelPCA(1, kernel="rbf", gamma=30.0).fit(X)
right_by_narrow_kernel = share_right(narrow.transform(X)[:, 0], narrow.transform(new)[:, 0])
spread_of_inner, spread_of_outer = (float(narrow.transform(X)[ring == one, 0].std()) for one in (0, 1))
print(f"with gamma=30: {right_by_narrow_kernel:.0%}")
print(f"standard deviation of its score: inner ring {spread_of_inner:.2f}, outer ring {spread_of_outer:.3f}")

# %%
# With the kernel :math:`x^\top z` itself, kernel PCA is PCA again: the same scores, up to their signs.

linear = ritz.KernelPCA(2, kernel="linear").fit(X)
largest_difference = float(np.abs(np.abs(linear.transform(new)) - np.abs(pca.transform(new))).max())
print(f"linear kernel against PCA: scores differ by at most {largest_difference:.0e}")

# %%
# The picture: the rings with lines of equal score, straight for PCA and round for kernel PCA; and the two scores.

figure, axes = plt.subplots(2, 2, figsize=(9, 8), layout="constrained")
grid = np.linspace(-1.4, 1.4, 80)
points = np.column_stack([part.ravel() for part in np.meshgrid(grid, grid)])
styles = (("outer ring", 1, "#0072b2", "o"), ("inner ring", 0, "#d55e00", "^"))
for column, (name, model) in enumerate((("PCA", pca), ("Kernel PCA", kernel_pca))):
    values, embedded = model.transform(points)[:, 0].reshape(80, 80), model.transform(X)
    axes[0, column].contour(grid, grid, values, 12, colors="0.6", linewidths=0.8, linestyles="solid")
    for label, which, colour, marker in styles:
        look = {"c": colour, "marker": marker, "s": 12, "label": label}
        axes[0, column].scatter(*X[ring == which].T, **look)
        axes[1, column].scatter(*embedded[ring == which].T, **look)
    axes[0, column].set(title=f"Lines of equal first score: {name}", aspect="equal", xlabel="x", ylabel="y")
    axes[1, column].set(title=f"{name}: scores", xlabel="PC1", ylabel="PC2")
figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
plt.show()
