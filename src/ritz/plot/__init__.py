"""Figures with matplotlib: of data or of a fitted model, ready to print, in light and dark.

Comes in: whatever `PCA.fit` takes, or a fitted model. Goes out: the Axes that were drawn on, an array of them where
there are several panels; nothing is shown, and no setting of matplotlib is changed. matplotlib (the extra ``plot``) is
imported when the first figure is drawn. A new figure is a function in a module of its own, or beside those of its
kind, with colours from `colours`, titles from `style`, panels from `strips` and its model from `subject`; one line here
makes it public, and docs/api.md lists it.
"""

from ritz.plot.accuracy import certificate
from ritz.plot.angles import angle
from ritz.plot.gaps import spectrum_gap
from ritz.plot.iterations import convergence
from ritz.plot.lines import line
from ritz.plot.planes import scores
from ritz.plot.rebuilding import reconstruction
from ritz.plot.spectra import scree
from ritz.plot.truncation import errors
from ritz.plot.weights import components

__all__ = [
    "angle",
    "certificate",
    "components",
    "convergence",
    "errors",
    "line",
    "reconstruction",
    "scores",
    "scree",
    "spectrum_gap",
]
