"""
Decorrelation
=============

Columns of a table often repeat each other. Scores never do: their covariance is UᵀCU = Λ, a diagonal
matrix. So PCA turns correlated columns into uncorrelated ones, as many as there are, without losing anything.

See also :doc:`/theory/lagrangian` and :doc:`/theory/rotation`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

import ritz

wine = load_wine()
rng = np.random.default_rng(0)
order = rng.permutation(len(wine.data))
X, new = wine.data[order[:120]], wine.data[order[120:]]
pca = ritz.PCA(scale=True).fit(X)  # columns have different units
scores, scores_of_new = pca.transform(X), pca.transform(new)


def correlations(table):
    """Off the diagonal, in absolute value."""
    return np.abs(np.corrcoef(table.T))[~np.eye(table.shape[1], dtype=bool)]


# %%
# Before and after
# ----------------

largest_before, largest_after = correlations(X).max(), correlations(scores).max()
print(f"largest correlation of two columns: {largest_before:.2f}, of two scores: {largest_after:.0e}")

# %%
# The total variance is what it was, 13 for 13 columns of variance 1, and the rows come back from all scores.

total_variance = float(scores.var(axis=0, ddof=1).sum())
largest_error = float(np.abs(pca.inverse_transform(scores) - X).max() / np.abs(X).max())
print(f"total variance {total_variance:.6f}; rows come back up to {largest_error:.0e}")

# %%
# New rows
# --------
# The axes are those of 120 wines. Scores of other wines are only nearly uncorrelated. Even uncorrelated numbers show
# correlations of about :math:`1/\sqrt{n}` in a sample of n rows, and the axes are those of a sample too.

typical_new = float(np.sqrt(np.mean(correlations(scores_of_new) ** 2)))
print(f"typical correlation of scores of {len(new)} new wines: {typical_new:.2f}; 1/√n is {len(new) ** -0.5:.2f}")

# %%
# Uncorrelated needs the eigenvectors
# -----------------------------------
# Turn the first two axes within their plane. They span the same plane with the same error, but their scores are
# correlated again: only eigenvectors make :math:`\Lambda` diagonal.

c, s = np.cos(np.pi / 6), np.sin(np.pi / 6)
rotated = scores[:, :2] @ np.array([[c, -s], [s, c]])
correlation_of_rotated = float(abs(np.corrcoef(rotated.T)[0, 1]))
captured, captured_by_rotated = (float(part.var(axis=0, ddof=1).sum()) for part in (scores[:, :2], rotated))
print(f"turned by 30°: correlation {correlation_of_rotated:.2f}")
print(f"captured variance before {captured:.6f}, after {captured_by_rotated:.6f}")

# %%
# Whitening divides every score by its standard deviation: the covariance is then the identity.

whitened = ritz.PCA(scale=True, whiten=True).fit_transform(X)
distance_to_identity = float(np.abs(np.cov(whitened.T) - np.eye(13)).max())
print(f"covariance of whitened scores: the identity up to {distance_to_identity:.0e}")

# %%
# The picture: correlations of the columns, of the scores, and of the scores of new wines.

figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.5), layout="constrained")
shown = {"13 columns": X, "13 scores": scores, f"scores of {len(new)} new wines": scores_of_new}
for ax, (title, table) in zip(axes, shown.items(), strict=True):
    image = ax.imshow(np.corrcoef(table.T), cmap="RdBu_r", vmin=-1, vmax=1)
    ax.set(title=title, xticks=[], yticks=[])
axes[0].set_yticks(range(13), wine.feature_names, fontsize=7)
figure.colorbar(image, ax=axes, label="correlation")
plt.show()
