"""Small linear algebra on arrays: factorisations, products and rounding bounds that every later package relies on.

Comes in: arrays. Goes out: arrays, with bounds on their rounding where a certificate needs them.
A new thing belongs here if it is a function of arrays alone, and LAPACK or SciPy has no ready form of it.
"""
