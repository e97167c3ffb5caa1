"""From a basis to a certified subspace: eigenvalues, order, signs, residuals, bounds and the certificate, once for all.

Comes in: an operator and the orthonormal basis that a solver returned.
Goes out: `Spectrum`, `Certificate` and `Subspace`. A new bound belongs into `bounds`, a new way to exclude that a
larger component was missed into `completeness`, what is claimed from both into `certify`, what a reader is told into
`certificate`.
"""
