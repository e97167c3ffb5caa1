"""
Eigenfaces: who is it, and is it a face?
========================================

A picture of 64×64 pixels is a point with 4,096 coordinates. 80 pictures of 20 drawn people are few points in a large
space: :doc:`the Gram route <plot_dual_components>` is the fast one. Their axes are pictures again, the *eigenfaces*. We
look at them, rebuild pictures that the fit has not seen, recognise people, and ask of others whether they show a face.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_images
from sklearn.metrics import roc_auc_score

import ritz

faces = ritz.datasets.parametric_faces(n_people=25, n_views=8)
view, known = np.tile(np.arange(8), 25), faces.people < 20
(X, person), (new, person_of_new) = ((faces.X[a], faces.people[a]) for a in (known & (view < 4), known & (view >= 4)))
strangers = faces.X[~known]
pca = ritz.PCA(40).fit(X)  # by a matrix of 80×80, and not of 4,096×4,096

# %%
# The mean and the first axes
# ---------------------------
# An axis makes a picture brighter where it is of one colour, and darker where it is of the other; which is which means
# nothing. The first axes are skin, hair and light from one side. Shapes of noses and mouths come later.

ritz.plot.components(pca, 11, shape=(64, 64))
plt.show()

# %%
# A new picture of somebody known, from ever more components: in the end 40 numbers instead of 4,096. The error is the
# distance of what is rebuilt to the picture, in percent of the distance of the mean face to the picture.

ritz.plot.reconstruction(pca, new, row=10, shape=(64, 64))
plt.show()

# %%
# Who is it?
# ----------
# We take the person of the nearest of the 80 pictures. Distances between 20 scores do as well as those between 4,096
# pixels. They do not do much better: both are large where the light changes. So we ask how pictures of *one* person
# differ, by a second PCA, of the scores minus their mean over the person's four pictures. Divided by the standard
# deviations along its axes, all such changes count alike. This is the idea behind Fisherfaces. Where light differs
# much, it may help to leave out the first three scores; here they are skin and hair too, and it does harm.


def share_right(points, new_points):
    """Of new pictures, recognised by their nearest neighbour."""
    squares = (new_points**2).sum(axis=1)[:, None] + (points**2).sum(axis=1) - 2 * new_points @ points.T
    return float(np.mean(person[squares.argmin(axis=1)] == person_of_new))


def within(scores, new_scores):
    """Both in coordinates in which pictures of one person vary by 1 in every direction."""
    means = np.stack([scores[person == who].mean(axis=0) for who in range(20)])
    change = ritz.PCA(center=False, whiten=True).fit(scores - means[person])
    return change.transform(scores), change.transform(new_scores)


scores, scores_of_new = pca.transform(X), pca.transform(new)
counts = (2, 5, 10, 15, 20, 25, 30, 35, 40)
right_by_pixels = share_right(X, new)
right_by_scores = [share_right(scores[:, :k], scores_of_new[:, :k]) for k in counts]
right_within = [share_right(*within(scores[:, :k], scores_of_new[:, :k])) for k in counts]
right_without_first = share_right(scores[:, 3:20], scores_of_new[:, 3:20])
print(f"recognised by 4,096 pixels: {right_by_pixels:.0%}, by 20 scores: {right_by_scores[4]:.0%}")
print(f"without the first three: {right_without_first:.0%}, with changes divided out: {right_within[4]:.0%}")

# %%
# Is it a face?
# -------------
# How far is a picture from the space of eigenfaces? We divide the squared distance by the picture's own variation, the
# squared distance of its pixels from their mean. This ratio is small for faces, and far above 1 for a piece of wall
# that hardly varies. Faces that the fit has not seen leave over more than those that it has. So the threshold comes
# from people who are left out of a fit, five at a time. We try it on five strangers.


def left_over(pictures, model=pca):
    """Squared distance to the space, over that of the pixels to their mean."""
    return model.reconstruction_error(pictures) / (pictures.var(axis=1) * pictures.shape[1])


rng, photographs = np.random.default_rng(0), [image.mean(axis=2) / 255 for image in load_sample_images().images]
corners = rng.integers(0, (427 - 64, 640 - 64), (40, 2))
others = {
    "another object": ritz.datasets.rotating_object(n_views=40, size=64),
    "shuffled pixels": rng.permuted(strangers, axis=1),
    "pieces of photographs": np.stack([photographs[r % 2][r : r + 64, c : c + 64].ravel() for r, c in corners]),
}
threshold = max(float(left_over(X[q], ritz.PCA(40).fit(X[~q])).max()) for q in (person % 4 == i for i in range(4)))
accepted = {name: float(np.mean(left_over(p) <= threshold)) for name, p in {"strangers": strangers, **others}.items()}
auc = float(roc_auc_score([0] * 40 + [1] * 120, left_over(np.vstack([strangers, *others.values()]))))
print("taken for faces:", ", ".join(f"{share:.0%} of {name}" for name, share in accepted.items()))
print(f"threshold {threshold:.2f}; area under the ROC curve, strangers against all else: {auc:.3f}")

figure, (recognised, shares) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
recognised.plot(counts, right_within, "o-", label="scores, changes of one person divided out")
recognised.plot(counts, right_by_scores, "s-", label="scores")
recognised.axhline(right_by_pixels, color="0.4", ls="--", label="4,096 pixels")
recognised.set(xlabel="components", ylabel="share recognised", ylim=(0, 1.03), title="Who is it?")
recognised.legend(loc="lower right")
groups = {"known people, new pictures": new, "strangers": strangers, **others}
for i, pictures in enumerate(groups.values()):
    shares.plot(left_over(pictures), i + rng.uniform(-0.25, 0.25, len(pictures)), "o", ms=3)
shares.axvline(threshold, color="0.4", ls="--")
shares.set(xscale="log", xlabel="left over / own variation, and the threshold", title="Is it a face?", ylim=(4.5, -0.5))
shares.set_yticks(range(5), groups)
plt.show()
