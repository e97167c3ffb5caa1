"""Exercises: is what a student hands in right, and if it is not, which mistake explains it?

Comes in: data or a matrix, and an answer to it: axes, dual coefficients, scores, pairs, or a function. Goes out: a `Verdict`.
`problem` solves what is asked, with a certificate; `answer` reads what was handed in; `judge` measures it in the
coordinates of the true eigenvectors; `mistakes` is the table of mistakes, known by undoing them; `words` and `verdict`
say it. `functions` has the matrices that a function is tried on.
A new mistake is one line in the table `MISTAKES`, with a function that undoes it in `undo_problem` (another problem was
solved), `undo_form` (order, shape, signs) or `undo_scaling` (lengths, units); a new test matrix is one line in
`functions.SPECTRA`.
"""
