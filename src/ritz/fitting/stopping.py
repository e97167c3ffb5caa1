"""When copies with random signs have told enough: the count will not change, however many more are compared.

The bar is the largest value of all copies, so more of them can only raise it. Where no value of the rows stands above it,
nothing will. Where some do, the least of these must be out of reach of all copies that are still to come. The largest
eigenvalue of a copy hardly varies from one to the next: about as much as the largest ones of a single copy lie apart,
with random fluctuations of the same origin (the edge of the spectrum, where they follow Tracy and Widom). The distance
between the first and the fifth is some five standard deviations of the first, and much the same in every copy. Where
one value is far above the others of its copy, such as that of a column with most of the variance, that distance is larger
than fluctuations, and more copies are compared than needed: never too few.
"""

from __future__ import annotations

import numpy as np

from ritz.fitting import rank
from ritz.linalg.dense import Array

PLACES = 5  # largest values of a copy that are looked at
LEAST = 5  # copies without which none is left out while any value stands above them
# Distances between the first and the last of these that a value must lie above the bar. Of simulated noise, equal and
# unequal by row or column, with light and heavy tails, one of the copies left out reached that far less than once in
# 1,000 times at the worst, and less than once in 10,000 where columns or rows are more than a hundred.
CLEAR = 1.25


def settled(values: Array, copies: Array) -> bool:
    """Whether more copies would change the number of leading values above all of them.

    Parameters
    ----------
    values : (k,) descending; one that is not above the copies is among them, if there is any
    copies : (m, p) largest values of every copy so far, descending

    Examples
    --------
    >>> import numpy as np
    >>> copies = np.array([[2.0, 1.9, 1.8, 1.75, 1.7]] * 5)
    >>> settled(np.array([9.0, 1.9]), copies), settled(np.array([2.1, 1.9]), copies), settled(np.array([1.9]), copies)
    (True, False, True)
    """
    bar = float(copies[:, 0].max())
    above = rank.parallel(values, np.full((1, len(values)), bar))
    if not above:
        return True
    if copies.shape[0] < LEAST or copies.shape[1] < PLACES:
        return False
    spread = float(np.mean(copies[:, 0] - copies[:, PLACES - 1]))
    return bool(values[above - 1] > bar + CLEAR * spread)
