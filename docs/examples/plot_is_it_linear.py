"""
Is my data linear?
==================

PCA describes rows by k numbers and a flat subspace. Kernel PCA describes them by k numbers too, and its way back, the
pre-image, may be curved. If that rebuilds *new* rows much better, the data is curved. If it does not, the data is as
good as linear, and PCA is the simpler and the better model. Everything is measured on rows that were held out.
The theory: :doc:`/theory/kernel`.
"""

import matplotlib.pyplot as plt
import numpy as np

import ritz

rng = np.random.default_rng(0)
axes_of_flat = np.linalg.qr(rng.standard_normal((10, 3)))[0]
flat = rng.standard_normal((600, 3)) * [3, 2, 1] @ axes_of_flat.T + 0.2 * rng.standard_normal((600, 10))
curved = rng.permutation(ritz.datasets.rotating_object(n_views=360, size=24))

# %%
# Three parts
# -----------
# A third of the rows is for the fit, a third chooses the width of the kernel, :math:`\gamma`, and a third is for the
# verdict. :math:`\gamma` is tried around one over the median squared distance of the rows.

factors = (1 / 64, 1 / 16, 1 / 4, 1, 4)
counts = (1, 2, 3, 4, 6, 8)


def thirds(X):
    """Rows to fit, to choose and to judge."""
    return np.split(X, 3)


def kernel_fits(rows, k):
    """Kernel PCA with a way back, for every width."""
    squares = (rows**2).sum(axis=1)
    median = np.median((squares[:, None] + squares - 2 * rows @ rows.T)[np.triu_indices(len(rows), 1)])
    how = {"kernel": "rbf", "fit_inverse_transform": True, "alpha": 1e-3}
    return [ritz.KernelPCA(k, gamma=factor / median, **how).fit(rows) for factor in factors]


def error(model, rows, center):
    """Squared error in the space of the rows, as a share of their variance around the centre."""
    return float(model.reconstruction_error(rows).sum() / ((rows - center) ** 2).sum())


def compared(X):
    """Errors of PCA and of kernel PCA on the rows for the verdict, for every k."""
    fit, choose, judge = thirds(X)
    center, by_pca, by_kernel = fit.mean(axis=0), [], []
    for k in counts:
        best = min(kernel_fits(fit, k), key=lambda model: error(model, choose, center))
        by_pca.append(error(ritz.PCA(k).fit(fit), judge, center))
        by_kernel.append(error(best, judge, center))
    return by_pca, by_kernel


errors_flat, errors_curved = compared(flat), compared(curved)  # (PCA, kernel PCA), for every k
verdicts = {}
for name, (by_pca, by_kernel) in {"three axes in ten columns": errors_flat, "a turning object": errors_curved}.items():
    wins = sum(kernel < pca for pca, kernel in zip(by_pca, by_kernel, strict=True))
    verdicts[name] = "curved" if wins > len(counts) / 2 else "linear"
    print(f"{name}: kernel PCA is better for {wins} of {len(counts)} values of k. Verdict: {verdicts[name]}")
    print("   PCA    ", " ".join(f"{value:7.2%}" for value in by_pca))
    print("   kernel ", " ".join(f"{value:7.2%}" for value in by_kernel))

# %%
# Why rows held out?
# ------------------
# On the rows of the fit itself a curved model can follow the noise. Take 60 rows of the flat data, and k = 4. There the
# width that is best for the rows of the fit has less error than PCA, and the verdict would be wrong. On new rows the
# same model is far worse than PCA.

fit, new = flat[:60], flat[200:400]
center, models, pca = fit.mean(axis=0), kernel_fits(fit, 4), ritz.PCA(4).fit(fit)
errors_on_fit = [error(model, fit, center) for model in models]
errors_on_new = [error(model, new, center) for model in models]
pca_on_fit, pca_on_new = error(pca, fit, center), error(pca, new, center)
tempting = int(np.argmin(errors_on_fit))
print(f"rows of the fit: kernel PCA {errors_on_fit[tempting]:.2%}, PCA {pca_on_fit:.2%}")
print(f"new rows:        kernel PCA {errors_on_new[tempting]:.2%}, PCA {pca_on_new:.2%}")

# %%
# The picture: error of new rows against k, for both kinds of data, and the errors of the fit to 60 rows. With a small
# :math:`\gamma` the scores of kernel PCA are nearly those of PCA, and only the way back is curved. For the turning
# object that is already enough.

figure, panels = plt.subplots(1, 3, figsize=(11.5, 3.9), layout="constrained")
shown = ((panels[0], errors_flat, "Flat data: PCA is better"), (panels[1], errors_curved, "A turning object: curved"))
for ax, (by_pca, by_kernel), title in shown:
    ax.semilogy(counts, by_pca, "o-", label="PCA")
    ax.semilogy(counts, by_kernel, "s-", label="kernel PCA")
    ax.set(title=title, xlabel="components, k", ylabel="error of new rows, share of variance", ylim=(4e-3, 1))
    ax.legend()
trap = {"new rows": (errors_on_new, pca_on_new, "s-"), "rows of the fit": (errors_on_fit, pca_on_fit, "^:")}
for label, (values, line, mark) in trap.items():
    [drawn] = panels[2].loglog(factors, values, mark, label=f"kernel PCA, {label}")
    panels[2].axhline(line, color=drawn.get_color(), ls="--", lw=1, label=f"PCA, {label}")
panels[2].set(title="60 rows of flat data, k = 4", xlabel="gamma, times 1/median", ylabel="error", ylim=(2e-3, 5))
panels[2].legend(fontsize="small", loc="upper left")
plt.show()
