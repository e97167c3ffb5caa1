"""Passes over rows that leave something small: mean, scatter, R factor or sketch, mergeable over blocks and batches.

Comes in: Rows. Goes out: moments with a bound on their rounding, and the centring and scaling that were applied.
A new way to summarise rows in one pass is one file here.
"""
