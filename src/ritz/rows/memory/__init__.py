"""Sources in memory: arrays, sparse matrices, tables, AnnData, and rows computed from other rows.

A new kind of object is one file here and one line in `SOURCES` of `ritz.rows`.
"""
