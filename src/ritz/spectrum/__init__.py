"""From a basis to a certified subspace: eigenvalues, order, signs, residuals, bounds and the certificate, once for all.

Comes in: an operator and the orthonormal basis that a solver returned.
Goes out: `Spectrum`, `Certificate` and `Subspace`. A new bound belongs into `bounds`, what is claimed from it into
`certify`, what a reader is told into `certificate`.
"""
