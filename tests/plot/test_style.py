"""Axes, titles and legends."""

import pytest

from ritz.plot.style import axes, framed, harmless, headline, legend, wrapped


@pytest.mark.parametrize("name", ["$\\frac{", "a$b$", "\\$", "$", "_x", "\\$a$b$c\\"])
def test_names_are_drawn_as_they_are(name):
    from matplotlib.text import Text

    text, is_math = Text()._preprocess_math(harmless(name))
    assert (text, is_math) == (name, False)


def test_labels_that_begin_with_an_underscore_are_in_the_legend(plt):
    ax = axes(None)
    lines = ax.plot([1, 2], [3, 4]) + ax.plot([1, 2], [4, 3])
    legend(ax, lines, ["_hidden", "seen"])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["_hidden", "seen"]


def test_titles_are_broken_into_lines_of_about_the_same_length():
    lines = wrapped("one two three four five six seven eight nine ten eleven", 20).split("\n")
    assert max(map(len, lines)) - min(map(len, lines)) <= 6
    assert " ".join(lines) == "one two three four five six seven eight nine ten eleven"


def test_letters_that_the_font_lacks_come_from_another(plt, recwarn):
    with plt.rc_context({"font.family": ["cmr10"]}):  # has no Greek letters
        ax = axes(None)
        headline(ax, "λ₂/λ₁")
        framed(ax, "y")
        ax.set(xticks=[], yticks=[])
        ax.figure.draw_without_rendering()
    assert [str(warning.message) for warning in recwarn if "missing" in str(warning.message)] == []


def test_what_is_no_axes_is_refused(plt):
    with pytest.raises(TypeError, match="ax is a 'int'; one matplotlib Axes is needed"):
        axes(7)
