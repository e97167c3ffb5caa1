"""
Clustering, before and after PCA
================================

400 points belong to six groups. The groups differ in ten columns; 1,990 more columns hold noise. k-means looks at
distances, and those are nearly all noise. A few principal components keep the differences between the groups, and leave
out most of the noise. With them k-means finds the groups, in less time.

See also :doc:`/theory/after_learning`.
"""

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

import ritz

rng = np.random.default_rng(0)
n, d, groups = 400, 2000, 6
group = np.arange(n) % groups
X = rng.standard_normal((n, d))
X[:, :10] += 5.5 * np.linalg.qr(rng.standard_normal((10, groups)))[0].T[group]  # centres, equally far from each other


def clustered(points, truth):
    """Agreement of k-means with the truth, 1 for all points and 0 for chance, and its seconds."""
    start = perf_counter()
    found = KMeans(len(np.unique(truth)), n_init=5, random_state=0).fit_predict(points)
    return float(adjusted_rand_score(truth, found)), perf_counter() - start


# %%
# Groups in noise
# ---------------
# Six centres that are equally far from each other span five dimensions, and no fewer. So we keep five components.

pca = ritz.PCA(5).fit(X)
start = perf_counter()
scores = pca.fit_transform(X)
seconds_of_pca = perf_counter() - start
agreement_before, seconds_before = clustered(X, group)
agreement_after, seconds_after = clustered(scores, group)
print(f"{d:,} columns:  agreement {agreement_before:.2f}, {seconds_before:.2f} s")
print(f"5 components: agreement {agreement_after:.2f}, {seconds_after:.2f} s and {seconds_of_pca:.2f} s for the PCA")

# %%
# Why
# ---
# The squared distance of two points is a sum over columns. Noise adds about 2 in every one of 2,000 columns, and what
# the groups add is small beside it. PCA turns the columns, so that what the groups add stands in five of them.


def share_between(points):
    """The share of the variance that is between groups, and not within them."""
    means = np.stack([points[group == one].mean(axis=0) for one in range(groups)])
    return float(means[group].var(axis=0).sum() / points.var(axis=0).sum())


def distances(points):
    """Of pairs in one group, and of pairs in two, relative to the mean of all."""
    squares = (points**2).sum(axis=1)
    found = np.sqrt(np.maximum(squares[:, None] + squares - 2 * points @ points.T, 0))
    pairs, same = np.triu(np.ones((n, n), bool), 1), group[:, None] == group
    return [found[pairs & which] / found[pairs].mean() for which in (same, ~same)]


share_before, share_after = share_between(X), share_between(scores)
print(f"variance between groups: {share_before:.1%} of all columns, {share_after:.0%} of five components")

# %%
# How many components?
# --------------------
# With fewer than five some groups lie upon each other. A few more do no harm, but with many the noise comes back: 399
# components keep all distances. On scikit-learn's digits there are no columns of noise. PCA makes k-means no better
# there, but 20 numbers are enough for each digit, instead of 64.

counts, digits = (1, 2, 3, 4, 5, 10, 20, 50, 100, 200, 399), load_digits()
every, of_digits = ritz.PCA(399).fit_transform(X), ritz.PCA(50).fit_transform(digits.data)
agreements = [clustered(every[:, :k], group)[0] for k in counts]
agreements_of_digits = [clustered(of_digits[:, :k], digits.target)[0] for k in counts[:8]]
agreement_of_pixels = clustered(digits.data, digits.target)[0]
print(f"digits: 64 pixels {agreement_of_pixels:.2f}, 20 components {agreements_of_digits[6]:.2f}")

figure, axes = plt.subplots(2, 2, figsize=(10, 7.6), layout="constrained")
ritz.plot.scores(pca, X, labels=group, ax=axes[0, 0])
axes[0, 1].semilogx(counts, agreements, "o-", color="#0072b2", label="groups in noise")
axes[0, 1].axhline(agreement_before, color="#0072b2", ls="--", lw=1, label=f"all {d:,} columns")
axes[0, 1].semilogx(counts[:8], agreements_of_digits, "s-", color="#d55e00", label="digits")
axes[0, 1].axhline(agreement_of_pixels, color="#d55e00", ls="--", lw=1, label="all 64 pixels")
axes[0, 1].set(xlabel="components", ylabel="adjusted Rand index", ylim=(0, 1.03), title="k-means against the truth")
axes[0, 1].set_xticks(counts, counts)
axes[0, 1].legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
for ax, points, title in zip(axes[1], (X, scores), (f"{d:,} columns", "5 components"), strict=True):
    same, other = distances(points)
    ax.hist([same, other], np.linspace(0, 2, 101), density=True, histtype="stepfilled", alpha=0.6)
    ax.set(title=f"Distances: {title}", xlabel="distance of two points, relative to the mean", yticks=[])
    ax.legend(["in two groups", "in one group"], loc="upper right")
plt.show()
