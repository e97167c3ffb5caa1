"""Sources in memory: arrays, also on devices, sparse matrices, tables, AnnData, and rows computed from other rows.

Comes in: an object of Python. Goes out: Rows that are views of it, never copies.
A new kind of object is one file here and one line in the table `SOURCES` of `ritz.rows`.
"""
