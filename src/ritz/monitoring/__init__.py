"""Odd rows: Hotelling's T² and the squared prediction error of every row, with limits and the columns to blame.

Comes in: a subspace and rows, of the fit or new. Goes out: statistics, limits and contributions, in one pass. A new
limit is a function of what a fit leaves, in `limits`.
"""
