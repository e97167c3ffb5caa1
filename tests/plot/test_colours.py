"""Colours by the lightness of the background."""

import numpy as np
import pytest

from ritz.plot.colours import DARK, LIGHT, contrast, look, luminance

INSIDE = ("ink", "soft", "accent", "second", "good", "bad")


def test_contrast_is_that_of_wcag():
    assert contrast("black", "white") == pytest.approx(21)
    assert contrast("#777777", "white") == pytest.approx(4.478, abs=1e-3)
    assert luminance("#0000ff") == pytest.approx(0.0722)


def test_whatever_is_written_can_be_read(plt):
    ax = plt.figure().add_subplot()
    for face in ("white", "black", "#14181c", "#eaeaf2", "#e5e5e5", "#1f1f1f"):
        ax.set_facecolor(face)
        colours = look(ax)
        for name in INSIDE:
            assert contrast(getattr(colours, name), face) >= 4.5, (face, name)
        assert all(contrast(shade, face) >= 1.15 for shade in (*colours.classes, *colours.steps)), face


def test_what_is_behind_a_transparent_part_counts(plt):
    figure = plt.figure(facecolor="black")
    ax = figure.add_subplot(facecolor="none")
    assert np.allclose(look(ax).background, 0)
    assert look(ax).accent == DARK["accent"]
    ax.set_facecolor("white")
    assert look(ax).accent == LIGHT["accent"]
    assert look(ax, outside=True).accent == DARK["accent"]
