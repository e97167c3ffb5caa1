"""
Image compression: PCA of patches, and wavelets
===============================================

A photograph of 320×320 pixels, kept as fewer numbers. PCA learns from the 1,600 patches of 8×8 pixels of this very
picture which few patterns they are made of. Wavelets are known beforehand: keep the largest coefficients, and the
places where they belong.

See also :doc:`/theory/sparsity`.
"""

import zlib

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

import ritz

image = load_sample_image("flower.jpg").mean(axis=2)[60:380, 150:470] / 255
row = image.reshape(1, -1)
patches = image.reshape(40, 8, 40, 8).swapaxes(1, 2).reshape(1600, 64)
pca = ritz.PCA(64).fit(patches)
scores = pca.transform(patches)


def from_scores(Y):
    """The picture of some scores of every patch."""
    return (pca.mean_ + Y @ pca.components_[: Y.shape[1]]).reshape(40, 40, 8, 8).swapaxes(1, 2).reshape(1, -1)


def error(found):
    """Root mean square error, in grey levels of 256."""
    return float(255 * np.sqrt(np.mean((found - row) ** 2)))


# %%
# Numbers kept
# ------------
# PCA keeps k scores for each patch, and once the mean and k axes. Wavelets keep s values and s places, 2s numbers. A
# basis turns pictures into coefficients by `analysis`. For orthonormal wavelets (sym4) that is the adjoint. For
# biorthogonal ones (bior4.4, those of JPEG 2000) it is not, and to threshold the adjoint is wrong.

bases = {
    name: ritz.CompressedSensing(1, basis=name, signal_shape=(320, 320), measurement="subsampled-dct").fit(row).basis_
    for name in ("sym4", "bior4.4")
}
ks, counts = (1, 2, 4, 8, 16, 32), (750, 1_500, 3_000, 6_000, 12_000, 24_000)
numbers_pca = [k * 1600 + (k + 1) * 64 for k in ks]
error_pca = [error(from_scores(scores[:, :k])) for k in ks]
error_wavelets = {name: [error(basis.approximate(row, s)) for s in counts] for name, basis in bases.items()}

products = bases["bior4.4"].adjoint(row)  # the wrong way
least = np.sort(np.abs(products[0]))[[-s for s in counts]]
error_wrong = [error(bases["bior4.4"].synthesis(np.where(np.abs(products) >= low, products, 0))) for low in least]
for numbers, off in zip(numbers_pca, error_pca, strict=True):
    print(f"PCA,      {numbers:6,} numbers: error {off:4.1f}")
for s, sym4, bior44, wrong in zip(counts, *error_wavelets.values(), error_wrong, strict=True):
    print(f"wavelets, {2 * s:6,} numbers: error sym4 {sym4:4.1f}, bior4.4 {bior44:4.1f}, by its adjoint {wrong:4.1f}")

# %%
# Bytes
# -----
# What counts on a disk is bytes. All coefficients are rounded to multiples of a step, most of them to 0, and packed by
# `zlib`, so that places cost what they cost. PCA also packs the mean, and the axes that it uses, in half precision.


def packed(coefficients, step, axes=b""):
    """Bytes, and the coefficients that come back."""
    levels = np.rint(coefficients / step).astype(np.int16)
    used = axes[: levels.any(axis=0).sum() + 1]
    return sum(len(zlib.compress(bytes(part), 9)) for part in (levels.T.copy(), used)), levels * step


steps, axes = (0.6, 0.4, 0.25, 0.15, 0.1, 0.06, 0.03), np.vstack([pca.mean_, pca.components_]).astype(np.float16)
kept = {"PCA of patches": [packed(scores, step, axes) for step in steps]}
kept |= {name: [packed(basis.analysis(row), step) for step in steps] for name, basis in bases.items()}
back = {"PCA of patches": from_scores} | {name: basis.synthesis for name, basis in bases.items()}
sizes = {name: [(count, error(back[name](coarse))) for count, coarse in found] for name, found in kept.items()}
for name, line in sizes.items():
    print(f"{name}: {line[3][0]:,} bytes for an error of {line[3][1]:.1f}")
bytes_of_pixels = len(zlib.compress(np.rint(255 * image).astype(np.uint8).tobytes(), 9))
print(f"pixels as they are: {bytes_of_pixels:,} bytes")

# %%
# The picture: errors against numbers and bytes, and the middle of the photograph kept as some 12,000 numbers.

figure, panels = plt.subplot_mosaic("AAABBB;AAABBB;CCDDEE", figsize=(10, 7.6), layout="constrained")
curves = {**error_wavelets, "bior4.4, adjoint (wrong)": error_wrong}
panels["A"].plot(numbers_pca, error_pca, "^-", label="PCA of patches")
for (name, errors), mark in zip(curves.items(), ("s-", "o-", "k:"), strict=True):
    panels["A"].plot(2 * np.array(counts), errors, mark, label=name)
for line, mark in zip(sizes.values(), "^so", strict=True):
    panels["B"].plot(*zip(*line, strict=True), f"{mark}-")
panels["A"].set(xlabel="numbers kept, of 102,400", ylabel="error, in grey levels of 256", ylim=(0, 24))
panels["B"].set(xlabel=f"bytes; {bytes_of_pixels:,} for the pixels as they are", ylim=(0, 24))
panels["A"].legend()
shown = {"pixels": row, "PCA": from_scores(scores[:, :7]), "bior4.4": bases["bior4.4"].approximate(row, 6_000)}
for name, (title, picture) in zip("CDE", shown.items(), strict=True):
    panels[name].imshow(picture.reshape(320, 320)[80:240, 80:240], cmap="gray", vmin=0, vmax=1)
    panels[name].set(xticks=[], yticks=[], title=f"{title}: error {error(picture):.1f}")
plt.show()
