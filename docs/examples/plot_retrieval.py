"""
Retrieval by similarity
=======================

Embeddings turn texts or pictures into vectors, so that similar things have vectors that are near each other. To find
the ten nearest of many vectors takes memory for all their coordinates, and a multiplication with each of them. With k
principal components instead of all coordinates, how many of the ten true neighbours are still found?

See also :doc:`/theory/after_learning`.
"""

import matplotlib.pyplot as plt
import numpy as np

import ritz

rng = np.random.default_rng(0)
n, d, queries = 10_000, 256, 200
variances = np.arange(1, d + 1) ** -1.2  # decay as those of many embeddings do
turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
vectors = ((rng.standard_normal((n + queries, d)) * np.sqrt(variances)) @ turn).astype(np.float32)
stored, asked = vectors[:n], vectors[n:]
pca = ritz.PCA(d).fit(stored)
scores, scores_asked = pca.transform(stored), pca.transform(asked)


def squared_distances(points, new):
    """Of all points to each new one, less its own square, which is the same for all of them."""
    return (points**2).sum(axis=1) - 2 * new @ points.T


def nearest(points, new, count):
    """Rows of the nearest points to each new one, nearest first."""
    squares = squared_distances(points, new)
    some = np.argpartition(squares, count, axis=1)[:, :count]
    return np.take_along_axis(some, np.take_along_axis(squares, some, axis=1).argsort(axis=1), axis=1)


def recall(found):
    """The share of the ten true neighbours that are among those found."""
    return float(np.mean([np.isin(ten, some).mean() for ten, some in zip(truth, found, strict=True)]))


# %%
# Recall against k
# ----------------
# All 256 components only turn the space, and keep all distances. With fewer, distances become shorter, and neighbours
# change places. For one query, k components take n·k multiplications instead of n·d.

truth = nearest(stored, asked, 10)
counts = (2, 4, 8, 16, 32, 64, 128, 256)
recalls = [recall(nearest(scores[:, :k], scores_asked[:, :k], 10)) for k in counts]
work = [n * k / (n * d) for k in counts]  # of one query, relative to that with all coordinates
kept = [float(pca.explained_variance_ratio_[:k].sum()) for k in counts]
bytes_each = [4 * k for k in counts]
for k, share, size, right, part in zip(counts, kept, bytes_each, recalls, work, strict=True):
    print(f"{k:3} components: {size:5,} bytes a vector, {part:4.0%} of the work, {share:4.0%} of the variance, "
          f"recall {right:4.0%}")  # fmt: skip

# %%
# A shortlist
# -----------
# k components are a good first look. They name 100 candidates, and only for those the distances in all coordinates are
# computed, 100·d multiplications more. A neighbour is lost only if it is not among the 100.


def by_shortlist(k, count=100):
    """The nearest ten by all coordinates, among candidates by k components."""
    candidates = nearest(scores[:, :k], scores_asked[:, :k], count)
    squares = ((stored[candidates] - asked[:, None]) ** 2).sum(axis=2)
    return np.take_along_axis(candidates, squares.argsort(axis=1)[:, :10], axis=1)


recalls_by_shortlist = [recall(by_shortlist(k)) for k in counts]
work_by_shortlist = [part + 100 * d / (n * d) for part in work]
print("by a shortlist:", ", ".join(f"{k}: {right:.0%}" for k, right in zip(counts, recalls_by_shortlist, strict=True)))

# %%
# Any columns?
# ------------
# The first k columns as they come, without PCA, find far fewer: the variance is spread over all columns.

recalls_of_columns = [recall(nearest(stored[:, :k], asked[:, :k], 10)) for k in counts]

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.2), layout="constrained")
left.semilogx(counts, recalls_by_shortlist, "^-", label="100 candidates by k components")
left.semilogx(counts, recalls, "o-", label="k components")
left.semilogx(counts, recalls_of_columns, "s-", label="k of the columns")
left.semilogx(counts, kept, "k:", label="share of the variance")
left.set(xlabel="k", ylabel="recall at 10", ylim=(0, 1.03), title=f"Ten nearest of {n:,} vectors")
left.set_xticks(counts, counts)
left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
right.semilogx(work_by_shortlist, recalls_by_shortlist, "^-")
right.semilogx(work, recalls, "o-")
right.set(xlabel="multiplications for one query, relative to all coordinates", ylabel="recall at 10", ylim=(0, 1.03))
right.set(title="What recall costs")
right.set_xticks(work, [f"{part:.1%}" if part < 0.1 else f"{part:.0%}" for part in work])
right.minorticks_off()
plt.show()
