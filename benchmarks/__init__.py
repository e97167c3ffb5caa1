"""Timings beside the peers, with the accuracy and peak memory of each: `python -m benchmarks`.

A new library to compare with is one entry in `contenders`, a new data set one in `cases`; a new comparison is one
file and one line in `__main__`.
"""
