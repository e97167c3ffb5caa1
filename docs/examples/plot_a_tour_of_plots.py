r"""
Plots of a fit
==============

Eight functions of ``ritz.plot`` on one data set: 1,797 handwritten digits of 8×8 pixels. We fit 20 components to the
first 1,200, and hold the others out. Every function takes data as well as a model, and with ``ax=`` it draws on axes
that are there already.

See also :doc:`/theory/certificate`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import ritz

digits = load_digits()
known, held_out = ritz.read(digits.images[:1200]), ritz.read(digits.images[1200:])  # they remember that they are 8×8
pca = ritz.PCA(20).fit(known)

# %%
# scree
# -----
# How much variance has every component? The bars are the variances :math:`\lambda_i`, and the line sums up their shares
# of the whole.

shares = np.cumsum(pca.explained_variance_ratio_)
needed_for_half = int(np.searchsorted(shares, 0.5)) + 1
print(f"half of the variance takes {needed_for_half} components; 20 hold {shares[-1]:.1%}")

ritz.plot.scree(pca)
plt.show()

# %%
# errors
# ------
# What do k components leave out, and how many numbers are kept then? One curve comes from the variances of the fit, the
# other one is measured on rows that the fit has not seen: it is a little higher.

total = pca.total_variance_ * 1199 / 1200  # the mean squared distance of a digit from the mean
left_out, left_out_of_new = (float(np.mean(pca.reconstruction_error(rows)) / total) for rows in (known, held_out))
print(f"20 components leave out {left_out:.1%} of the variance, of new digits {left_out_of_new:.1%}")

ritz.plot.errors(pca, held_out)
plt.show()

# %%
# spectrum_gap
# ------------
# How well is the subspace determined? By the gap after its last component, which the dotted line marks. It is small
# here: other digits could exchange the 20th component for the 21st.

values = ritz.PCA(21).fit(known).explained_variance_
gap_after_20 = float(1 - values[20] / values[19])
print(f"the 21st variance is {gap_after_20:.1%} less than the 20th")

ritz.plot.spectrum_gap(pca, known)
plt.show()

# %%
# certificate
# -----------
# How accurate is the fit? Errors of the arithmetic lie far below what was asked for, the line of ``tol``. What other
# digits would change, the sampling error, is larger by many powers of ten.

certificate = pca.certificate_
numerical, sampling = (float(np.max(part)) for part in (certificate.errors, certificate.sampling_errors))
print(f"variances are off by at most {numerical:.0e}, and by {sampling:.0f} for other digits")

ritz.plot.certificate(pca)
plt.show()

# %%
# scores
# ------
# Where does every digit lie? Labels colour the points. Two components separate some of the digits, such as 4 and 6.

ritz.plot.scores(pca, held_out, labels=digits.target[1200:])
plt.show()

# %%
# components
# ----------
# What does a component look like? For pictures it is a picture: blue is below 0, brown above. Of other data the weights
# of the columns are drawn.

ritz.plot.components(pca, 7)
plt.show()

# %%
# reconstruction
# --------------
# What is a row made of? One that was held out, from ever more components. The error is its distance to what is rebuilt,
# in percent of its distance to the mean.

ritz.plot.reconstruction(pca, held_out, row=7)
plt.show()

# %%
# convergence
# -----------
# How fast does an iteration find the axes? Orthogonal iteration with b columns multiplies the residual of the k-th
# component by :math:`\lambda_{b+1}/\lambda_k` in every step: the dashed line.

iterated = ritz.PCA(3, svd_solver="orthogonal", random_state=0).fit(known)
largest_angle = float(np.degrees(ritz.compare(iterated.components_.T, pca.components_[:3].T)[-1]))
print(f"{len(iterated.history_)} steps; the span is {largest_angle:.0e}° from that of the first three components")

ritz.plot.convergence(iterated, known)
plt.show()
