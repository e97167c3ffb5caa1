"""
Denoising and corrupted pixels
==============================

Pictures of one kind lie near a subspace. Noise does not: it lies in all directions alike. A noisy picture, projected
to the subspace, keeps most of the picture and a small share of the noise. For pixels that are not noisy but wrong there
is a better way than to project: leave them out, and solve a least squares problem with the others.

See also :doc:`/theory/after_learning`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import ritz

rng = np.random.default_rng(0)
digits = rng.permutation(load_digits().data / 16)  # 8×8 pixels from 0 to 1
X, clean = digits[:1200], digits[1200:]
sigma = 0.25
noisy = clean + sigma * rng.standard_normal(clean.shape)
pca = ritz.PCA(61).fit(X)  # three pixels are always 0


def error(found, truth):
    """Mean squared error of a pixel."""
    return float(np.mean((found - truth) ** 2))


def projected(pictures, pca, k):
    """The nearest pictures in the subspace of k components."""
    return pca.mean_ + pca.transform(pictures)[:, :k] @ pca.components_[:k]


# %%
# How many components?
# --------------------
# With k components the error has two parts. What is left out of the pictures, :math:`\sum_{i>k}\lambda_i`, falls. What
# is kept of the noise, :math:`k\sigma^2`, grows. So the sum is smallest where the variance of a component falls below
# that of the noise: a component is worth keeping if :math:`\lambda_k > \sigma^2`.

counts = np.arange(1, 62)
errors = np.array([error(projected(noisy, pca, k), clean) for k in counts])
left_out = np.array([pca.explained_variance_[k:].sum() for k in counts]) / 64
expected_errors = left_out + counts * sigma**2 / 64
best_k = int(counts[errors.argmin()])
above_noise = int(np.sum(pca.explained_variance_ > sigma**2))
error_of_noisy, error_of_denoised = error(noisy, clean), error(projected(noisy, pca, best_k), clean)
gain_in_decibels = float(10 * np.log10(error_of_noisy / error_of_denoised))
print(f"smallest error with {best_k} components; {above_noise} have a variance above that of the noise")
print(f"peak signal-to-noise ratio {-10 * np.log10(error_of_noisy):.1f} dB, denoised {gain_in_decibels:.1f} dB more")

figure, axes = plt.subplot_mosaic("AAABCD;AAAEFG;AAAHIJ", figsize=(10.5, 4.8), layout="constrained")
axes["A"].plot(counts, errors, "o", ms=3.5, label="measured on new digits")
axes["A"].plot(counts, expected_errors, "k--", lw=1, label=r"$(\sum_{i>k}\lambda_i + k\sigma^2)/64$, from the fit")
axes["A"].plot(counts, left_out, ":", color="0.4", label="left out of the digits")
axes["A"].plot(counts, counts * sigma**2 / 64, "-.", color="0.4", label="kept of the noise")
axes["A"].axvline(best_k, color="0.7", lw=1)
axes["A"].set(xlabel="components, k", ylabel="mean squared error of a pixel", ylim=(0, 0.085))
axes["A"].set_title(f"Least error with {best_k} components")
axes["A"].legend(loc="upper center")
for names, row in zip(("BCD", "EFG", "HIJ"), (3, 4, 5), strict=True):
    shown = {"digit": clean[row], "with noise": noisy[row], f"{best_k} components": projected(noisy, pca, best_k)[row]}
    for name, (title, picture) in zip(names, shown.items(), strict=True):
        axes[name].imshow(picture.reshape(8, 8), cmap="gray", vmin=0, vmax=1)
        axes[name].set(xticks=[], yticks=[], title=title if names == "BCD" else "")
plt.show()

# %%
# Corrupted pixels
# ----------------
# Now 40% of the pixels of new views of a turning object are replaced by random ones. A projection takes them for true,
# and all scores are wrong. If we know which pixels are intact, :math:`\Omega`, the scores that fit those best are
#
# .. math:: y = (U_\Omega^\top U_\Omega)^{-1} U_\Omega^\top x_\Omega,
#
# where :math:`U_\Omega` has the rows of :math:`U` for these pixels alone. The result has all pixels, also the lost.

views = ritz.datasets.rotating_object(n_views=180, size=40)
X, clean = views[::2], views[1::2]
lost = rng.random(clean.shape) < 0.4
corrupted = np.where(lost, rng.random(clean.shape), clean)


def from_intact(Z, lost, U):
    """Least squares with the pixels that are not lost, row by row."""
    return np.stack([U @ np.linalg.lstsq(U[~gone], z[~gone])[0] for z, gone in zip(Z, lost, strict=True)])


pca = ritz.PCA(20).fit(X)
repaired = pca.mean_ + from_intact(corrupted - pca.mean_, lost, pca.components_.T)
errors_of = {
    "corrupted": error(corrupted, clean),
    "projected": error(projected(corrupted, pca, 20), clean),
    "least squares": error(repaired, clean),
    "projected, nothing lost": error(projected(clean, pca, 20), clean),
}
for name, value in errors_of.items():
    print(f"{name:24} root mean square error {np.sqrt(value):.3f}")

figure, panels = plt.subplots(1, 5, figsize=(10.5, 2.7), layout="constrained")
shown = (clean, corrupted, projected(corrupted, pca, 20), repaired, projected(clean, pca, 20))
for ax, title, pictures in zip(panels, ("a new view", *errors_of), shown, strict=True):
    ax.imshow(pictures[15].reshape(40, 40), cmap="gray", vmin=0, vmax=1)
    ax.set(xticks=[], yticks=[], title=title)
    ax.set_xlabel(f"error of all {np.sqrt(errors_of[title]):.3f}" if title in errors_of else "")
plt.show()
