"""What components mean: correlations, contributions and squared cosines of columns and rows, supplementary elements,
rotations, and comparisons of models.

Comes in: a subspace with rows, and what stands beside them. Goes out: tables by name. A new criterion of rotation is a
line in its table; a new kind of supplementary element is a module here.
"""
