"""Numbers and names as people read them: no digit invented, no bound understated, no character that acts."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.pages import parsed
from ritz.views.format import between, bound, figure, number, ordinal, percent, shortened, shown

positive = st.floats(min_value=1e-300, max_value=1e300)


@given(positive, st.integers(1, 9))
def test_numbers_keep_their_digits(size, digits):
    for value in (size, -size):
        assert parsed(number(value, digits)) == pytest.approx(value, rel=0.51 * 10.0 ** (1 - digits))


@given(positive, st.integers(1, 5))
def test_bounds_are_never_understated(value, digits):
    assert value <= parsed(bound(value, digits)) <= value * (1 + 1.01 * 10.0 ** (1 - digits))


@given(st.floats(1e-3, 1e6), st.floats(1e-12, 1e3))
def test_no_digit_beyond_the_error(value, error):
    text = figure(value, error)
    assert abs(parsed(text) - value) <= max(10 * error, 0.5 * value, 1e-5 * value)
    digits = text.replace(",", "").split("×")[0].replace(".", "").lstrip("0")
    assert len(digits) <= 7
    if "×" not in text and "." in text:
        assert 10.0 ** -len(text.split(".")[1]) >= error / 10.01 or len(digits) == 1


@given(st.floats(0, 1))
def test_shares_are_nothing_or_all_only_if_they_are(share):
    text = percent(share)
    assert parsed(text) == pytest.approx(share, abs=5.1e-4)
    assert (text == "100%") == (share >= 1 - 1e-9)
    assert not (text == "0%" and share > 1e-10)


@given(st.floats(0, 1), st.floats(0, 1))
def test_intervals_of_shares_are_rounded_outwards(a, b):
    low, high = sorted([a, b])
    lower, upper = map(parsed, between(low, high).split(" to "))
    assert lower <= low + 1e-12
    assert upper >= high - 1e-12
    assert upper - lower <= high - low + max(2.1e-3 * (high - low > 1e-3), 2.1 * (high - low), 2.1e-6)


@given(st.text(st.characters(), max_size=200))
def test_names_are_short_and_cannot_act(text):
    safe = shown(text)
    assert 0 < len(safe) <= 60
    kinds = {unicodedata.category(character) for character in safe if character not in "\u200c\u200d"}
    assert not {kind for kind in kinds if kind.startswith("C")} | (kinds & {"Zl", "Zp"})
    safe.encode("utf-8")


@given(st.text(max_size=40), st.integers(1, 30))
def test_wide_letters_count_twice(text, most):
    width = sum(1 + (unicodedata.east_asian_width(character) in "WF") for character in shortened(text, most))
    assert width <= max(most, 1)


@pytest.mark.parametrize(
    ("ending", "numbers"),
    [
        ("st", (1, 21, 101, 1021)),
        ("nd", (2, 32, 8192, 1022)),
        ("rd", (3, 23, 103)),
        ("th", (4, 10, 11, 12, 13, 16, 64, 111, 112, 1013, 1024, 4096)),
    ],
)
def test_ordinals(ending, numbers):
    for i in numbers:
        assert ordinal(i) == f"{i:,}{ending}"


@given(st.floats(1e-30, 1e-6))
def test_tiny_shares_keep_two_digits(share):
    assert parsed(percent(share)) == pytest.approx(share, rel=0.051)
