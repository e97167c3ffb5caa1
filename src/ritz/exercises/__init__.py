"""Exercises: whether an answer that was handed in is right, and if not, which mistake explains it.

Comes in: data or a matrix, and an answer: axes, dual coefficients, scores, pairs, or a function. Goes out: a `Verdict`.
`problem` is what is asked, with a certified `solution`; `answer` makes numbers of what was handed in, with the `digits`
they have, and `readings` are what they may mean; `case` is problem and answer, measured in the coordinates of the true
eigenvectors, within what `tolerance` allows; `diagnose` finds the `mistake`, known by undoing it; `words` and `verdict`
say it. `functions` has the matrices that a function is tried on.
A new mistake is one line in a table, with a function that undoes it: in `mistakes_of_problem` (another problem was
solved), `mistakes_of_form` (order, shape, signs), `mistakes_of_scaling` (lengths, units) or `mistakes_general`. A new
test matrix is one line in `functions.SPECTRA`.
"""
