"""Data to try things on, made by formulas: the same numbers everywhere, and nothing to fetch.

Comes in: how much of it, and a seed. Goes out: arrays with a point in every row.
A new data set is one file here and one line below; solids that several of them draw are in `solids`, what is asked of
arguments is in `arguments`.
"""

from ritz.datasets.faces import Faces, parametric_faces
from ritz.datasets.rotation import rotating_object
from ritz.datasets.usage import Usage, usage_intensity

__all__ = ["Faces", "Usage", "parametric_faces", "rotating_object", "usage_intensity"]
