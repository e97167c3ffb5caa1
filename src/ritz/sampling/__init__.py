"""The error of the sample: how far variances, axes, loadings and scores would move if other rows had been drawn.

Comes in: a subspace with the rows it was learned from, or the spectrum alone. Goes out: standard errors, intervals and
angles, components that the sample cannot tell apart, biases and what corrects them. It is apart from the error of the
arithmetic, which is in `spectrum`. A new estimate of it is a module here.
"""
