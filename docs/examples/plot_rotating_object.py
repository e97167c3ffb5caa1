"""
A rotating object
=================

A toy turns once about its vertical axis, and a camera takes 360 pictures of 64×64 pixels. A picture is a point with
4,096 coordinates, but only one number changes: the angle. So the points lie on a closed curve. PCA finds the curve, and
shows that one linear component is not enough to describe it.

See also :doc:`/theory/after_learning`; beyond lines, :doc:`/theory/kernel`.
"""

import matplotlib.pyplot as plt
import numpy as np

import ritz

X = ritz.datasets.rotating_object(n_views=360, size=64)
degrees = np.arange(360)
pca = ritz.PCA(60).fit(X)
scores = pca.transform(X)

# %%
# How many components?
# --------------------
# The first component holds less than half of the variance, though there is only one degree of freedom. A curve bends
# through many dimensions. Every component that is added follows its bends more closely.

shares = np.cumsum(pca.explained_variance_ratio_)
share_of_one, share_of_two = shares[0], shares[1]
needed_for_90, needed_for_99 = (int(np.searchsorted(shares, share)) + 1 for share in (0.90, 0.99))
print(f"1 component holds {share_of_one:.0%} of the variance, 2 hold {share_of_two:.0%}")
print(f"90% take {needed_for_90} components, 99% take {needed_for_99}")

# %%
# The curve closes
# ----------------
# In the space of four components the nearest view is always the one before or after. The last view is a neighbour of
# the first: after a full turn the curve is back where it began.

Y = scores[:, :4]
distances = np.linalg.norm(Y[:, None] - Y[None], axis=2)
np.fill_diagonal(distances, np.inf)
steps = (distances.argmin(axis=1) - degrees) % 360
neighbours_are_adjacent = bool(np.isin(steps, (1, 359)).all())
gap_at_the_end = distances[359, 0] / np.median(distances[degrees[:-1], degrees[1:]])
print(f"nearest view is the one before or after: {neighbours_are_adjacent}")
print(f"from the last view to the first it is {gap_at_the_end:.2f} times an ordinary step")

# %%
# A picture from few numbers
# --------------------------
# The relative error of all pictures, rebuilt from k components:


def rebuilt(k):
    """Every picture from its first k scores."""
    return pca.mean_ + scores[:, :k] @ pca.components_[:k]


counts = (2, 10, 60)
errors = [float(np.linalg.norm(X - rebuilt(k)) / np.linalg.norm(X - pca.mean_)) for k in counts]

# %%
# The picture: the curve in the planes of components 1 and 2, and 1 and 3, with six places marked; the views at these
# places; and one view from 2, 10 and 60 numbers instead of 4,096.

planes, places = "A" * 6 + "B" * 6, "".join(letter * 2 for letter in "abcdef")
mosaic = "\n".join([planes, planes, planes, places, "C" * 3 + "D" * 3 + "E" * 3 + "F" * 3])
figure, axes = plt.subplot_mosaic(mosaic, figsize=(9, 8), height_ratios=[1, 1, 1, 1, 1.35], layout="constrained")
marked = list(range(20, 360, 60))
for name, other in (("A", 1), ("B", 2)):
    ax, plane = axes[name], scores[:, [0, other]]
    ax.scatter(*plane.T, c=degrees, cmap="twilight_shifted", s=9)
    ax.plot(*plane[marked].T, "o", ms=21, mfc="white", mec="0.4")
    for view in marked:
        ax.text(*plane[view], f"{view}°", ha="center", va="center", fontsize=7)
    ax.set(xlabel="PC1", ylabel=f"PC{other + 1}", title=f"One turn, on components 1 and {other + 1}", aspect="equal")
    ax.margins(0.15)
shown = {name: (X[view], f"{view}°", "") for name, view in zip("abcdef", marked, strict=True)}
shown["C"] = X[70], "view at 70°: 4,096 numbers", ""
for name, k, error in zip("DEF", counts, errors, strict=True):
    shown[name] = rebuilt(k)[70], f"{k} numbers", f"error of all views {error:.0%}"
for name, (view, title, label) in shown.items():
    axes[name].imshow(view.reshape(64, 64), cmap="gray", vmin=0, vmax=1)
    axes[name].set(xticks=[], yticks=[], xlabel=label)
    axes[name].set_title(title, fontsize="medium")
plt.show()
