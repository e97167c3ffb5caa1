"""Random fits on every route, their certificates held against the truth; a bound that the truth violates is printed.

    rows.py    what is fitted: shapes, spectra, offsets, magnitudes, dtypes
    routes.py  how: one function per route, and how often it is taken
    elsewhere.py  the same for chunks of Dask, devices, and landmarks of scattered rows
    truth.py   eigenvalues and eigenvectors with their own error, and the judgement of a certificate
    run.py     many fits in parallel, counted

A fit is determined by its number, so `python -m benchmarks hunt --first 1234 --fits 1` repeats one.
"""
