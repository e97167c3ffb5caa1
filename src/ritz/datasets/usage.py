"""Two measurements of one hidden quantity: how much phones are used."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ritz.datasets.arguments import check_room, counts, generator
from ritz.datasets.solids import Array

NAMES = "hours per day", "watt-hours per day"
LEAST = np.array([2.0, 4.5])  # of a phone that is hardly used
RANGE = np.array([5.0, 8.0])  # from there to one that is used all the time
NOISE = np.array([0.55, 0.95])  # standard deviations of what else decides: bright screens, old batteries


class Usage(NamedTuple):
    """What `usage_intensity` returns.

    Attributes
    ----------
    X : (n, 2), a phone in each row
    intensity : (n,), from 0 to 1: what both columns of X measure
    names : of the two columns

    Examples
    --------
    >>> X, intensity, names = usage_intensity(50)
    >>> X.shape, intensity.shape, names
    ((50, 2), (50,), ('hours per day', 'watt-hours per day'))
    """

    X: Array
    intensity: Array
    names: tuple[str, str]


def usage_intensity(n: int = 200, random_state: int = 0) -> Usage:
    """Screen time and energy of n phones: x = least + range·intensity + noise, in both coordinates.

    Both columns measure one hidden quantity, how intensively a phone is used, and both with noise. So the points lie
    along a line, at 58° to the axis of hours. The first principal axis is near it, at 60°; it would be the line itself
    if both columns had the same noise. The regression line of energy on hours is flatter, 54°, since it takes all of
    the noise for noise of the energy.

    The intensity is uniform from 0 to 1, the noise is normal and independent. The covariance of the two columns is
    range rangeᵀ/12 + diag(noise²), with range = (5, 8) and noise = (0.55, 0.95), and their correlation 0.86; that of
    few phones differs.

    Parameters
    ----------
    n : number of phones
    random_state : seed; the first phones of a seed are the same for every n

    Returns
    -------
    Usage
        ``X`` (n, 2), ``intensity`` (n,), and ``names`` of the columns

    Examples
    --------
    >>> X, intensity, names = usage_intensity()
    >>> X.shape, names
    ((200, 2), ('hours per day', 'watt-hours per day'))
    >>> round(float(np.corrcoef(X.T)[0, 1]), 2)
    0.9
    """
    [n] = counts(n=n)
    check_room(f"{n} phones", n, 3)
    intensity = generator(random_state, 0).random_sample(n)
    noise = NOISE * generator(random_state, 1).standard_normal((n, 2))
    return Usage(LEAST + np.outer(intensity, RANGE) + noise, intensity, NAMES)
