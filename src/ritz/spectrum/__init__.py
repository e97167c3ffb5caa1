"""From a basis to a certified subspace: eigenvalues, order, signs, residuals, bounds and the certificate, once for all.

Comes in: an operator and the orthonormal basis that a solver returned.
Goes out: `Spectrum`, `Certificate` and `Subspace`. A new bound, or a new way to exclude that a larger component was
missed, belongs into `bounds`; what is claimed from it into `certify`; what a reader is told, and the facts behind
warnings, into `certificate`, whose table and remarks are those of `printed`.
"""
