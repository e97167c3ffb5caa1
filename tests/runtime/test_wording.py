"""Bounds stay bounds when they are written, and components have one name in everything that people read."""

import re
import warnings

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from helpers.pages import Page, parsed
from ritz import PCA, AccuracyWarning, KernelPCA, eigen, solvers
from ritz.runtime.wording import at_least, at_most, at_most_degrees, at_most_within, components, plain
from ritz.spectrum.certificate import Certificate
from ritz.views.format import angle, between, bound, least
from ritz.views.report import render
from ritz.views.sentences import HEAD, component_rows

magnitudes = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.builds(lambda mantissa, power: mantissa * 10.0**power, st.floats(1, 10), st.integers(-323, 307)),
    st.builds(lambda mantissa, power: float(f"{mantissa}e{power}"), st.integers(1, 9999), st.integers(-323, 300)),
)


@given(magnitudes, st.integers(1, 17))
@example(9.99e5, 2)
@example(5e-324, 1)
@example(5e-324, 2)
@example(1.7976931348623157e308, 2)
@example(0.001, 1)
@example(np.nextafter(1.0, 2.0), 3)
@example(-2.31, 2)
def test_bounds_stay_bounds_and_lose_no_more_than_a_digit(x, digits):
    above, below = at_most(x, digits), at_least(x, digits)
    assert float(above) >= x >= float(below)
    assert float(plain(above)) == float(above)
    for text in (above, below):
        assert re.fullmatch(r"-?[\d.]+e[+-]\d\d\d?", text)
        assert sum(map(str.isdigit, text.partition("e")[0])) == digits
        if 1e-300 < abs(x) < 1e300:
            assert abs(float(text) - x) <= 1.01 * 10.0 ** (np.floor(np.log10(abs(x))) - digits + 2)
    assert float(at_most(-x, digits)) == -float(below)


def test_bounds_at_the_ends_of_the_range():
    assert at_most(9.99e5) == "1.0e+06"
    assert at_most(0.0) == at_least(0.0) == "0.0e+00"
    assert at_most(np.inf) == "inf"
    assert at_least(-np.inf) == "-inf"
    assert at_most(np.float64(2.31e-13), 1) == "3e-13"


@given(st.floats(0, 1, exclude_max=True))
def test_angles_are_bounds_in_degrees_too(sine):
    true = np.degrees(np.arcsin(np.longdouble(sine)))
    for digits in (1, 2, 5, 16):
        assert np.longdouble(at_most_degrees(sine, digits).removesuffix("°")) >= true * (1 - np.longdouble(2) ** -60)
    assert parsed(angle(sine)) >= float(true)


@given(st.floats(0, 1e300), st.floats(0, 1e300))
def test_bounds_on_the_page_are_rounded_outwards(x, y):
    assert parsed(bound(x)) >= x * (1 - 1e-15)
    assert parsed(least(x)) <= x * (1 + 1e-15)
    low, high = sorted((x % 1.0, y % 1.0))
    told = [parsed(part) for part in between(low, high).split(" to ")]
    assert told[0] <= low * (1 + 1e-15)
    assert told[1] >= high * (1 - 1e-15)


@given(st.floats(1e-300, 1e300), st.floats(1e-300, 1e300))
def test_what_is_within_a_limit_is_written_within_it(x, limit):
    text = at_most_within(x, limit)
    assert float(text) >= x
    if x <= limit:
        assert float(text) <= limit


def certificate(**parts) -> Certificate:
    """One of two components, with some parts changed."""
    plainly = {
        "values": np.array([2.0, 1.0]),
        "residuals": np.zeros(2),
        "value_bounds": np.array([[2.0 - 1.01e-9, 2.0], [1.0, 1.0 + 2.33e-7]]),
        "angle_bounds": np.array([1.01e-12, 0.111]),
        "groups": ((0, 1), (1, 2)),
        "tie_at_k": False,
        "completeness": "proved",
        "failure_probability": 0.0,
        "complete_to": 2,
        "rank": 2,
        "rounding": 1.01e-16,
        "audited": False,
        "passes": 1,
        "tol": 1e-6,
        "reached": 2.31e-7,
        "satisfied": True,
    }
    return Certificate(**(plainly | parts))


def numbers(text: str) -> list[float]:
    return [float(part) for part in re.findall(r"\d(?:\.\d+)?e[+-]\d+", text)]


def test_every_bound_of_a_certificate_is_rounded_up():
    known = certificate(missing=3.33e-5)
    text = str(known).splitlines()
    assert numbers(text[0])[0] == 2.4e-7
    for line, error, sine in zip(text[2:4], known.errors, known.angle_bounds, strict=True):
        shown_error, shown_angle = numbers(line)
        assert error <= shown_error <= 1.1 * error
        assert np.degrees(np.arcsin(sine)) <= shown_angle <= 1.1 * np.degrees(np.arcsin(sine))
    assert "lacks more than 3.4e-05 of variance" in text[-2]
    assert "rounding and what is missing: 1.1e-16" in text[-1]


def test_what_was_reached_and_what_was_asked_do_not_contradict_each_other():
    known = certificate(tol=1.23e-6, reached=1.21e-6)
    assert known.verdict.endswith("at most 1.21e-06 of the first variance (asked: 1.23e-06)")
    short = certificate(tol=1.23e-6, reached=1.2301e-6, satisfied=False)
    assert short.verdict.endswith("at most 1.3e-06 of the first variance (asked: 1.23e-06)")


def tilted() -> np.ndarray:
    """Variances 9, 4, 4, 1, …: a tie at 2, and wide enough for every solver."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(np.column_stack([np.ones(60), rng.standard_normal((60, 5))]))[0][:, 1:]
    return Q * np.sqrt(59 * np.array([9.0, 4.0, 4.0, 1.0, 0.5]))


@pytest.mark.parametrize(
    ("solver", "first"), [("covariance", "variance"), ("krylov", "variance"), ("svd", "singular value")]
)
def test_one_sentence_says_what_accuracy_is_relative_to(solver, first):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        pca = PCA(1, svd_solver=solver, tol=1e-30).fit(tilted())
    sentence = pca.certificate_.accuracy()
    assert re.fullmatch(rf"residual of every component at most \S+ of the first {first}", sentence)
    assert sentence in pca.certificate_.verdict
    assert any(f"did not converge to tol=1e-30: {sentence}" in str(warning.message) for warning in heard)
    page = Page(render(pca, title="x")).text
    assert f"of the first {first} (asked: 10⁻³⁰)" in page
    assert "relative error" not in str(pca.certificate_) + page


def test_the_same_sentence_for_kernels_and_matrices():
    with pytest.warns(AccuracyWarning, match="of the first eigenvalue; see"):
        KernelPCA(2, kernel="rbf", tol=1e-30).fit(tilted())
    with pytest.warns(AccuracyWarning, match="tol=1e-06: residual of every component at most .* of the first eig"):
        found = eigen(np.diag([3.0, 2.9, 1.0]), 1, solver=solvers.Power(max_iter=2))
    assert "eigenvalue" in str(found).splitlines()[1]


@pytest.mark.parametrize("solver", ["covariance", "svd", "krylov", "gram"])
def test_a_tie_is_told_in_the_same_words_everywhere(solver):
    with pytest.warns(AccuracyWarning) as heard:
        pca = PCA(2, svd_solver=solver).fit(tilted())
    tie = pca.certificate_.tie
    assert tie == "PC2 and the next one cannot be told apart at this accuracy"
    assert tie in str(heard[0].message)
    assert f"tie: {tie}" in str(pca.certificate_)
    assert tie in Page(render(pca, title="x")).text
    assert PCA(1, svd_solver=solver).fit(tilted()).certificate_.tie == ""


def test_a_tie_of_kernel_components_is_told_in_the_same_words():
    with pytest.warns(AccuracyWarning) as heard:
        model = KernelPCA(2, kernel="linear").fit(tilted())
    assert model.certificate_.tie in " ".join(str(warning.message) for warning in heard)
    assert model.certificate_.tie in Page(render(model, title="x")).text


def test_components_have_one_name():
    X = tilted()
    pca = PCA(4).fit(X)
    texts = [str(pca.certificate_), Page(render(pca, title="x", scores=pca.transform(X))).text]
    for text in texts:
        assert "PC1" in text
        assert "PC2–PC3" in text
        assert not re.search(r"[Cc]omponent \d|Components \d+–|numbers? \d+ (is|are)", text)
    assert [row[0] for row in component_rows(pca, 10)] == ["PC1", "PC2", "PC3", "PC4"]
    assert HEAD[0] == ""
    assert list(pca.get_feature_names_out()) == ["pca0", "pca1", "pca2", "pca3"]
    assert components(0, 1) == "PC1"
    chosen = PCA("auto").fit(np.outer(X[:, 0], np.ones(5)) + 0.1 * X)
    assert "PC1 " in str(chosen.rank_choice_)
